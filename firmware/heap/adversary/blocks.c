#include "blocks.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* Addresses of one program's allocator differ in far more than these bits; if two should not, two
 * sets of blocks pass for one. */
#define PLACES (1u << 16)

#define CALL 0xE8u /* the x86's call of an address relative to the next instruction */
#define CALL_BYTES 5u
/* From the last block of a function to the first of the next is no block. */
#define LONGEST_BYTES 255u

extern const uint8_t __executable_start[], etext[]; /* of the linker */

static blocks_counted counted;
static uint8_t length[PLACES]; /* of the block at this place: up to where the next begins, bytes */
static uint32_t last_seen[PLACES]; /* when a block at this place was executed last */
static uint32_t now;

void __sanitizer_cov_trace_pc(void);

void __sanitizer_cov_trace_pc(void) {
    const uint32_t place = (uint32_t)(uintptr_t)__builtin_return_address(0);
    counted.executed++;
    counted.bytes += length[place % PLACES];
    if (last_seen[place % PLACES] != now) {
        last_seen[place % PLACES] = now;
        uint32_t mixed = place * 0x9E3779B1u;
        mixed ^= mixed >> 15;
        counted.ways += mixed * 0x85EBCA77u; /* a sum: the order does not matter */
    }
}

static bool begins_block(const uint8_t *code) {
    int32_t distance;
    memcpy(&distance, code + 1, sizeof distance);
    return *code == CALL && (uintptr_t)code + CALL_BYTES + (uintptr_t)distance ==
                                (uintptr_t)__sanitizer_cov_trace_pc;
}

void blocks_measure(void) {
    uintptr_t next = (uintptr_t)etext;
    for (const uint8_t *code = etext - CALL_BYTES; code >= __executable_start; code--) {
        if (begins_block(code)) {
            const uintptr_t begin = (uintptr_t)code + CALL_BYTES;
            const uintptr_t bytes = next - begin;
            length[begin % PLACES] = (uint8_t)(bytes < LONGEST_BYTES ? bytes : LONGEST_BYTES);
            next = (uintptr_t)code;
        }
    }
}

void blocks_begin(void) {
    counted = (blocks_counted){0};
    now++;
}

blocks_counted blocks_end(void) {
    return counted;
}
