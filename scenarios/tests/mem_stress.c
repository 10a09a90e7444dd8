/* mem_stress as its description words it, on the machine's own 32-bit arithmetic: argv[1] is the
 * seed. Prints one line per operation: kind, size of the block, ordinal of its allocation. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static uint32_t x;

static uint32_t rnd(void) {
    x ^= x << 13;
    x ^= x >> 17;
    x ^= x << 5;
    return x;
}

static uint32_t draw_size(void) {
    uint32_t r = rnd() % 100;
    if (r < 60)
        return 8 + rnd() % 56;
    if (r < 90)
        return 64 + rnd() % 192;
    return 256 + rnd() % 768;
}

int main(int argc, char **argv) {
    struct {
        uint32_t size, ordinal;
    } live[48];
    uint32_t count = 0, ordinal = 0;

    x = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 0) : 0x1234abcdu;
    for (int operation = 0; operation < 1200; operation++) {
        if (count == 0 || (count < 48 && rnd() % 100 < 55)) {
            live[count].size = draw_size();
            live[count].ordinal = ordinal++;
            printf("A %u %u\n", live[count].size, live[count].ordinal);
            count++;
        } else {
            uint32_t i = rnd() % count;
            printf("F %u %u\n", live[i].size, live[i].ordinal);
            live[i] = live[--count];
        }
    }
    return 0;
}
