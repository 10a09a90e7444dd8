/* The vector table is linked to SRAM and loaded from flash (vectors_in_ram.ld): IRQ 4 is
   FLASH_IRQHandler, which tail-calls. With REGISTERED the program itself writes that into the
   table. */
#include <stdint.h>
static volatile uint32_t calls, work;
__attribute__((noinline)) static int control(int what) {
    if (what == 3) {
        for (work = 0; work < 50; work++) {}
        calls++;
        return 0;
    }
    return -1;
}
void FLASH_IRQHandler(void) {
    control(3);
}
int main(void) {
    for (int i = 0; i < 80; i++) {
        ((void *volatile *)0x20000000)[i] = ((void **)0x08000000)[i];
    }
#ifdef REGISTERED
    ((void *volatile *)0x20000000)[20] = FLASH_IRQHandler;
#endif
    *(void *volatile *)0xE000ED08 = (void *)0x20000000;
    *(volatile uint8_t *)0xE000E404 = 0x60;
    *(volatile uint32_t *)0xE000E100 = 1u << 4;
    for (;;) {
        __asm volatile("msr basepri, %0" ::"r"(0x60));
        *(volatile uint32_t *)0xE000E200 = 1u << 4;
        for (volatile int i = 0; i < 100; i++) {}
        __asm volatile("msr basepri, %0" ::"r"(0));
        for (volatile int i = 0; i < 100; i++) {}
    }
}
void reset(void) {
    main();
}
__attribute__((section(".vectors"), used)) void *const vectors[16 + 64] = {
    (void *)0x20018000,
    reset,
#ifndef REGISTERED
    [20] = FLASH_IRQHandler,
#endif
};
