#include "board/uart.h"

#include "board/clock.h"
#include "board/pins.h"

enum { ALTERNATE_USART2 = 7 };

void uart_start(uint32_t baud) {
    RCC_APB1ENR |= RCC_APB1ENR_USART2;
    (void)RCC_APB1ENR;
    /* With 16-fold oversampling BRR is the clock's ratio to the baud rate, in sixteenths of
     * USARTDIV (RM0368, section 19.3.4). */
    USART_BRR(USART2) = (clock_apb1_hz() + baud / 2u) / baud;
    USART_CR1(USART2) = USART_CR1_UE | USART_CR1_TE;
    pin_to_peripheral(UART_TX_PORT, UART_TX_PIN, ALTERNATE_USART2);
}

void uart_send(char byte) {
    while ((USART_SR(USART2) & USART_SR_TXE) == 0u) {}
    USART_DR(USART2) = (uint8_t)byte;
}

void uart_drain(void) {
    while ((USART_SR(USART2) & USART_SR_TC) == 0u) {}
}
