/* A program whose masked sections have lengths that one can count: at reset the core runs at 16 MHz
   without wait states, where a NOP takes a cycle. tests/test_masks.py has the sums. */

#include <stdint.h>

#define REGISTER(address) (*(volatile uint32_t *)(address))
#define PRIORITY(irq) (*(volatile uint8_t *)(0xE000E400 + (irq)))
#define NOPS(n) __asm__ volatile(".rept " #n "\n nop\n .endr")

extern uint32_t stack_top[];
void reset(void);
void on_fault(void);
void on_systick(void);
void on_tim2(void);
void on_tim3(void);

__attribute__((section(".vectors"), used)) static void (*const vectors[16 + 30])(void) = {
    (void (*)(void))stack_top, reset, on_fault, on_fault, [15] = on_systick, [16 + 28] = on_tim2,
    [16 + 29] = on_tim3,
};

void on_fault(void) {
    for (;;) {}
}

void on_systick(void) {
    NOPS(50);
}

void on_tim2(void) {
    NOPS(200);
}

/* It pends TIM2, which is more urgent. */
void on_tim3(void) {
    NOPS(100);
    REGISTER(0xE000E200) = 1u << 28;
    NOPS(100);
}

static inline __attribute__((always_inline)) void mask(void) {
    __asm__ volatile("cpsid i" ::: "memory");
}

static inline __attribute__((always_inline)) void unmask(void) {
    __asm__ volatile("cpsie i" ::: "memory");
}

__attribute__((noinline)) static void short_section(void) {
    __asm__ volatile("cpsid i");
    NOPS(100);
    __asm__ volatile("cpsie i");
}

__attribute__((noinline)) static void update_table(void) {
    mask();
    NOPS(1000);
    unmask();
}

__attribute__((noinline)) static void fault_masked(void) {
    __asm__ volatile("cpsid f");
    NOPS(300);
    __asm__ volatile("cpsie f");
}

/* From 0x50 to 0x20 and back down, by steps. */
__attribute__((noinline)) static void levels(void) {
    __asm__ volatile("msr basepri, %0" ::"r"(0x50));
    NOPS(10);
    __asm__ volatile("msr basepri, %0" ::"r"(0x20));
    NOPS(20);
    __asm__ volatile("msr basepri, %0" ::"r"(0x50));
    NOPS(30);
    __asm__ volatile("msr basepri, %0" ::"r"(0));
}

__attribute__((noinline)) static void in_turn(void) {
    REGISTER(0xE000E200) = 1u << 29;
    __asm__ volatile("dsb\n isb");
    NOPS(400);
}

__attribute__((noinline)) static void doze(void) {
    REGISTER(0xE000E014) = 5000;
    REGISTER(0xE000E018) = 0;
    REGISTER(0xE000E010) = 7;
    __asm__ volatile("cpsid i\n dsb\n wfi");
    NOPS(40);
    __asm__ volatile("cpsie i\n isb");
    REGISTER(0xE000E010) = 0;
}

void reset(void) {
    PRIORITY(28) = 0x30;
    PRIORITY(29) = 0x60;
    REGISTER(0xE000ED20) = 0xF0u << 24;
    REGISTER(0xE000E100) = 1u << 28 | 1u << 29;
    for (int i = 0; i < 3; i++)
        short_section();
    update_table();
    fault_masked();
    levels();
    in_turn();
    doze();
    for (;;)
        __asm__ volatile("wfi");
}
