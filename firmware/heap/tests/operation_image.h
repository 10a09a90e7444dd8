/** Reads an operation image (docs/reference/operation-image.md) from a file, for the host. */
#ifndef TAILSCOPE_HEAP_TESTS_OPERATION_IMAGE_H
#define TAILSCOPE_HEAP_TESTS_OPERATION_IMAGE_H

#include <stdint.h>

enum { OPERATION_ALLOCATE = 1, OPERATION_FREE = 2, OPERATION_MARK = 3 };

/** Flags of an allocation. */
enum { OPERATION_RETRY = 2, OPERATION_LAST_IF_REFUSED = 4 };

#define OPERATION_SLOTS_LIMIT 2048u

typedef struct {
    uint8_t kind;
    uint8_t flags;
    uint16_t slot;
    uint32_t argument; /**< bytes to allocate, or the number of a mark's label */
    uint8_t align_log2;
} image_operation;

typedef struct {
    image_operation *operations;
    uint32_t count;
} operation_image;

/**
 * Reads and validates the image. On bad input `*complaint` is one sentence and the image is empty.
 */
operation_image operation_image_read(const char *path, const char **complaint);

#endif
