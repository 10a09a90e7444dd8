/**
 * Best fit by an AVL tree (Adelson-Velsky and Landis, 1962; Knuth, "The Art of Computer
 * Programming", volume 3, section 6.2.3) ordered by size. Its nodes live in the payloads of the
 * free blocks. A place in the tree is the head of a LIFO list of blocks of one size; the head is
 * the node.
 *
 * Complexity: a tree of k sizes is lower than 1.45·log2(k + 2), and k different sizes need more
 * than 4·k² bytes, so a region of 64 KiB has at most 128 sizes and 9 levels. Searching, filing and
 * removing each walk one path from the root; filing and removing turn at most two nodes on each
 * level of it.
 *
 * Probes: one for each node looked at.
 */
#include "free_list.h"
#include "index.h"

typedef struct {
    free_links links; /* of the list of this size */
    heap_block *left;
    heap_block *right;
    uint32_t height; /* levels of this subtree */
} node;

_Static_assert(sizeof(node) <= BLOCK_SMALLEST_PAYLOAD, "a node must fit the smallest payload");

/* 1 MiB has at most 512 different sizes, and 13 levels need 609; 8 MiB has at most 1,448, and 15
 * levels need 1,596. */
#define LEVELS (TAILSCOPE_HEAP_BYTES <= 1u << 20 ? 12u : 14u)
_Static_assert(TAILSCOPE_HEAP_BYTES <= 1u << 23,
               "14 levels are for regions up to 8 MiB: make TAILSCOPE_HEAP_BYTES smaller");

/** The places on the way from the root down, the root's first. */
typedef struct {
    heap_block **place[LEVELS + 1u];
    uint32_t length;
} path;

static heap_block *root;

static node *node_of(const heap_block *block) {
    return block_payload(block);
}

static uint32_t height_of(const heap_block *block) {
    return block == NULL ? 0 : node_of(block)->height;
}

/** Gives `heir` the subtrees and the height of `gone`. */
static void inherit(heap_block *heir, const heap_block *gone) {
    node_of(heir)->left = node_of(gone)->left;
    node_of(heir)->right = node_of(gone)->right;
    node_of(heir)->height = node_of(gone)->height;
}

/* Balance */

static void measure(heap_block *block) {
    const uint32_t left = height_of(node_of(block)->left);
    const uint32_t right = height_of(node_of(block)->right);
    node_of(block)->height = 1u + (left > right ? left : right);
}

static heap_block *turn_right(heap_block *top) {
    heap_block *const pivot = node_of(top)->left;
    node_of(top)->left = node_of(pivot)->right;
    node_of(pivot)->right = top;
    measure(top);
    measure(pivot);
    return pivot;
}

static heap_block *turn_left(heap_block *top) {
    heap_block *const pivot = node_of(top)->right;
    node_of(top)->right = node_of(pivot)->left;
    node_of(pivot)->left = top;
    measure(top);
    measure(pivot);
    return pivot;
}

/**
 * Balances and measures the subtree of `top`, and returns its new top. The two subtrees below are
 * balanced, and their heights differ by at most two.
 */
static heap_block *balanced(heap_block *top) {
    node *const at = node_of(top);
    const uint32_t left = height_of(at->left);
    const uint32_t right = height_of(at->right);
    HEAP_REQUIRE(left <= right + 2u && right <= left + 2u);
    if (left > right + 1u) {
        if (height_of(node_of(at->left)->left) < height_of(node_of(at->left)->right)) {
            at->left = turn_left(at->left);
        }
        return turn_right(top);
    }
    if (right > left + 1u) {
        if (height_of(node_of(at->right)->right) < height_of(node_of(at->right)->left)) {
            at->right = turn_right(at->right);
        }
        return turn_left(top);
    }
    measure(top);
    return top;
}

static void balance(const path *way) {
    for (uint32_t i = way->length; i > 0; i--) {
        heap_block **const place = way->place[i - 1u];
        if (*place != NULL) {
            *place = balanced(*place);
        }
    }
}

/* Filing */

/** Adds a place to the way and returns it. */
static heap_block **step(path *way, heap_block **place) {
    way->place[way->length++] = place;
    return place;
}

/** Walks to the place where `size` is filed, or to the empty place where it belongs. */
static heap_block **walk_to(path *way, uint32_t size) {
    heap_block **place = step(way, &root);
    while (*place != NULL && block_size(*place) != size) {
        node *const at = node_of(*place);
        place = step(way, size < block_size(*place) ? &at->left : &at->right);
    }
    return place;
}

void heap_index_reset(void) {
    root = NULL;
}

void heap_index_insert(heap_block *block) {
    path way = {.length = 0};
    heap_block **const place = walk_to(&way, block_size(block));
    if (*place != NULL) {
        inherit(block, *place);
        free_list_push(place, block);
        return;
    }
    *node_of(block) = (node){.height = 1};
    *place = block;
    balance(&way);
}

/** Takes out the node `gone`, which has two subtrees: the next larger node takes its place. */
static void replace_by_next(path *way, heap_block **place, heap_block *gone) {
    const uint32_t below = way->length;
    heap_block **next = step(way, &node_of(gone)->right);
    while (node_of(*next)->left != NULL) {
        next = step(way, &node_of(*next)->left);
    }
    heap_block *const heir = *next;
    *next = node_of(heir)->right;
    inherit(heir, gone);
    *place = heir;
    way->place[below] = &node_of(heir)->right; /* it was in `gone` */
}

void heap_index_remove(heap_block *block) {
    path way = {.length = 0};
    heap_block **const place = walk_to(&way, block_size(block));
    const bool was_node = *place == block;
    free_list_unlink(place, block);
    if (!was_node) {
        return;
    }
    const node *const gone = node_of(block);
    if (*place != NULL) {
        inherit(*place, block); /* an equal block is the node now */
        return;
    }
    if (gone->left != NULL && gone->right != NULL) {
        replace_by_next(&way, place, block);
    } else {
        *place = gone->left != NULL ? gone->left : gone->right;
    }
    balance(&way);
}

/* Searching */

heap_block *heap_index_find(uint32_t size, uint32_t *probes) {
    uint32_t looked_at = 0;
    heap_block *best = NULL;
    heap_block *block = root;
    while (block != NULL && (best == NULL || block_size(best) != size)) {
        looked_at++;
        if (block_size(block) >= size) {
            best = block;
            block = node_of(block)->left;
        } else {
            block = node_of(block)->right;
        }
    }
    *probes = looked_at;
    return best;
}

/* Checking */

/**
 * Sizes lie between the bounds, both excluded. A node is lower than its parent, so a ring ends the
 * walk.
 */
static bool subtree_check(const heap_block *block, uint32_t above, uint32_t below, uint32_t levels,
                          uint32_t *filed) {
    if (block == NULL) {
        return true;
    }
    if (!block_address_is_possible(block) || block_size(block) <= above ||
        block_size(block) >= below) {
        return false;
    }
    const node *const at = node_of(block);
    if (at->height == 0 || at->height > levels ||
        !free_list_check(block, block_size(block), block_size(block), filed) ||
        !subtree_check(at->left, above, block_size(block), at->height - 1u, filed) ||
        !subtree_check(at->right, block_size(block), below, at->height - 1u, filed)) {
        return false;
    }
    const uint32_t left = height_of(at->left);
    const uint32_t right = height_of(at->right);
    return left <= right + 1u && right <= left + 1u &&
           at->height == 1u + (left > right ? left : right);
}

bool heap_index_check(uint32_t free_blocks) {
    uint32_t filed = 0;
    return subtree_check(root, BLOCK_SMALLEST_PAYLOAD - 1u, UINT32_MAX, LEVELS, &filed) &&
           filed == free_blocks;
}

INDEX_NAME
