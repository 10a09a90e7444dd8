/** The end of every run. */
#ifndef TAILSCOPE_BOARD_HALT_H
#define TAILSCOPE_BOARD_HALT_H

/** Silences every interrupt source and spins for ever. */
void halt(void) __attribute__((noreturn));

#endif
