#include "operation_image.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#define HEADER_BYTES 64u
#define ENTRY_BYTES 12u
#define RECORDS_TRANSPORT_MAX 1
#define ENTRIES_LIMIT 21840u
#define MAGIC 0x504F5354u /* "TSOP" */
#define VERSION 1u
#define MEASURED 1u

static uint32_t u16_at(const uint8_t *bytes) {
    return bytes[0] | (uint32_t)bytes[1] << 8;
}

static uint32_t u32_at(const uint8_t *bytes) {
    return u16_at(bytes) | u16_at(bytes + 2) << 16;
}

/** CRC-32 of IEEE 802.3, reflected, bit by bit. */
static uint32_t crc32_of(const uint8_t *bytes, size_t length) {
    uint32_t crc = 0xFFFFFFFFu;
    for (size_t i = 0; i < length; i++) {
        crc ^= bytes[i];
        for (int bit = 0; bit < 8; bit++) {
            crc = crc >> 1 ^ ((crc & 1u) != 0 ? 0xEDB88320u : 0u);
        }
    }
    return ~crc;
}

static const char *header_complaint(const uint8_t *header) {
    if (u32_at(header) != MAGIC) {
        return "this is no operation image: it does not begin with TSOP.";
    }
    if (u16_at(header + 4) != VERSION || u16_at(header + 6) != HEADER_BYTES) {
        return "the image's version is not 1: compile the scenario again.";
    }
    if (u32_at(header + 8) > ENTRIES_LIMIT || u32_at(header + 16) > OPERATION_SLOTS_LIMIT) {
        return "the image has more entries or slots than the format allows: compile the scenario "
               "again.";
    }
    if (header[29] > RECORDS_TRANSPORT_MAX || (header[30] | header[31]) != 0) {
        return "a reserved field of the image's header is not 0: compile the scenario again.";
    }
    return NULL;
}

static bool entry_is_valid(const uint8_t *entry, uint32_t slot_count) {
    const uint8_t kind = entry[0];
    const bool known = kind >= OPERATION_ALLOCATE && kind <= OPERATION_MARK;
    const unsigned of_allocations =
        kind == OPERATION_ALLOCATE ? OPERATION_RETRY | OPERATION_LAST_IF_REFUSED : 0u;
    const bool reserved_clear = (entry[1] & ~(MEASURED | of_allocations)) == 0 && entry[11] == 0;
    return known && reserved_clear && entry[10] < 32 &&
           (kind == OPERATION_MARK || u16_at(entry + 2) < slot_count);
}

static image_operation operation_of(const uint8_t *entry) {
    return (image_operation){
        .kind = entry[0],
        .flags = entry[1],
        .slot = (uint16_t)u16_at(entry + 2),
        .argument = u32_at(entry + 4),
        .align_log2 = entry[10],
    };
}

static operation_image parse_body(const uint8_t *body, uint32_t count, uint32_t slot_count,
                                  const char **complaint) {
    operation_image image = {.operations = calloc(count + 1u, sizeof(image_operation)),
                             .count = count};
    for (uint32_t i = 0; i < count; i++) {
        const uint8_t *const entry = body + i * ENTRY_BYTES;
        if (!entry_is_valid(entry, slot_count)) {
            *complaint = "an entry of the image has an unknown kind, a slot out of range or a "
                         "reserved bit set.";
            free(image.operations);
            return (operation_image){0};
        }
        image.operations[i] = operation_of(entry);
    }
    return image;
}

static operation_image parse(FILE *file, const char **complaint) {
    static uint8_t header[HEADER_BYTES];
    static uint8_t body[ENTRIES_LIMIT * ENTRY_BYTES];
    if (fread(header, 1, sizeof header, file) != sizeof header) {
        *complaint = "the file is shorter than an image's header.";
        return (operation_image){0};
    }
    *complaint = header_complaint(header);
    if (*complaint != NULL) {
        return (operation_image){0};
    }
    const uint32_t count = u32_at(header + 8);
    if (fread(body, ENTRY_BYTES, count, file) != count) {
        *complaint = "the file ends before the image does: compile the scenario again.";
        return (operation_image){0};
    }
    if (crc32_of(body, count * ENTRY_BYTES) != u32_at(header + 12)) {
        *complaint = "the image's checksum is wrong: compile the scenario again.";
        return (operation_image){0};
    }
    return parse_body(body, count, u32_at(header + 16), complaint);
}

operation_image operation_image_read(const char *path, const char **complaint) {
    FILE *const file = fopen(path, "rb");
    if (file == NULL) {
        *complaint = "the file cannot be opened.";
        return (operation_image){0};
    }
    const operation_image image = parse(file, complaint);
    fclose(file);
    return image;
}
