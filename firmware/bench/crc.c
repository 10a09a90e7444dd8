#include "bench/crc.h"

enum { CRC16_POLYNOMIAL = 0x1021 };

/* 0x04C11DB7 with its bits reversed, for the least significant bit first. */
#define CRC32_POLYNOMIAL 0xEDB88320u

uint16_t crc16_update(uint16_t crc, uint8_t byte) {
    uint32_t next = crc ^ (uint32_t)byte << 8;
    for (int bit = 0; bit < 8; bit++) {
        next = (next & 0x8000u) != 0u ? next << 1 ^ CRC16_POLYNOMIAL : next << 1;
    }
    return (uint16_t)next;
}

uint32_t crc32(const uint8_t *data, size_t bytes) {
    uint32_t crc = 0xFFFFFFFFu;
    for (size_t index = 0; index < bytes; index++) {
        crc ^= data[index];
        for (int bit = 0; bit < 8; bit++) {
            crc = crc >> 1 ^ (CRC32_POLYNOMIAL & (0u - (crc & 1u)));
        }
    }
    return ~crc;
}
