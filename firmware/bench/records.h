/** Records, and the one that ends a run that cannot go on. */
#pragma once

#include <stdint.h>

/*
 * Records (docs/reference/records.md), one line each. A line is sent as it is made: no buffer
 * limits it, and the serial line is quiet when record_end() returns. With RTT the line may still
 * lie in the ring then, and the debugger fetches it without the core.
 */

/** Sends what follows through RTT instead of the serial line. */
void recorder_use_rtt(void);

void record_begin(const char *type);

/* One field each. */
void record_decimal(uint32_t value);
void record_hex(uint32_t value); /**< eight upper-case digits */
void record_text(const char *text);
void record_letter(char letter);

/** Checksum and line end; on the serial line, waits until the last bit has left. */
void record_end(void);

/** CRC-32 of every byte that has been sent. */
uint32_t recorder_checksum(void);

/**
 * Waits until the last record has left: by RTT until the debugger has it, but not for ever. To be
 * called before the core sleeps.
 */
void recorder_finish(void);

/** Ends a line that was cut short by a failure, so that the next record stands alone. */
void record_abandon(void);

/*
 * Where a run cannot go on, it says why and stops.
 */

/** Sends FAIL with `reason`, one word, and `detail`; then halts. May be called from anywhere. */
void fail(const char *reason, uint32_t detail) __attribute__((noreturn));
