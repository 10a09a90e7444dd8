/**
 * Judges an allocator by a list of operations: `judge SECONDS [RULE...] < LIST`, a line each. What
 * breaks one of these rules is let pass: misaligned, small, status, lost.
 *
 *     a <slot> <size> <alignment>   allocates into an empty slot; 0: its own alignment
 *     r <slot> <size>               reallocates
 *     f <slot>                      frees
 *     e                             frees all, the lowest slot first
 *     n <size>                      allocates <size> until there is no more, and frees all of that
 *     b <size> <alignment>          asks the allocator itself, past request_judge(), for more than
 *                                   the region has
 *
 * Every `n` of a list has the same size, and the heap is empty before it: each must get as many
 * blocks. After each operation it prints where the block lies, in bytes from the region's
 * beginning, or the number of blocks for `n`, or `-`. Last comes one line:
 *
 *     holds
 *     broken <rule> <number> <number>   the last operation broke a rule; the numbers say how
 *     died <signal>                     it did not return: 14 says after SECONDS, 0 a sanitizer
 *
 * The rules, and their numbers: misaligned (offset, alignment); outside (offset from the region, if
 * below it as 2^32 less); overlap (slot); small (usable bytes); contents (slot); status
 * (heap_status); refused_free (heap_status); lost (blocks before, blocks now); unsound
 * (allocator_check() fails); too_large (offset, bytes that were asked for).
 */
#define _DEFAULT_SOURCE /* sigaction, alternate stack */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "allocator.h"
#include "suite.h"

enum { SLOTS = 64, LINE_BYTES = 64, LONGEST_REGION = 1 << 20, MOST_BLOCKS = 1 << 14 };
enum { FILLING = SLOTS, NOBODY = 0xFF };

typedef struct {
    uint8_t *payload;
    size_t size;
    bool aligned;
} slot;

extern uint8_t heap_region[];

static slot slots[SLOTS];
static uint8_t owner[LONGEST_REGION]; /* of each byte of the region */
static uint8_t *filled[MOST_BLOCKS];
static size_t first_fill; /* blocks; 0 before the first */
static bool tells_usable, checks_heap;

/* Of an allocator behind an adapter (request.h). */
extern void *bare_allocate(size_t size) __attribute__((weak));
extern void *bare_allocate_aligned(size_t size, size_t alignment) __attribute__((weak));

static char *const *let_pass; /* the rules, up to a NULL */

static void broken(const char *rule, uintmax_t first, uintmax_t second) {
    for (char *const *passing = let_pass; *passing != NULL; passing++) {
        if (strcmp(*passing, rule) == 0) {
            return;
        }
    }
    printf("broken %s %ju %ju\n", rule, first, second);
    exit(1);
}

/* Where the allocator does not return. */

static void say_died(int number) {
    char line[] = "died 00\n";
    line[5] = (char)('0' + number / 10);
    line[6] = (char)('0' + number % 10);
    (void)!write(STDOUT_FILENO, line, sizeof line - 1);
    _exit(3);
}

static void sanitizer_died(void) {
    say_died(0);
}

extern void __sanitizer_set_death_callback(void (*callback)(void)) __attribute__((weak));

static void listen(void) {
    static const int numbers[] = {SIGALRM, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
    static uint8_t stack[1 << 16];
    const stack_t apart = {.ss_sp = stack, .ss_size = sizeof stack};
    struct sigaction action = {.sa_handler = say_died, .sa_flags = SA_ONSTACK};
    (void)sigaltstack(&apart, NULL);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        (void)sigaction(numbers[i], &action, NULL);
    }
    if (__sanitizer_set_death_callback != NULL) {
        __sanitizer_set_death_callback(sanitizer_died);
    }
}

/* Rules */

static uint8_t pattern(size_t number, size_t at) {
    return (uint8_t)(31 * number + 7 * at + 1);
}

static void fill(size_t number, uint8_t *payload, size_t size) {
    for (size_t at = 0; at < size; at++) {
        payload[at] = pattern(number, at);
    }
}

static bool is_whole(size_t number, const uint8_t *payload, size_t size) {
    size_t at = 0;
    while (at < size && payload[at] == pattern(number, at)) {
        at++;
    }
    return at == size;
}

static size_t offset(const uint8_t *payload) {
    return (uintptr_t)payload - (uintptr_t)heap_region;
}

static void own(const uint8_t *payload, size_t size, uint8_t who) {
    memset(owner + offset(payload), who, size);
}

/** A block that was got must be aligned, in the region, and nobody else's. */
static void take(uint8_t *payload, size_t size, size_t alignment, uint8_t who) {
    const size_t begin = offset(payload);
    if (begin >= heap_region_bytes() || size > heap_region_bytes() - begin) {
        broken("outside", begin, size);
    }
    if ((uintptr_t)payload % alignment != 0) {
        broken("misaligned", begin, alignment);
    }
    for (size_t at = begin; at < begin + size; at++) {
        if (owner[at] != NOBODY) {
            broken("overlap", owner[at], begin);
        }
    }
    if (tells_usable && allocator_usable_size(payload) < size) {
        broken("small", allocator_usable_size(payload), size);
    }
    own(payload, size, who);
    fill(who, payload, size);
}

static void look_around(void) {
    for (size_t number = 0; number < SLOTS; number++) {
        if (!is_whole(number, slots[number].payload, slots[number].size)) {
            broken("contents", number, 0);
        }
    }
    if (checks_heap && !heap_check()) {
        broken("unsound", 0, 0);
    }
}

/* Operations */

static void give_back(uint8_t *payload, size_t size) {
    own(payload, size, NOBODY);
    const heap_status status = heap_free(payload);
    if (status != HEAP_OK) {
        broken("refused_free", status, offset(payload));
    }
}

static void release(size_t number) {
    const slot was = slots[number];
    slots[number] = (slot){0};
    give_back(was.payload, was.size);
}

static void allocate(size_t number, size_t size, size_t alignment) {
    uint8_t *const payload =
        alignment == 0 ? heap_allocate(size) : heap_allocate_aligned(size, alignment);
    const heap_status status = heap_last_operation().status;
    if (status != (payload != NULL ? HEAP_OK : HEAP_OUT_OF_MEMORY)) {
        broken("status", status, payload != NULL);
    }
    if (payload != NULL) {
        take(payload, size, alignment < 8 ? 8 : alignment, (uint8_t)number);
        slots[number] = (slot){payload, size, alignment > 8};
    }
}

static void reallocate(size_t number, size_t size) {
    const slot was = slots[number];
    uint8_t *const payload = heap_reallocate(was.payload, size);
    const heap_status status = heap_last_operation().status;
    if (payload == NULL) {
        if (status != HEAP_OUT_OF_MEMORY && !(was.aligned && status == HEAP_UNSUPPORTED)) {
            broken("status", status, 0);
        }
        return;
    }
    own(was.payload, was.size, NOBODY);
    if (!is_whole(number, payload, size < was.size ? size : was.size)) {
        broken("contents", number, 0);
    }
    take(payload, size, 8, (uint8_t)number);
    slots[number] = (slot){payload, size, was.aligned && payload == was.payload};
}

static size_t fill_and_empty(size_t size) {
    size_t n = 0;
    while (n < MOST_BLOCKS && (filled[n] = heap_allocate(size)) != NULL) {
        take(filled[n++], size, 8, FILLING);
    }
    for (size_t i = 0; i < n; i++) {
        if (!is_whole(FILLING, filled[i], size)) {
            broken("contents", FILLING, offset(filled[i]));
        }
        give_back(filled[i], size);
    }
    return n;
}

static void count_fill(size_t size) {
    const size_t n = fill_and_empty(size);
    printf("%zu\n", n);
    if (first_fill != 0 && n != first_fill) {
        broken("lost", first_fill, n);
    }
    first_fill = n;
}

/** `size` is more than the region has, and 0 is the allocator's own alignment. */
static void ask_too_much(size_t size, size_t alignment) {
    const void *payload;
    if (alignment == 0) {
        payload = bare_allocate != NULL ? bare_allocate(size) : allocator_allocate(size).payload;
    } else {
        payload = bare_allocate_aligned != NULL
                      ? bare_allocate_aligned(size, alignment)
                      : allocator_allocate_aligned(size, alignment).payload;
    }
    if (payload != NULL) {
        broken("too_large", offset(payload), size);
    }
}

static void empty(void) {
    for (size_t number = 0; number < SLOTS; number++) {
        if (slots[number].payload != NULL) {
            release(number);
        }
    }
}

static void say_place(size_t number) {
    if (slots[number].payload != NULL) {
        printf("%zu\n", offset(slots[number].payload));
    } else {
        puts("-");
    }
}

static void operate(char kind, size_t number, size_t size, size_t alignment) {
    const bool live = number < SLOTS && slots[number].payload != NULL;
    if (kind == 'n') {
        count_fill(number); /* which is the size */
    } else if (kind == 'b') {
        ask_too_much(number, size);
        puts("-");
    } else if (kind == 'e') {
        empty();
        puts("-");
    } else {
        if (kind == 'a' && !live) {
            allocate(number, size, alignment);
        } else if (kind == 'r' && live) {
            reallocate(number, size);
        } else if (kind == 'f' && live) {
            release(number);
        }
        say_place(number);
    }
    look_around();
}

int main(int argc, char **argv) {
    char line[LINE_BYTES];
    const long within_s = argc >= 2 ? strtol(argv[1], NULL, 10) : 0;
    if (within_s <= 0) {
        fprintf(stderr, "judge: say for how many seconds.\n");
        return 2;
    }
    let_pass = argv + 2;
    setvbuf(stdout, NULL, _IOLBF, LINE_BYTES);
    tells_usable = allocator_promises("tells_usable");
    checks_heap = allocator_promises("checks_heap");
    memset(owner, NOBODY, sizeof owner);
    listen();
    (void)alarm((unsigned)within_s);
    puts("begin");
    heap_reset();
    while (fgets(line, sizeof line, stdin) != NULL) {
        char kind = 0;
        size_t words[3] = {0};
        if (sscanf(line, " %c %zu %zu %zu", &kind, &words[0], &words[1], &words[2]) >= 1) {
            operate(kind, words[0], words[1], words[2]);
        }
    }
    puts("holds");
    return 0;
}
