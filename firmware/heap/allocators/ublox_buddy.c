/**
 * The buddy system of U-Blox's receivers, as described in a thesis that set out to replace it (E.
 * Auvinen, "Embedded Dynamic Memory Allocator Optimisation", Tampere University 2022, section 3.1):
 * blocks of 12·2^k bytes, nine levels from 48 to 12,288, a header of 4 bytes, LIFO lists, no
 * boundary tags. A request above 12,284 bytes is never served, however much is free, because the
 * region is a row of largest blocks that have no buddies.
 *
 * TAILSCOPE_REMAINDER_FIRST=1 lays the region out as the thesis draws it (section 4.4, figures 10
 * and 11): management, the remainder, the largest blocks, the last of which is used first. Of the
 * management's 48 bytes 36 are the heads of the lists; ours are 44, and 4 at the region's end that
 * keep payloads on multiples of 8. The thesis asks for no more than 4.
 *
 * Bound: at most 9 lists looked at and 8 blocks halved or merged.
 */
#define BUDDY_UNIT_BYTES 48u
#define BUDDY_LEVELS 9u
#define BUDDY_HEADER_BYTES 4u
#define BUDDY_REMAINDER_FIRST TAILSCOPE_REMAINDER_FIRST

_Static_assert(TAILSCOPE_REMAINDER_FIRST <= 1u, "TAILSCOPE_REMAINDER_FIRST is 0 or 1");

#include "buddy_system.h"

ALLOCATOR_NAME
