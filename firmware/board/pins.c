#include "board/pins.h"

enum { MODE_OUTPUT = 1, MODE_ALTERNATE = 2, PULL_NONE = 0, PULL_UP = 1 };

void pin_to_output(uint32_t port, uint32_t pin) {
    write_field(&GPIO_MODER(port), pin, 2, MODE_OUTPUT);
}

void pin_to_peripheral(uint32_t port, uint32_t pin, uint32_t alternate) {
    write_field(&GPIO_AFR(port, pin / 8u), pin % 8u, 4, alternate);
    write_field(&GPIO_OSPEEDR(port), pin, 2, PIN_SPEED_FAST);
    write_field(&GPIO_MODER(port), pin, 2, MODE_ALTERNATE);
}

/* A pin is low before it drives. After a reset PB4 is NJTRST, with its pull-up on (RM0368, section
 * 8.3.1). */
static void start_low(uint32_t port, uint32_t pin) {
    pin_write(port, pin, false);
    write_field(&GPIO_PUPDR(port), pin, 2, PULL_NONE);
    write_field(&GPIO_OSPEEDR(port), pin, 2, PIN_SPEED_FAST);
    pin_to_output(port, pin);
}

/* Until its transmitter drives it, the serial line would float, and the ST-Link read noise. */
static void hold_serial_line(void) {
    write_field(&GPIO_PUPDR(UART_TX_PORT), UART_TX_PIN, 2, PULL_UP);
}

void pins_start(void) {
    enable_ports(RCC_ENABLE_GPIOA | RCC_ENABLE_GPIOB);
    hold_serial_line();
    EACH_CHANNEL(start_low, ;);
}
