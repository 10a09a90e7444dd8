/**
 * The buddy system of U-Blox's receivers, as described in a thesis that set out to replace it (E.
 * Auvinen, "Embedded Dynamic Memory Allocator Optimisation", Tampere University 2022, section 3.1):
 * blocks of 12·2^k bytes, nine levels from 48 to 12,288, a header of 4 bytes, LIFO lists, no
 * boundary tags. A request above 12,284 bytes is never served, however much is free, because the
 * region is a row of largest blocks that have no buddies.
 *
 * Bound: at most 9 lists looked at and 8 blocks halved or merged.
 */
#define BUDDY_UNIT_BYTES 48u
#define BUDDY_LEVELS 9u
#define BUDDY_HEADER_BYTES 4u

#include "buddy_system.h"

const char *allocator_name(void) {
    return "ublox_buddy";
}
