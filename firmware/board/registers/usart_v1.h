/**
 * The serial line's transmitter, as the STM32F4 and F1 have it: one register takes and gives bytes.
 * "RM" is ST's RM0368.
 */
#ifndef TAILSCOPE_BOARD_REGISTERS_USART_H
#define TAILSCOPE_BOARD_REGISTERS_USART_H

#include "board/registers/register.h"

#ifndef __ASSEMBLER__

#define USART_STATUS(usart) REGISTER((usart) + 0x00) /* SR, RM 19.6.1 */
#define USART_STATUS_TC (1u << 6)
#define USART_STATUS_TXE (1u << 7)
#define USART_TRANSMIT(usart) REGISTER((usart) + 0x04) /* DR, 19.6.2 */
#define USART_BRR(usart) REGISTER((usart) + 0x08)      /* 19.6.3 */
#define USART_CR1(usart) REGISTER((usart) + 0x0C)      /* 19.6.4 */
#define USART_CR1_TE (1u << 3)
#define USART_CR1_UE (1u << 13)

#endif
#endif
