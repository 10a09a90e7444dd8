/** What a program says of itself, by the serial line: its own count of cycles of each section. */
#ifndef SAID_H
#define SAID_H

#include <stdint.h>

/** Starts the serial line. */
void said_start(void);

/** A line of two words: what was counted, and how many. */
void said(const char *what, uint32_t count);

/** Says that the program stopped, and does. */
void said_stop(void) __attribute__((noreturn));

#endif
