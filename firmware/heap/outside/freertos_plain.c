/** allocator.h on a FreeRTOS project's heap whose blocks are not laid out as those of FreeRTOS. */
#include "allocators/freertos/shipped.h"

#define PLAIN_TELLS_FREE
#include "plain.h"

static void plain_init(void *region, size_t bytes) {
    vPortHeapResetState();
    shipped_start(region, bytes);
}

static void *plain_allocate(size_t size) {
    return pvPortMalloc(size);
}

static void plain_free(void *payload) {
    vPortFree(payload);
}

static size_t plain_free_bytes(void) {
    return xPortGetFreeHeapSize();
}
