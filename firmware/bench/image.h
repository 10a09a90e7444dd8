/**
 * The operation image that the host compiled (docs/reference/operation-image.md), and the checks
 * before it is used.
 */
#pragma once

#include "board/clock.h"

enum { IMAGE_SLOTS_MAX = TAILSCOPE_SLOTS, IMAGE_NAME_BYTES = 32 };

typedef enum {
    STIMULUS_NONE = 0,
    STIMULUS_PERIODIC = 1,
    STIMULUS_SWEEP = 2,
    STIMULUS_RANDOM = 3,
    STIMULUS_BURST = 4
} stimulus_mode;

/** What carries the records. */
typedef enum { RECORDS_UART = 0, RECORDS_RTT = 1 } records_transport;

typedef struct {
    uint32_t magic;
    uint16_t version;
    uint16_t header_bytes;
    uint16_t entry_count;
    uint8_t clock;           /**< a clock_source */
    uint8_t debugger_leaves; /**< 1: whoever resets the core lets go of it behind that */
    uint32_t body_crc32;
    uint16_t slot_count;
    uint16_t baud_hundreds; /**< of the serial line; 0: 1,000,000 baud */
    uint32_t stimulus_period_ticks;
    uint32_t control_period_ticks;
    uint8_t stimulus_mode;
    uint8_t records;
    uint16_t stimulus_parameter; /**< the seed of random, the spacing of burst in ticks; else 0 */
    char name[IMAGE_NAME_BYTES];
} image_header;

typedef enum { ENTRY_ALLOCATE = 1, ENTRY_FREE = 2, ENTRY_MARK = 3, ENTRY_CALL = 4 } entry_kind;

/** Flags of an allocation that depends on others, or that others depend on. */
typedef enum {
    FLAG_RETRY = 2,          /**< runs only if the operation before it was refused */
    FLAG_LAST_IF_REFUSED = 4 /**< if it is refused, allocations are skipped up to the next free */
} entry_flag;

/** What an entry of kind ENTRY_CALL calls. */
typedef enum {
    CALL_EMPTY = 0,
    CALL_QUEUE_SEND = 1,
    CALL_QUEUE_RECEIVE = 2,
    CALL_NOTIFY_GIVE = 3,
    CALL_NOTIFY_TAKE = 4,
    CALL_TASK_CREATE = 5,
    CALL_TASK_DELETE = 6,
    CALL_TIMER_START = 7,
    CALL_TIMER_STOP = 8,
    CALL_HEAP_STATS = 9,
#ifdef TAILSCOPE_URGENT_TASK
    CALL_URGENT_TASK = 10,
#endif
    CALLS
} call_number;

typedef struct {
    uint8_t kind;
    uint8_t flags;
    uint16_t id;
    uint32_t argument;
    uint16_t stimulus_offset;
    uint8_t align_log2;
    uint8_t reserved;
} image_entry;

typedef struct {
    image_header header;
    image_entry entries[];
} image;

/** What is wrong with an image: a word and a number for FAIL. `reason` is NULL if nothing is. */
typedef struct {
    const char *reason;
    uint32_t detail;
} image_fault;

/** The image in the last 256 KiB of flash, not yet checked. */
const image *image_in_flash(void);

/* What an image not yet checked asks of the board. Of what is no image, or asks for what there is
 * not, the default. */

/** True if `candidate` asks for its records through RTT. */
bool image_asks_for_rtt(const image *candidate);

/** The serial line's rate, in baud. */
uint32_t image_baud(const image *candidate);

/** Whether a debugger lets go of the core once it runs. */
bool image_debugger_leaves(const image *candidate);

/** What is to feed the core's clock. */
clock_source image_clock(const image *candidate);

/** The first fault of `candidate`; at most `capacity_bytes` bytes of it are read. */
image_fault image_check(const image *candidate, uint32_t capacity_bytes);

/** Bytes that the flash reserves for an image. */
uint32_t image_capacity_bytes(void);

/** Entries that are operations, not marks. */
uint32_t image_operations(const image *checked);
