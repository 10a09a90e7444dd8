/** The ports of an STM32F1, which are written by words (GPIO_ONLY_WORDS). "RM" is ST's RM0008. */
#pragma once

/** MODE and CNF of a pin (RM 9.1, table 20). */
enum { PIN_INPUT_PULLED = 8, PIN_OUTPUT_FAST = 3, PIN_ALTERNATE_FAST = 11 };

static inline void pin_configure(uint32_t port, uint32_t pin, uint32_t bits) {
    write_field(&GPIO_CR(port, pin / 8u), pin % 8u, 4, bits);
}

/** Makes a pin an input that only its own resistor holds high. ODR says to which side. */
#define PIN_PULL_UP(port, pin) \
    do { \
        GPIO_BSRR(port) = 1u << (pin); \
        pin_configure((port), (pin), PIN_INPUT_PULLED); \
    } while (0)

/* Without JTAG its reset, NJTRST, leaves PB4 (RM 9.3.5). */
static inline void enable_ports(uint32_t bits) {
    turn_on(&RCC_PORTS, bits | RCC_ENABLE_AFIO);
    AFIO_MAPR = AFIO_MAPR_SWJ_WITHOUT_JTAG;
}
