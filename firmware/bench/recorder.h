/**
 * Records (docs/SPEC.md, section 4): one line each, sent as it is made, so that no buffer limits it and the
 * serial line is quiet when record_end() returns.
 */
#ifndef TAILSCOPE_BENCH_RECORDER_H
#define TAILSCOPE_BENCH_RECORDER_H

#include <stdint.h>

void record_begin(const char *type);

/* One field each. */
void record_decimal(uint32_t value);
void record_hex(uint32_t value); /**< eight upper-case digits */
void record_text(const char *text);
void record_letter(char letter);

/** Checksum and line end; waits until the last bit has left. */
void record_end(void);

/** Ends a line that was cut short by a failure, so that the next record stands alone. */
void record_abandon(void);

#endif
