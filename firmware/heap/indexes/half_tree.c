/**
 * Half Tree, from its description in the thesis that introduced it (sections 3.4 and 4.5, appendix
 * A): the bins of Half Fit, each a bitwise trie, and one block beside them, the designated victim.
 *
 * Trie. The bits of a size below its top bit lead down from the bin, 0 to the left and 1 to the
 * right. A block lies at the first place on its way that was empty when it came. So all sizes below
 * a place share the bits that led there, and nothing more is known of them. A place is the head of
 * a LIFO list of blocks of one size; the head is the node. When a node goes, the leftmost leaf
 * below takes its place.
 *
 * Designated victim. A block that was just split off or freed is kept out of the bins, to be used
 * next. A block becomes the victim if it is smaller than TAILSCOPE_LARGE_VICTIM_BYTES and either
 * there is no victim or the present one is smaller than TAILSCOPE_SMALL_VICTIM_BYTES. The present
 * one is then filed in its bin.
 *
 * Search. The victim, if it is large enough; then the own bin, right before left; then the first
 * bin above, left before right. Every block that fits is found.
 *
 * Where the appendix and the text differ, this follows the text: a victim that is too small does
 * not end the search, and a rest that cannot be the victim is filed. The text's limit for large
 * victims holds for freed blocks too; the appendix has none for them, and the rest of the region
 * would soon be the victim. Unlike the text, equal blocks come back last in, first out. As there,
 * removing walks from the bin, so a node needs no link to its parent.
 *
 * Complexity: a way has at most one place for each bit of a size, 13 in a region of 64 KiB.
 * Searching, filing and removing each walk one way; removing goes on to the leaf.
 *
 * Probes: one for the victim if there is one, one for each node looked at in the own bin, one for
 * the look at the bitmap if it came to that.
 */
#include "free_list.h"
#include "index.h"

/* Up to 1 MiB, or, in host builds for more, 8 MiB. */
#define BINS (TAILSCOPE_HEAP_BYTES <= 1u << 20 ? 16u : 19u)
#define OFFSET 4u /* the smallest size is 2^4 */

typedef struct {
    free_links links;     /* of the list of this size */
    heap_block *child[2]; /* left: the next bit is 0; right: it is 1 */
} node;

_Static_assert(sizeof(node) <= BLOCK_SMALLEST_PAYLOAD, "a node must fit the smallest payload");
_Static_assert(BLOCK_SMALLEST_PAYLOAD >= 1u << OFFSET,
               "the first bin must hold the smallest payload");
_Static_assert(TAILSCOPE_HEAP_BYTES <= 1u << (BINS + OFFSET),
               "19 bins file blocks below 8 MiB: make TAILSCOPE_HEAP_BYTES smaller");
_Static_assert(
    TAILSCOPE_SMALL_VICTIM_BYTES >= 1u &&
        TAILSCOPE_SMALL_VICTIM_BYTES <= TAILSCOPE_LARGE_VICTIM_BYTES,
    "TAILSCOPE_SMALL_VICTIM_BYTES must be at least 1 and not above TAILSCOPE_LARGE_VICTIM_BYTES");

static struct { heap_block *child[2]; } bins[BINS];
static uint32_t bin_map; /* bit b: bin b holds a block */
static heap_block *victim;

static node *node_of(const heap_block *block) {
    return block_payload(block);
}

static uint32_t top_bit(uint32_t word) {
    return 31u - (uint32_t)__builtin_clz(word);
}

static uint32_t bin_of(uint32_t size) {
    return top_bit(size) - OFFSET;
}

/** The bits of `size` below its top bit, the highest of them in bit 31. */
static uint32_t directions(uint32_t size) {
    return size << (32u - top_bit(size));
}

/* Filing */

/** The place where `size` is filed, or the empty place where it belongs. */
static heap_block **place_of(uint32_t size) {
    uint32_t bits = directions(size);
    heap_block **place = &bins[bin_of(size)].child[bits >> 31];
    while (*place != NULL && block_size(*place) != size) {
        bits <<= 1;
        place = &node_of(*place)->child[bits >> 31];
    }
    return place;
}

static void inherit(heap_block *heir, const heap_block *gone) {
    node_of(heir)->child[0] = node_of(gone)->child[0];
    node_of(heir)->child[1] = node_of(gone)->child[1];
}

static void file(heap_block *block) {
    heap_block **const place = place_of(block_size(block));
    if (*place != NULL) {
        inherit(block, *place);
    } else {
        node_of(block)->child[0] = NULL;
        node_of(block)->child[1] = NULL;
    }
    free_list_push(place, block);
    bin_map |= 1u << bin_of(block_size(block));
}

/** The place of the leftmost leaf below `block`, or NULL if it is a leaf itself. */
static heap_block **leftmost_leaf(heap_block *block) {
    heap_block **leaf = NULL;
    for (node *at = node_of(block); at->child[0] != NULL || at->child[1] != NULL;
         at = node_of(*leaf)) {
        leaf = &at->child[at->child[0] != NULL ? 0 : 1];
    }
    return leaf;
}

/** Fills the place that the node `gone` left. */
static void refill(heap_block **place, heap_block *gone) {
    heap_block **const leaf = leftmost_leaf(gone);
    if (leaf != NULL) {
        heap_block *const heir = *leaf;
        *leaf = NULL;
        inherit(heir, gone);
        *place = heir;
    }
}

static void unfile(heap_block *block) {
    heap_block **const place = place_of(block_size(block));
    const bool was_node = *place == block;
    free_list_unlink(place, block);
    if (was_node && *place != NULL) {
        inherit(*place, block); /* an equal block is the node now */
    } else if (was_node) {
        refill(place, block);
    }
    const uint32_t bin = bin_of(block_size(block));
    if (bins[bin].child[0] == NULL && bins[bin].child[1] == NULL) {
        bin_map &= ~(1u << bin);
    }
}

void heap_index_reset(void) {
    for (uint32_t bin = 0; bin < BINS; bin++) {
        bins[bin].child[0] = NULL;
        bins[bin].child[1] = NULL;
    }
    bin_map = 0;
    victim = NULL;
}

void heap_index_insert(heap_block *block) {
    if (block_size(block) >= TAILSCOPE_LARGE_VICTIM_BYTES ||
        (victim != NULL && block_size(victim) >= TAILSCOPE_SMALL_VICTIM_BYTES)) {
        file(block);
        return;
    }
    if (victim != NULL) {
        file(victim);
    }
    victim = block;
}

void heap_index_remove(heap_block *block) {
    if (block == victim) {
        victim = NULL;
    } else {
        unfile(block);
    }
}

/* Searching */

/**
 * Follows the bits of `size`. Where a bit is 0, all that lies to the right is larger. Where it is
 * 1, all that lies to the left is smaller.
 */
static heap_block *search_own_bin(uint32_t size, uint32_t *looked_at) {
    uint32_t bits = directions(size);
    heap_block *const *child = bins[bin_of(size)].child;
    for (;;) {
        heap_block *const left = bits >> 31 == 0 ? child[0] : NULL;
        heap_block *const block = child[1] != NULL ? child[1] : left;
        if (block == NULL) {
            return NULL;
        }
        (*looked_at)++;
        if (block_size(block) >= size) {
            return block;
        }
        child = node_of(block)->child;
        bits <<= 1;
    }
}

static heap_block *first_above(uint32_t bin) {
    const uint32_t candidates = bin_map & (UINT32_MAX << (bin + 1u));
    if (candidates == 0) {
        return NULL;
    }
    heap_block *const *const child = bins[__builtin_ctz(candidates)].child;
    return child[0] != NULL ? child[0] : child[1];
}

heap_block *heap_index_find(uint32_t size, uint32_t *probes) {
    uint32_t looked_at = victim != NULL ? 1 : 0;
    heap_block *found = victim;
    if (victim == NULL || block_size(victim) < size) {
        const uint32_t own = bin_of(size);
        found = own < BINS ? search_own_bin(size, &looked_at) : NULL;
        if (found == NULL) {
            looked_at++;
            found = first_above(own);
        }
    }
    *probes = looked_at;
    return found;
}

/* Checking */

/**
 * True if the subtree holds only sizes from `low` to `low` + `width` − 1. Each level halves the
 * width.
 */
static bool subtree_check(const heap_block *block, uint32_t low, uint32_t width, uint32_t *filed) {
    if (block == NULL) {
        return true;
    }
    if (width < BLOCK_ALIGNMENT || !block_address_is_possible(block) || block_size(block) < low ||
        block_size(block) - low >= width) {
        return false;
    }
    const uint32_t half = width / 2u;
    return free_list_check(block, block_size(block), block_size(block), filed) &&
           subtree_check(node_of(block)->child[0], low, half, filed) &&
           subtree_check(node_of(block)->child[1], low + half, half, filed);
}

static bool bin_check(uint32_t bin, uint32_t *filed) {
    heap_block *const *const child = bins[bin].child;
    const uint32_t low = 1u << (bin + OFFSET);
    const bool mapped = (bin_map >> bin & 1u) != 0;
    return mapped == (child[0] != NULL || child[1] != NULL) &&
           subtree_check(child[0], low, low / 2u, filed) &&
           subtree_check(child[1], low + low / 2u, low / 2u, filed);
}

static bool victim_check(uint32_t *filed) {
    if (victim == NULL) {
        return true;
    }
    *filed += 1;
    return block_address_is_possible(victim) && block_has_header(victim) && block_is_free(victim) &&
           block_size(victim) >= BLOCK_SMALLEST_PAYLOAD &&
           block_size(victim) < TAILSCOPE_LARGE_VICTIM_BYTES;
}

bool heap_index_check(uint32_t free_blocks) {
    uint32_t filed = 0;
    for (uint32_t bin = 0; bin < BINS; bin++) {
        if (!bin_check(bin, &filed)) {
            return false;
        }
    }
    return victim_check(&filed) && filed == free_blocks && bin_map >> BINS == 0;
}

INDEX_NAME
