/**
 * The serial line's transmitter, as the STM32L4 and F0 have it. "RM" is ST's RM0351.
 */
#ifndef TAILSCOPE_BOARD_REGISTERS_USART_H
#define TAILSCOPE_BOARD_REGISTERS_USART_H

#include "board/registers/register.h"

#ifndef __ASSEMBLER__

#define USART_CR1(usart) REGISTER((usart) + 0x00) /* RM 40.8.1 */
#define USART_CR1_UE (1u << 0)
#define USART_CR1_TE (1u << 3)
#define USART_BRR(usart) REGISTER((usart) + 0x0C)    /* 40.8.4 */
#define USART_STATUS(usart) REGISTER((usart) + 0x1C) /* ISR, 40.8.8 */
#define USART_STATUS_TC (1u << 6)
#define USART_STATUS_TXE (1u << 7)
#define USART_TRANSMIT(usart) REGISTER((usart) + 0x28) /* TDR, 40.8.11 */

#endif
#endif
