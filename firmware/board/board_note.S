/*
 * Which board the image is for, for whoever loads it: the board's name and its chip on the virtual
 * board, each ended by a zero. No byte of this is loaded.
 */
#include "board_table.h"

    .section .tailscope_board, "", %progbits
    .asciz  BOARD_NAME
    .asciz  BOARD_VIRTUAL_CHIP
