/**
 * malloc and its kin, in front of the program's own: each call is passed on, and recorded.
 *
 * What frees is recorded before it is done and what allocates after, so that no thread can get a
 * block again before its free stands in the file.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "recording_file.h"

#define EXPORTED __attribute__((visibility("default")))
#define NO_ORIGIN UINT32_MAX

/* The program's own functions */

static struct {
    void *(*malloc)(size_t);
    void *(*calloc)(size_t, size_t);
    void *(*realloc)(void *, size_t);
    void (*free)(void *);
    void *(*memalign)(size_t, size_t);
    void *(*aligned_alloc)(size_t, size_t);
    int (*posix_memalign)(void **, size_t, size_t);
    void *(*valloc)(size_t);
    void *(*pvalloc)(size_t);
} own;

static _Atomic bool found;
static __thread bool looking __attribute__((tls_model("initial-exec")));

/** ISO C has no conversion from dlsym's pointer to one to a function; POSIX has this one. */
static void look_up(void *function, const char *name) {
    *(void **)function = dlsym(RTLD_NEXT, name);
}

/** False while this thread looks them up: dlsym itself may allocate. */
static bool ready(void) {
    if (atomic_load_explicit(&found, memory_order_acquire)) {
        return true;
    }
    if (looking) {
        return false;
    }
    looking = true;
    look_up(&own.malloc, "malloc");
    look_up(&own.calloc, "calloc");
    look_up(&own.realloc, "realloc");
    look_up(&own.free, "free");
    look_up(&own.memalign, "memalign");
    look_up(&own.aligned_alloc, "aligned_alloc");
    look_up(&own.posix_memalign, "posix_memalign");
    look_up(&own.valloc, "valloc");
    look_up(&own.pvalloc, "pvalloc");
    atomic_store_explicit(&found, true, memory_order_release);
    looking = false;
    return true;
}

/* What is asked for until then: served from here, never freed, not recorded */

#define EARLY_BYTES 65536u

static _Alignas(64) unsigned char early[EARLY_BYTES];
static _Atomic size_t early_used;

static bool is_early(const void *block) {
    return (uintptr_t)block - (uintptr_t)early < EARLY_BYTES;
}

/** Zeroed. The size stands before the block, for a reallocation. */
static void *allocate_early(size_t size) {
    if (size > EARLY_BYTES) {
        return NULL;
    }
    const size_t room = (size + 2 * sizeof(max_align_t) - 1) & ~(sizeof(max_align_t) - 1);
    const size_t begin = atomic_fetch_add(&early_used, room);
    if (begin > EARLY_BYTES - room) {
        return NULL;
    }
    unsigned char *const block = early + begin + sizeof(max_align_t);
    memcpy(block - sizeof size, &size, sizeof size);
    return block;
}

static void *move_early(const void *block, size_t size) {
    size_t before;
    memcpy(&before, (const unsigned char *)block - sizeof before, sizeof before);
    void *const moved = malloc(size);
    if (moved != NULL) {
        memcpy(moved, block, before < size ? before : size);
    }
    return moved;
}

/* Recording */

static void *allocated(void *block, size_t size) {
    if (block != NULL) {
        (void)recording_enter(RECORDING_ALLOCATED, block, size, 0, NO_ORIGIN);
    }
    return block;
}

static void *allocated_aligned(void *block, size_t size, size_t alignment) {
    if (block != NULL) {
        const unsigned log2 = alignment == 0 ? 0 : (unsigned)__builtin_ctzll(alignment);
        (void)recording_enter(RECORDING_ALLOCATED, block, size, log2, NO_ORIGIN);
    }
    return block;
}

static size_t page_bytes(void) {
    return (size_t)sysconf(_SC_PAGESIZE);
}

/* What the program calls */

EXPORTED void *malloc(size_t size) {
    return ready() ? allocated(own.malloc(size), size) : allocate_early(size);
}

EXPORTED void *calloc(size_t count, size_t size) {
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes)) {
        errno = ENOMEM;
        return NULL;
    }
    return ready() ? allocated(own.calloc(count, size), bytes) : allocate_early(bytes);
}

EXPORTED void free(void *block) {
    if (block == NULL || is_early(block) || !ready()) {
        return;
    }
    (void)recording_enter(RECORDING_FREEING, block, 0, 0, NO_ORIGIN);
    own.free(block);
}

EXPORTED void *realloc(void *block, size_t size) {
    if (block == NULL) {
        return malloc(size);
    }
    if (is_early(block) || !ready()) {
        return move_early(block, size);
    }
    const uint32_t origin = recording_enter(RECORDING_MOVING, block, size, 0, NO_ORIGIN);
    void *const moved = own.realloc(block, size);
    if (origin != NO_ORIGIN) {
        (void)recording_enter(RECORDING_MOVED, moved, size, 0, origin);
    }
    return moved;
}

EXPORTED void *reallocarray(void *block, size_t count, size_t size) {
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes)) {
        errno = ENOMEM;
        return NULL;
    }
    return realloc(block, bytes);
}

EXPORTED void *memalign(size_t alignment, size_t size) {
    return ready() ? allocated_aligned(own.memalign(alignment, size), size, alignment) : NULL;
}

EXPORTED void *aligned_alloc(size_t alignment, size_t size) {
    return ready() ? allocated_aligned(own.aligned_alloc(alignment, size), size, alignment) : NULL;
}

EXPORTED int posix_memalign(void **block, size_t alignment, size_t size) {
    const int error = ready() ? own.posix_memalign(block, alignment, size) : ENOMEM;
    if (error == 0) {
        (void)allocated_aligned(*block, size, alignment);
    }
    return error;
}

EXPORTED void *valloc(size_t size) {
    return ready() ? allocated_aligned(own.valloc(size), size, page_bytes()) : NULL;
}

EXPORTED void *pvalloc(size_t size) {
    const size_t page = page_bytes();
    const size_t whole = (size + page - 1) / page * page;
    return ready() ? allocated_aligned(own.pvalloc(size), whole, page) : NULL;
}
