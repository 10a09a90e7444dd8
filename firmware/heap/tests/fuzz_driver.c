/**
 * A coverage-guided fuzzer in a page, for machines without libFuzzer. Inputs that take a new edge
 * are kept and mutated further. It is seeded and bounded by a number of inputs, so that every run
 * is the same.
 *
 *     fuzz_operations <inputs> [<seed> [<file>]]
 *     fuzz_operations replay <file>
 *
 * With a file each input is kept there before it runs, so that the last one is the one that broke a
 * rule. Its replay prints the operations, each before it runs.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "fuzz.h"
#include "shadow.h"

enum { INPUT_BYTES = 512, CORPUS_LIMIT = 512 };

typedef struct {
    size_t size;
    uint8_t bytes[INPUT_BYTES];
} input;

static input corpus[CORPUS_LIMIT];
static size_t corpus_size;

static void overwrite(input *made, uint32_t *random) {
    made->bytes[next_random(random) % made->size] = (uint8_t)next_random(random);
}

/** A stretch of another input, or noise, over the end or beyond it. */
static void splice(input *made, uint32_t *random) {
    const input *const other = &corpus[next_random(random) % corpus_size];
    const size_t at = next_random(random) % made->size;
    const size_t room = INPUT_BYTES - at;
    const size_t length = other->size < room ? other->size : room;
    memcpy(made->bytes + at, other->bytes, length);
    made->size = at + length > made->size ? at + length : made->size;
}

static void grow(input *made, uint32_t *random) {
    for (unsigned n = next_random(random) % 32; n > 0 && made->size < INPUT_BYTES; n--) {
        made->bytes[made->size++] = (uint8_t)next_random(random);
    }
}

static input mutate(uint32_t *random) {
    input made = corpus[next_random(random) % corpus_size];
    for (unsigned n = 1 + next_random(random) % 8; n > 0; n--) {
        switch (next_random(random) % 4) {
        case 0:
            splice(&made, random);
            break;
        case 1:
            grow(&made, random);
            break;
        default:
            overwrite(&made, random);
        }
    }
    return made;
}

static void keep(const input *made, const char *path) {
    FILE *const file = path == NULL ? NULL : fopen(path, "wb");
    if (file != NULL) {
        (void)fwrite(made->bytes, 1, made->size, file);
        fclose(file);
    }
}

static int replay(const char *path) {
    input read = {0};
    FILE *const file = fopen(path, "rb");
    if (file == NULL) {
        fprintf(stderr, "fuzz_operations: %s cannot be read.\n", path);
        return 2;
    }
    read.size = fread(read.bytes, 1, INPUT_BYTES, file);
    fclose(file);
    fuzz_tells = true;
    return LLVMFuzzerTestOneInput(read.bytes, read.size);
}

static void run(const input *made) {
    coverage_begin_input();
    (void)LLVMFuzzerTestOneInput(made->bytes, made->size);
    if (coverage_end_input() > 0 && corpus_size < CORPUS_LIMIT) {
        corpus[corpus_size++] = *made;
    }
}

int main(int argc, char **argv) {
    shadow_take_alignment(getenv("TAILSCOPE_ALIGNS_TO"));
    if (argc == 3 && strcmp(argv[1], "replay") == 0) {
        return replay(argv[2]);
    }
    const unsigned long inputs = argc > 1 ? strtoul(argv[1], NULL, 10) : 0;
    uint32_t random = argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 0) : 1;
    if (inputs == 0 || random == 0) {
        fprintf(stderr,
                "fuzz_operations: say how many inputs, and a seed other than 0 if you like.\n");
        return 2;
    }
    corpus[0] = (input){.size = 4};
    corpus_size = 1;
    for (unsigned long i = 0; i < inputs; i++) {
        const input made = mutate(&random);
        keep(&made, argc > 3 ? argv[3] : NULL);
        run(&made);
    }
    printf("%lu inputs, %u edges, %zu inputs kept\n", inputs, coverage_edges(), corpus_size);
    return coverage_edges() == 0;
}
