#include "said.h"

#include "board/links.h"
#include "registers.h"

void said_start(void) {
    enable_ports(RCC_ENABLE_GPIOA);
    uart_start(1000000);
}

static void say_digits(uint32_t count) {
    if (count >= 10u) {
        say_digits(count / 10u);
    }
    uart_send((char)('0' + count % 10u));
}

void said(const char *what, uint32_t count) {
    while (*what != '\0') {
        uart_send(*what++);
    }
    uart_send(' ');
    say_digits(count);
    uart_send('\n');
    uart_drain();
}

void said_stop(void) {
    said("stopped", 0);
    for (;;) {}
}

/* What startup.c has in its table, and neither program uses. */

__attribute__((noreturn)) void fault(const uint32_t *frame) {
    (void)frame;
    said_stop();
}

void TIM5_IRQHandler(void) {
    said_stop();
}
