#include "board/pins.h"

void pin_to_output(uint32_t port, uint32_t pin) {
    pin_configure(port, pin, PIN_OUTPUT_FAST);
}

/* Which peripheral has the pin, AFIO says. */
void pin_to_peripheral(uint32_t port, uint32_t pin, uint32_t alternate) {
    (void)alternate;
    pin_configure(port, pin, PIN_ALTERNATE_FAST);
}

/* A pin is low before it drives. */
static void start_low(uint32_t port, uint32_t pin) {
    pin_write(port, pin, false);
    pin_to_output(port, pin);
}

/* The field of AFIO_MAPR of a timer, TIM2 to TIM4 (9.4.2), in which its alternate function lies. */
#define REMAP(timer, alternate) ((uint32_t)(alternate) << (8 + ((timer)-TIM2) / (TIM3 - TIM2) * 2))

/* The field of the debug port cannot be read, so all is written at once. */
static void choose_functions(void) {
    AFIO_MAPR = AFIO_MAPR_SWJ_WITHOUT_JTAG | REMAP(STIMULUS_TIMER, STIMULUS_ALTERNATE) |
                REMAP(CONTROL_TIMER, CONTROL_ALTERNATE) | REMAP(FRAME_TIMER, FRAME_ALTERNATE);
}

void pins_start(void) {
    enable_ports(RCC_ENABLE_GPIOA | RCC_ENABLE_GPIOB);
    choose_functions();
    PIN_PULL_UP(UART_TX_PORT, UART_TX_PIN); /* the ST-Link would read noise */
    EACH_CHANNEL(start_low, ;);
}
