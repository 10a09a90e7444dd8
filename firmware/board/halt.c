#include "board/reset.h"

#include "board/nvic.h"
#include "board_table.h"

enum { NVIC_WORDS = (BOARD_INTERRUPTS + 31) / 32 };

/* It spins: of a core that sleeps a debug probe can read nothing, and so not load it again, unless
 * DBGMCU_CR has DBG_SLEEP (RM0368, section 23.16.1), which is lost with the power, and which some
 * probes clear. */
void halt(void) {
    (void)interrupts_mask();
    SYSTICK_CTRL = 0;
    for (uint32_t word = 0; word < NVIC_WORDS; word++) {
        NVIC_ICER(word) = 0xFFFFFFFFu;
    }
    SCB_ICSR = SCB_ICSR_PENDSTCLR | SCB_ICSR_PENDSVCLR;
    __asm volatile("dsb\n\tisb");
    for (;;) {}
}
