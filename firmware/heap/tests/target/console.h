/** The serial line, for the tests on the target. */
#ifndef TAILSCOPE_HEAP_TESTS_TARGET_CONSOLE_H
#define TAILSCOPE_HEAP_TESTS_TARGET_CONSOLE_H

/** Sends a text as it is. */
void console_write(const char *text);

#endif
