/* Reset, and nothing else. No interrupt is used, and a fault ends the tests before they are
 * through. */
#include <stddef.h>
#include <stdint.h>

#include "board/links.h"
#include "board/pins.h"
#include "suite.h"

extern uint32_t stack_top[], data_load[], data_start[], data_end[], bss_start[], bss_end[];

void Reset_Handler(void);

static void spin_for_ever(void) {
    uart_drain();
    for (;;) {}
}

void Reset_Handler(void) {
    const uint32_t *source = data_load;
    for (uint32_t *word = data_start; word < data_end; word++) {
        *word = *source++;
    }
    for (uint32_t *word = bss_start; word < bss_end; word++) {
        *word = 0;
    }
    pins_start();
    uart_start(1000000);
    (void)harness_run(NULL);
    spin_for_ever();
}

static void fault(void) {
    for (const char *text = "faulted\n"; *text != '\0'; text++) {
        uart_send(*text);
    }
    spin_for_ever();
}

typedef union {
    uint32_t *stack;
    void (*handler)(void);
} vector;

/* PM0214, section 2.3.4: the stack, reset, and the faults. */
__attribute__((section(".vectors"), used)) static const vector vectors[] = {
    [0] = {.stack = stack_top},
    [1] = {.handler = Reset_Handler},
    [2 ... 6] = {.handler = fault},
};
