/* Reset, the vector table, and the faults. */
#include <stdint.h>

#include "board_table.h"
#include "registers.h"

extern uint32_t stack_top[], data_load[], data_start[], data_end[], bss_start[], bss_end[];

int main(void);
void fault(const uint32_t *frame) __attribute__((noreturn, used));

void vPortSVCHandler(void);
void xPortPendSVHandler(void);
void xPortSysTickHandler(void);
void STIMULUS_HANDLER(void);
void CONTROL_HANDLER(void);

void Reset_Handler(void) __attribute__((noreturn));
void Fault_Handler(void) __attribute__((naked));

typedef union {
    uint32_t *stack;
    void (*handler)(void);
} vector;

/* PM0214, section 2.3.4, and RM0368, section 10.1.3: 16 system vectors, then the interrupts up to
 * the last one used. An exception that should not happen ends in the fault report. */
enum { SYSTEM_VECTORS = 16, VECTORS = SYSTEM_VECTORS + CONTROL_IRQ + 1 };

_Static_assert(STIMULUS_IRQ + 1 < CONTROL_IRQ, "the control interrupt is the last vector");

/* The formatter would take away the space before the dots of a range. */
/* clang-format off */
__attribute__((section(".vectors"), used)) static const vector vector_table[VECTORS] = {
    [0] = {.stack = stack_top},
    [1] = {.handler = Reset_Handler},
    [2 ... 10] = {.handler = Fault_Handler},
    [11] = {.handler = vPortSVCHandler},
    [12 ... 13] = {.handler = Fault_Handler},
    [14] = {.handler = xPortPendSVHandler},
    [15] = {.handler = xPortSysTickHandler},
    [SYSTEM_VECTORS ... SYSTEM_VECTORS + STIMULUS_IRQ - 1] = {.handler = Fault_Handler},
    [SYSTEM_VECTORS + STIMULUS_IRQ] = {.handler = STIMULUS_HANDLER},
    [SYSTEM_VECTORS + STIMULUS_IRQ + 1 ... SYSTEM_VECTORS + CONTROL_IRQ - 1] = {.handler = Fault_Handler},
    [SYSTEM_VECTORS + CONTROL_IRQ] = {.handler = CONTROL_HANDLER},
};
/* clang-format on */

static void load_data(void) {
    const uint32_t *source = data_load;
    for (uint32_t *word = data_start; word < data_end; word++) {
        *word = *source++;
    }
    for (uint32_t *word = bss_start; word < bss_end; word++) {
        *word = 0;
    }
}

void Reset_Handler(void) {
    SCB_VTOR = (uint32_t)(uintptr_t)vector_table;
#ifdef __ARM_FP /* the compiler's word for an FPU */
    SCB_CPACR |= SCB_CPACR_FPU;
    /* Before the first floating-point instruction (PM0214, section 4.6.6). */
    __asm volatile("dsb\n\tisb");
#endif
    load_data();
    (void)main();
    __builtin_trap(); /* main() does not return */
}

/* Passes the frame that the core stacked. Bit 2 of EXC_RETURN says on which stack (PM0214,
 * 2.3.7). */
void Fault_Handler(void) {
    __asm volatile("tst   lr, #4\n\t"
                   "ite   eq\n\t"
                   "mrseq r0, msp\n\t"
                   "mrsne r0, psp\n\t"
                   "b     fault");
}
