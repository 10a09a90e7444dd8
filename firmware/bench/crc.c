#include "bench/crc.h"

/* CRC-32 of each four bits: the polynomial 0x04C11DB7 with its bits reversed, for the least
 * significant bit first. */
static const uint32_t crc32_of_four_bits[16] = {
    0x00000000u, 0x1DB71064u, 0x3B6E20C8u, 0x26D930ACu, 0x76DC4190u, 0x6B6B51F4u,
    0x4DB26158u, 0x5005713Cu, 0xEDB88320u, 0xF00F9344u, 0xD6D6A3E8u, 0xCB61B38Cu,
    0x9B64C2B0u, 0x86D3D2D4u, 0xA00AE278u, 0xBDBDF21Cu,
};

/* The polynomial 0x1021 has bits 12, 5 and 0. So a byte feeds back itself, shifted to these places,
 * and its upper four bits come round once more. */
uint16_t crc16_update(uint16_t crc, uint8_t byte) {
    uint32_t fed_back = (uint32_t)crc >> 8 ^ byte;
    fed_back ^= fed_back >> 4;
    return (uint16_t)((uint32_t)crc << 8 ^ fed_back << 12 ^ fed_back << 5 ^ fed_back);
}

uint32_t crc32_update(uint32_t crc, uint8_t byte) {
    crc = ~crc ^ byte;
    crc = crc >> 4 ^ crc32_of_four_bits[crc & 15u];
    crc = crc >> 4 ^ crc32_of_four_bits[crc & 15u];
    return ~crc;
}

uint32_t crc32(const uint8_t *data, size_t bytes) {
    uint32_t crc = CRC32_INITIAL;
    for (size_t index = 0; index < bytes; index++) {
        crc = crc32_update(crc, data[index]);
    }
    return crc;
}
