/*
 * Which board the image is for, for whoever loads it: the board's name, its chip on the virtual
 * board, what --hse says there unless it is the ST-Link's clock, and the channels that it has on
 * other pins than most boards, each ended by a zero. No byte of this is loaded.
 */
#include "board_table.h"

    .section .tailscope_board, "", %progbits
    .asciz  BOARD_NAME
    .asciz  BOARD_VIRTUAL_CHIP
#ifdef BOARD_VIRTUAL_HSE
    .asciz  BOARD_VIRTUAL_HSE
#elif defined(BOARD_MOVED_PINS)
    .asciz  ""
#endif
#ifdef BOARD_MOVED_PINS
    .asciz  BOARD_MOVED_PINS
#endif
