/* The serial line as standard output, without stdio's streams, which would live in the heap under
 * test. */
#include <stdarg.h>
#include <stdio.h>

#include "board/links.h"

enum { LINE_BYTES = 200 };

static void console_write(const char *text) {
    while (*text != '\0') {
        uart_send(*text++);
    }
}

/** As the library's, for lines of moderate length. */
int printf(const char *format, ...) {
    char line[LINE_BYTES];
    va_list arguments;
    va_start(arguments, format);
    const int length = vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    console_write(line);
    return length;
}

void abort(void) {
    console_write("aborted\n");
    uart_drain();
    for (;;) {}
}
