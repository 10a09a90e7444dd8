#include "board/links.h"

#include "board/clock.h"
#include "board/pins.h"

void uart_start(uint32_t baud) {
    turn_on(&RCC_APB1, SERIAL_CLOCK);
    /* With 16-fold oversampling BRR is the clock's ratio to the baud rate, in sixteenths of
     * USARTDIV (RM0368, section 19.3.4). */
    USART_BRR(SERIAL_USART) = (clock_apb1_hz() + baud / 2u) / baud;
    USART_CR1(SERIAL_USART) = USART_CR1_UE | USART_CR1_TE;
    pin_to_peripheral(UART_TX_PORT, UART_TX_PIN, SERIAL_ALTERNATE);
}

void uart_send(char byte) {
    while ((USART_STATUS(SERIAL_USART) & USART_STATUS_TXE) == 0u) {}
    USART_TRANSMIT(SERIAL_USART) = (uint8_t)byte;
}

void uart_drain(void) {
    while ((USART_STATUS(SERIAL_USART) & USART_STATUS_TC) == 0u) {}
}
