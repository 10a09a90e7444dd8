#include "board/halt.h"

#include "board/nvic.h"
#include "board_table.h"

enum { NVIC_WORDS = (BOARD_INTERRUPTS + 31) / 32 };

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
