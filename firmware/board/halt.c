#include "board/halt.h"

#include "board/nvic.h"

/* RM0368, section 10.1.3: the last interrupt is number 84. */
enum { NVIC_WORDS = 3 };

/* WFI returns at once while an interrupt is pending, even if PRIMASK masks it (PM0214, section
 * 2.5.1). So none may be pending. */
void halt(void) {
    (void)interrupts_mask();
    SYSTICK_CTRL = 0;
    for (uint32_t word = 0; word < NVIC_WORDS; word++) {
        NVIC_ICER(word) = 0xFFFFFFFFu;
    }
    SCB_ICSR = SCB_ICSR_PENDSTCLR | SCB_ICSR_PENDSVCLR;
    for (;;) {
        __asm volatile("dsb\n\twfi");
    }
}
