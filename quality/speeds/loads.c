/*
 * Programs that never wait and touch no peripheral, for the virtual Nucleo, Unicorn and QEMU alike.
 * LOAD is one of the functions below, SINES the 64 words of RFC 1321, 3.4.
 */
#include <stdint.h>

enum { LAPS = 10000, SIDE = 8, BLOCKS = 256, SYS_EXIT = 0x18, STOPPED = 0x20026 };

extern uint32_t stack_top;
void reset(void);
__attribute__((section(".vectors"), used)) static void *const vectors[] = {&stack_top, reset};

static const uint32_t sines[64] = {SINES};
static const uint8_t turns[4][4] = {
    {7, 12, 17, 22}, {5, 9, 14, 20}, {4, 11, 16, 23}, {6, 10, 15, 21}};
static uint32_t words[BLOCKS];
static struct block {
    struct block *next;
    uint32_t bytes;
} blocks[BLOCKS];

/* A block of MD5 (RFC 1321, 3.4). */
uint32_t md5(uint32_t seed) {
    uint32_t a = 0x67452301 ^ seed, b = 0xefcdab89, c = 0x98badcfe, d = 0x10325476;
    for (uint32_t i = 0; i < 64; i++) {
        const uint32_t round = i / 16;
        const uint32_t f = round == 0   ? (b & c) | (~b & d)
                           : round == 1 ? (d & b) | (~d & c)
                           : round == 2 ? b ^ c ^ d
                                        : c ^ (b | ~d);
        static const uint8_t step[4] = {1, 5, 3, 7}, first[4] = {0, 1, 5, 0};
        const uint32_t sum = a + f + sines[i] + words[(step[round] * i + first[round]) % 16];
        const uint32_t turn = turns[round][i % 4];
        a = d, d = c, c = b, b += sum << turn | sum >> (32 - turn);
    }
    return a ^ b ^ c ^ d;
}

/* As CoreMark: products of matrices, a state machine over what came out, a checksum bit by bit. */
uint32_t mixed(uint32_t seed) {
    uint32_t crc = seed, state = 0;
    for (uint32_t i = 0; i < SIDE * SIDE; i++) {
        uint32_t sum = 0;
        for (uint32_t k = 0; k < SIDE; k++) {
            sum += words[i / SIDE * SIDE + k] * words[k * SIDE + i % SIDE];
        }
        words[128 + i] = sum;
        switch (sum >> 3 & 3) {
        case 0:
            state += sum & 1;
            break;
        case 1:
            state ^= sum;
            break;
        case 2:
            state = state << 1 | state >> 31;
            break;
        default:
            break;
        }
    }
    for (uint32_t bit = 0; bit < 32; bit++) {
        crc = crc >> 1 ^ (((crc ^ state >> bit) & 1) ? 0xedb88320 : 0);
    }
    return crc;
}

/* The longest work of mem_frag: all free blocks of a class are looked at, and none serves. */
uint32_t walk(uint32_t seed) {
    const struct block *block = blocks;
    while (block != 0 && block->bytes < 1024 + (seed & 1)) {
        block = block->next;
    }
    return block == 0 ? seed : seed + 1;
}

void reset(void) {
    for (uint32_t i = 0; i < BLOCKS; i++) {
        words[i] = i * 2654435761u;
        blocks[i].next = i + 1 < BLOCKS ? &blocks[i + 1] : 0;
        blocks[i].bytes = 512;
    }
    uint32_t seed = 1;
    for (uint32_t lap = 0; lap < LAPS; lap++) {
        seed = LOAD(seed) | 1;
    }
    words[0] = seed;
    register uint32_t operation __asm__("r0") = SYS_EXIT, reason __asm__("r1") = STOPPED;
    __asm__ volatile("bkpt 0xab" : : "r"(operation), "r"(reason) : "memory");
    for (;;) {}
}
