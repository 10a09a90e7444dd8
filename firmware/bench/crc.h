/** The two checksums of docs/reference/records.md. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define CRC16_INITIAL 0xFFFFu
#define CRC32_INITIAL 0u

/** CRC-16/CCITT-FALSE of what gave `crc` followed by `byte`. */
uint16_t crc16_update(uint16_t crc, uint8_t byte);

/** CRC-32 of what gave `crc` followed by `byte`. */
uint32_t crc32_update(uint32_t crc, uint8_t byte);

/** CRC-32 of IEEE 802.3, as zlib's, of `bytes` bytes at `data`. */
uint32_t crc32(const uint8_t *data, size_t bytes);
