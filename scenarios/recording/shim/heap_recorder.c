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
#include <stdint.h>
#include <stdlib.h>
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

/**
 * False while this thread looks them up: dlsym itself may ask for memory, and goes on without.
 */
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

/* Recording */

static void *allocated_aligned(void *block, size_t size, size_t alignment) {
    if (block != NULL) {
        const unsigned log2 = alignment == 0 ? 0 : (unsigned)__builtin_ctzll(alignment);
        (void)recording_enter(RECORDING_ALLOCATED, block, size, log2, NO_ORIGIN);
    }
    return block;
}

static void *allocated(void *block, size_t size) {
    return allocated_aligned(block, size, 0);
}

static size_t page_bytes(void) {
    return (size_t)sysconf(_SC_PAGESIZE);
}

/* What the program calls */

EXPORTED void *malloc(size_t size) {
    return ready() ? allocated(own.malloc(size), size) : NULL;
}

EXPORTED void *calloc(size_t count, size_t size) {
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes)) {
        errno = ENOMEM;
        return NULL;
    }
    return ready() ? allocated(own.calloc(count, size), bytes) : NULL;
}

EXPORTED void free(void *block) {
    if (block != NULL && ready()) {
        (void)recording_enter(RECORDING_FREEING, block, 0, 0, NO_ORIGIN);
        own.free(block);
    }
}

EXPORTED void *realloc(void *block, size_t size) {
    if (block == NULL || !ready()) {
        return malloc(size);
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
