#include "trace.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the file is read as it lies in memory");

static const char *const unreadable = "the operations cannot be read.";

static bool is_known(uint32_t kind) {
    const uint32_t plain = kind & ~(uint32_t)(TRACE_RETRY | TRACE_LAST_IF_REFUSED);
    return plain == TRACE_ALLOCATE || kind == TRACE_FREE || kind == TRACE_REALLOCATE;
}

static const char *read_from(FILE *file, trace *found) {
    if (fseek(file, 0, SEEK_END) != 0) {
        return unreadable;
    }
    const long bytes = ftell(file);
    if (bytes < 0 || fseek(file, 0, SEEK_SET) != 0) {
        return unreadable;
    }
    found->count = (size_t)bytes / sizeof(trace_operation);
    trace_operation *const operations = calloc(found->count + 1u, sizeof(trace_operation));
    if (operations == NULL) {
        return "there is not enough memory for so many operations.";
    }
    found->operations = operations;
    if (fread(operations, sizeof(trace_operation), found->count, file) != found->count) {
        return unreadable;
    }
    for (size_t i = 0; i < found->count; i++) {
        if (!is_known(operations[i].kind)) {
            return "an operation has an unknown kind.";
        }
        const size_t slots = (size_t)operations[i].slot + 1u;
        found->slots = slots > found->slots ? slots : found->slots;
    }
    return NULL;
}

const char *trace_read(const char *path, trace *found) {
    *found = (trace){0};
    FILE *const file = fopen(path, "rb");
    if (file == NULL) {
        return "the operations' file cannot be opened.";
    }
    const char *const complaint = read_from(file, found);
    (void)fclose(file);
    return complaint;
}
