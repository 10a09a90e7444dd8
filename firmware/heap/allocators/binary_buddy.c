/**
 * The binary buddy system: every block is a power of two, from 16 bytes on. It is simple, bounded
 * and wasteful: a request just above a power of two takes almost twice its size.
 *
 * The header has 8 bytes, of which 4 are used. So blocks begin at multiples of their size and still
 * have 8-aligned payloads, and a region that is a power of two is one block at first.
 *
 * Bound: one level for each time the region can be halved. With 64 KiB that is 13 lists looked at
 * and 12 blocks halved or merged.
 */
#define BUDDY_UNIT_BYTES 16u
#define BUDDY_LEVELS (32u - (uint32_t)__builtin_clz(TAILSCOPE_HEAP_BYTES / BUDDY_UNIT_BYTES))
#define BUDDY_HEADER_BYTES 8u
#define BUDDY_REMAINDER_FIRST 0

#include "buddy_system.h"

ALLOCATOR_NAME
