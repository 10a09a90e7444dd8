#include "board/uart.h"

#include "board/clock.h"
#include "board/pins.h"
#include "board_table.h"

void uart_start(uint32_t baud) {
    RCC_APB1ENR |= SERIAL_CLOCK;
    (void)RCC_APB1ENR;
    /* With 16-fold oversampling BRR is the clock's ratio to the baud rate, in sixteenths of
     * USARTDIV (RM0368, section 19.3.4). */
    USART_BRR(SERIAL_USART) = (clock_apb1_hz() + baud / 2u) / baud;
    USART_CR1(SERIAL_USART) = USART_CR1_UE | USART_CR1_TE;
    pin_to_peripheral(UART_TX_PORT, UART_TX_PIN, SERIAL_ALTERNATE);
}

void uart_send(char byte) {
    while ((USART_SR(SERIAL_USART) & USART_SR_TXE) == 0u) {}
    USART_DR(SERIAL_USART) = (uint8_t)byte;
}

void uart_drain(void) {
    while ((USART_SR(SERIAL_USART) & USART_SR_TC) == 0u) {}
}
