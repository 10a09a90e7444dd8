#include "bench/image.h"

#include "bench/crc.h"
#include "board_table.h"

#define IMAGE_MAGIC 0x504F5354u /* "TSOP" */
enum { IMAGE_VERSION = 1, ALIGN_LOG2_MAX = 31 };

enum { FLAG_MEASURED = 1, FLAGS_OF_ALLOCATIONS = FLAG_RETRY | FLAG_LAST_IF_REFUSED };

/* An answer to the stimulus, with its two task switches, takes some 1,000 cycles, and 1,500 with
 * the flash accelerator off. An answer to the control takes 250. A shorter period would leave the
 * bench no time between two answers, and the run would never end. */
enum { STIMULUS_PERIOD_MIN_TICKS = 2000, CONTROL_PERIOD_MIN_TICKS = 1000 };

/* A random interval is at least half a period. The edges of a burst are further apart than the
 * timer needs. */
enum { RANDOM_PERIOD_MIN_TICKS = 2 * STIMULUS_PERIOD_MIN_TICKS, BURST_SPACING_MIN_TICKS = 16 };

/* What an ST-Link's virtual COM port and a USB serial adapter both do. */
enum { BAUD_UNIT = 100, BAUD_MIN = 115200, BAUD_MAX = 1000000, BAUD_DEFAULT = BAUD_MAX };

/* SYNC is toggled after a swept stimulus is armed and before the operation begins. */
enum { SWEEP_OFFSET_MIN_TICKS = 32 };

_Static_assert(sizeof(image_header) == 64, "docs/reference/operation-image.md: header");
_Static_assert(sizeof(image_entry) == 12, "docs/reference/operation-image.md: entry");

/* Symbols of the linker script: their addresses are the values. */
extern const image operation_image;
extern const char operation_image_bytes[];

static const image_fault no_fault = {NULL, 0};

const image *image_in_flash(void) {
    return &operation_image;
}

uint32_t image_capacity_bytes(void) {
    return (uint32_t)(uintptr_t)operation_image_bytes;
}

static bool is_image(const image *candidate) {
    return candidate->header.magic == IMAGE_MAGIC;
}

bool image_asks_for_rtt(const image *candidate) {
    return is_image(candidate) && candidate->header.records == RECORDS_RTT;
}

bool image_debugger_leaves(const image *candidate) {
    return is_image(candidate) && candidate->header.debugger_leaves == 1u;
}

static bool baud_is_bad(const image_header *header) {
    const uint32_t baud = (uint32_t)header->baud_hundreds * BAUD_UNIT;
    return baud != 0u && (baud < BAUD_MIN || baud > BAUD_MAX);
}

uint32_t image_baud(const image *candidate) {
    const image_header *header = &candidate->header;
    const bool asks = is_image(candidate) && header->baud_hundreds != 0u && !baud_is_bad(header);
    return asks ? (uint32_t)header->baud_hundreds * BAUD_UNIT : BAUD_DEFAULT;
}

clock_source image_clock(const image *candidate) {
    const bool asks = is_image(candidate) && candidate->header.clock <= CLOCK_INTERNAL;
    return asks ? (clock_source)candidate->header.clock : CLOCK_BYPASS;
}

static bool stimulus_is_bad(const image_header *header) {
    const uint32_t period_ticks = header->stimulus_period_ticks;
    const uint32_t parameter = header->stimulus_parameter;
    switch (header->stimulus_mode) {
    case STIMULUS_RANDOM:
        return period_ticks < RANDOM_PERIOD_MIN_TICKS;
    case STIMULUS_BURST:
        return parameter < BURST_SPACING_MIN_TICKS ||
               period_ticks < STIMULUS_PERIOD_MIN_TICKS + parameter;
    default:
        return parameter != 0u;
    }
}

static bool period_is_bad(uint32_t period_ticks, uint32_t minimum_ticks) {
    return period_ticks != 0u && period_ticks < minimum_ticks;
}

/* A counter of 16 bits would come round before such a period ends. A random interval is less than
 * one and a half of it. */
static bool periods_are_too_long(const image_header *header) {
#if STIMULUS_TIMER_BITS < 32
    const uint32_t most_ticks = STIMULUS_TIMER_LAST + 1u;
    const uint32_t period_ticks = header->stimulus_period_ticks;
    if (period_ticks > most_ticks || header->control_period_ticks > most_ticks) {
        return true;
    }
    return header->stimulus_mode == STIMULUS_RANDOM &&
           period_ticks / 2u > most_ticks - period_ticks;
#else
    (void)header;
    return false;
#endif
}

/* Bytes of the name before its NUL; IMAGE_NAME_BYTES if there is none. */
static uint32_t name_bytes(const image_header *header) {
    uint32_t bytes = 0;
    while (bytes < IMAGE_NAME_BYTES && header->name[bytes] != '\0') {
        bytes++;
    }
    return bytes;
}

/* The name becomes a field of a record, so it cannot hold what would end the field or the line. */
static bool name_fits_a_record(const image_header *header) {
    const uint32_t bytes = name_bytes(header);
    for (uint32_t index = 0; index < bytes; index++) {
        const char letter = header->name[index];
        if (letter <= ' ' || letter > '~' || letter == ',' || letter == '*' || letter == '@') {
            return false;
        }
    }
    return bytes < IMAGE_NAME_BYTES;
}

/** Returns this fault from check_header() if `wrong`. */
#define REFUSE_IF(wrong, reason, detail) \
    if (wrong) { \
        return (image_fault){reason, detail}; \
    }

static image_fault check_header(const image_header *header, uint32_t capacity_bytes) {
    REFUSE_IF(header->magic != IMAGE_MAGIC, "magic", header->magic);
    REFUSE_IF(header->version != IMAGE_VERSION, "version", header->version);
    REFUSE_IF(header->header_bytes != sizeof *header, "header", header->header_bytes);
    REFUSE_IF(header->entry_count > (capacity_bytes - sizeof *header) / sizeof(image_entry),
              "entries", header->entry_count);
    REFUSE_IF(header->slot_count > IMAGE_SLOTS_MAX, "slots", header->slot_count);
    REFUSE_IF(header->stimulus_mode > STIMULUS_BURST, "mode", header->stimulus_mode);
    REFUSE_IF(header->records > RECORDS_RTT, "records", header->records);
    REFUSE_IF(header->clock > CLOCK_INTERNAL, "clock", header->clock);
    REFUSE_IF(header->debugger_leaves > 1u, "reserved", header->debugger_leaves);
    REFUSE_IF(baud_is_bad(header), "baud", header->baud_hundreds);
    REFUSE_IF(stimulus_is_bad(header), "stimulus", header->stimulus_parameter);
    REFUSE_IF(period_is_bad(header->stimulus_period_ticks, STIMULUS_PERIOD_MIN_TICKS), "period",
              header->stimulus_period_ticks);
    REFUSE_IF(period_is_bad(header->control_period_ticks, CONTROL_PERIOD_MIN_TICKS), "period",
              header->control_period_ticks);
    REFUSE_IF(periods_are_too_long(header), "period", header->stimulus_period_ticks);
#ifndef CONTROL_TIMER
    REFUSE_IF(header->control_period_ticks != 0u, "control", header->control_period_ticks);
#endif
    REFUSE_IF(!name_fits_a_record(header), "name", offsetof(image_header, name));
    return no_fault;
}

/* Only a swept stimulus has an offset, and only an operation has a stimulus. */
static bool offset_is_bad(const image_entry *entry, uint8_t mode) {
    if (entry->stimulus_offset == 0u) {
        return false;
    }
    return mode != STIMULUS_SWEEP || entry->kind == ENTRY_MARK ||
           entry->stimulus_offset < SWEEP_OFFSET_MIN_TICKS;
}

/* The word for what is wrong with one entry; NULL if nothing is. */
static const char *entry_fault(const image_entry *entry, const image_header *header) {
    if (entry->kind < ENTRY_ALLOCATE || entry->kind > ENTRY_CALL) {
        return "kind";
    }
    const int known = FLAG_MEASURED | (entry->kind == ENTRY_ALLOCATE ? FLAGS_OF_ALLOCATIONS : 0);
    if ((entry->flags & ~known) != 0 || entry->reserved != 0) {
        return "reserved";
    }
    if (offset_is_bad(entry, header->stimulus_mode)) {
        return "offset";
    }
    const bool has_slot = entry->kind == ENTRY_ALLOCATE || entry->kind == ENTRY_FREE;
    if ((entry->kind != ENTRY_ALLOCATE && entry->align_log2 != 0) ||
        (entry->kind == ENTRY_FREE && entry->argument != 0) || (!has_slot && entry->id != 0)) {
        return "reserved";
    }
    if (entry->kind == ENTRY_CALL && entry->argument >= CALLS) {
        return "call";
    }
    if (has_slot && entry->id >= header->slot_count) {
        return "slot";
    }
    if (entry->align_log2 > ALIGN_LOG2_MAX) {
        return "alignment";
    }
    return NULL;
}

/* True for a retry that does not stand right behind an allocation into its slot. */
static bool retry_is_bad(const image_entry *entries, uint32_t index) {
    const image_entry *entry = &entries[index];
    if ((entry->flags & FLAG_RETRY) == 0) {
        return false;
    }
    const image_entry *before = index == 0 ? NULL : &entries[index - 1u];
    return before == NULL || before->kind != ENTRY_ALLOCATE || before->id != entry->id ||
           (before->flags & FLAG_RETRY) != 0;
}

image_fault image_check(const image *candidate, uint32_t capacity_bytes) {
    const image_header *header = &candidate->header;
    const image_fault in_header = check_header(header, capacity_bytes);
    if (in_header.reason != NULL) {
        return in_header;
    }
    const size_t body_bytes = header->entry_count * sizeof(image_entry);
    const uint32_t crc = crc32((const uint8_t *)candidate->entries, body_bytes);
    if (crc != header->body_crc32) {
        return (image_fault){"crc", crc};
    }
    for (uint32_t index = 0; index < header->entry_count; index++) {
        const char *reason = entry_fault(&candidate->entries[index], header);
        if (reason != NULL) {
            return (image_fault){reason, index};
        }
        if (retry_is_bad(candidate->entries, index)) {
            return (image_fault){"retry", index};
        }
    }
    return no_fault;
}

uint32_t image_operations(const image *checked) {
    uint32_t operations = 0;
    for (uint32_t index = 0; index < checked->header.entry_count; index++) {
        operations += checked->entries[index].kind != ENTRY_MARK;
    }
    return operations;
}
