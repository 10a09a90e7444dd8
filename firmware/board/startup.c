/* Reset, the vector table, and the faults. */
#include <stdint.h>

#include "architecture.h"
#include "board_table.h"

extern uint32_t stack_top[], data_load[], data_start[], data_end[], bss_start[], bss_end[];

int main(void);
void fault(const uint32_t *frame) __attribute__((noreturn, used));

void KERNEL_SVC_HANDLER(void);
void KERNEL_PENDSV_HANDLER(void);
void KERNEL_SYSTICK_HANDLER(void);
void STIMULUS_HANDLER(void);
#ifdef CONTROL_HANDLER
void CONTROL_HANDLER(void);
#endif

void Reset_Handler(void) __attribute__((noreturn));
void Fault_Handler(void) __attribute__((naked));

typedef union {
    uint32_t *stack;
    void (*handler)(void);
} vector;

/* PM0214, section 2.3.4, and RM0368, section 10.1.3: 16 system vectors, then the interrupts up to
 * the last one used. An exception that should not happen ends in the fault report. */
#ifdef CONTROL_HANDLER
enum { LAST_IRQ = CONTROL_IRQ };
_Static_assert(STIMULUS_IRQ + 1 < CONTROL_IRQ, "the control interrupt is the last vector");
#else
enum { LAST_IRQ = STIMULUS_IRQ };
#endif
enum { SYSTEM_VECTORS = 16, VECTORS = SYSTEM_VECTORS + LAST_IRQ + 1 };

/* The formatter would take away the space before the dots of a range. */
/* clang-format off */
__attribute__((section(".vectors"), used)) static const vector vector_table[VECTORS] = {
    [0] = {.stack = stack_top},
    [1] = {.handler = Reset_Handler},
    [2 ... 10] = {.handler = Fault_Handler},
    [11] = {.handler = KERNEL_SVC_HANDLER},
    [12 ... 13] = {.handler = Fault_Handler},
    [14] = {.handler = KERNEL_PENDSV_HANDLER},
    [15] = {.handler = KERNEL_SYSTICK_HANDLER},
    [SYSTEM_VECTORS ... SYSTEM_VECTORS + STIMULUS_IRQ - 1] = {.handler = Fault_Handler},
    [SYSTEM_VECTORS + STIMULUS_IRQ] = {.handler = STIMULUS_HANDLER},
#ifdef CONTROL_HANDLER
    [SYSTEM_VECTORS + STIMULUS_IRQ + 1 ... SYSTEM_VECTORS + CONTROL_IRQ - 1] = {.handler = Fault_Handler},
    [SYSTEM_VECTORS + CONTROL_IRQ] = {.handler = CONTROL_HANDLER},
#endif
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
    core_start(vector_table);
    load_data();
    (void)main();
    __builtin_trap(); /* main() does not return */
}

void Fault_Handler(void) {
    __asm volatile(PASS_FRAME_TO_FAULT);
}
