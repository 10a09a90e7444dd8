/**
 * A program whose heap operations are known. With a word it does one of the things below, and says
 * on standard output what it did, in the form of a trace. It says so by write(2), which allocates
 * nothing, so these are all of its operations.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static void put(const char *text) {
    if (write(1, text, strlen(text)) < 0) {
        _exit(9);
    }
}

static void put_number(unsigned long number) {
    char digits[24] = {0};
    char *at = digits + sizeof digits - 1;
    do {
        *--at = (char)('0' + number % 10);
        number /= 10;
    } while (number != 0);
    put(at);
}

static void say(char kind, unsigned long block, unsigned long size, unsigned long alignment) {
    const char line[] = {kind, ',', 0};
    put(line);
    put_number(block);
    if (kind != 'f') {
        put(",");
        put_number(size);
    }
    if (alignment != 0) {
        put(",");
        put_number(alignment);
    }
    put("\n");
}

static void *volatile kept[64]; /* volatile: the compiler must not drop a pair of calls */

/** Every function once. */
static int calls(void) {
    kept[1] = malloc(101);
    say('a', 1, 101, 0);
    kept[2] = calloc(7, 13);
    say('a', 2, 91, 0);
    kept[1] = realloc(kept[1], 5001);
    say('r', 1, 5001, 0);
    kept[3] = reallocarray(NULL, 3, 19);
    say('a', 3, 57, 0);
    kept[3] = reallocarray(kept[3], 6, 19);
    say('r', 3, 114, 0);
    kept[4] = aligned_alloc(64, 128);
    say('a', 4, 128, 64);
    void *block;
    if (posix_memalign(&block, 32, 77) != 0) {
        return 1;
    }
    kept[5] = block;
    say('a', 5, 77, 32);
    kept[6] = memalign(256, 300);
    say('a', 6, 300, 256);
    kept[7] = valloc(999);
    say('a', 7, 999, (unsigned long)sysconf(_SC_PAGESIZE));
    free(NULL);
    free(kept[2]);
    say('f', 2, 0, 0);
    kept[8] = malloc(0); /* a block of its own: in a trace the least there is */
    say('a', 8, 1, 0);
    kept[8] = realloc(kept[8], 0); /* glibc frees then */
    say('f', 8, 0, 0);
    for (unsigned long i = 3; i <= 7; i++) {
        free(kept[i]);
        say('f', i, 0, 0);
    }
    return 0;
}

/** What fails leaves no line, and the block of a failed reallocation lives on. */
static int refusals(void) {
    const volatile size_t impossible = PTRDIFF_MAX;
    const volatile size_t half = SIZE_MAX / 2;
    kept[0] = malloc(impossible);
    kept[0] = calloc(half, 3);
    kept[1] = malloc(24);
    say('a', 1, 24, 0);
    errno = 0;
    if (realloc(kept[1], impossible) != NULL || errno != ENOMEM) {
        return 1;
    }
    if (reallocarray(kept[1], half, 3) != NULL) {
        return 1;
    }
    errno = 77;
    free(kept[1]);
    say('f', 1, 0, 0);
    return errno == 77 ? 0 : 1;
}

/* Blocks that go from thread to thread */

enum { THREADS = 8, ROUNDS = 4000, PLACES = 32 };
static _Atomic(void *) places[PLACES];
static atomic_ulong allocated_bytes, allocations, frees, moves;

static void *churn(void *given) {
    uint32_t random = (uint32_t)(uintptr_t)given * 2654435761u + 1;
    for (int i = 0; i < ROUNDS; i++) {
        random ^= random << 13, random ^= random >> 17, random ^= random << 5;
        const size_t size = 100000 + random % 4096; /* no library's sizes */
        void *block = malloc(size);
        atomic_fetch_add(&allocations, 1);
        atomic_fetch_add(&allocated_bytes, size);
        if (random % 7 == 0) {
            block = realloc(block, size + 200000);
            atomic_fetch_add(&moves, 1);
        }
        block = atomic_exchange(&places[random % PLACES], block);
        if (block != NULL) {
            free(block);
            atomic_fetch_add(&frees, 1);
        }
    }
    return NULL;
}

static int threads(void) {
    pthread_t ids[THREADS];
    for (uintptr_t i = 0; i < THREADS; i++) {
        if (pthread_create(&ids[i], NULL, churn, (void *)(i + 1)) != 0) {
            return 1;
        }
    }
    for (int i = 0; i < THREADS; i++) {
        (void)pthread_join(ids[i], NULL);
    }
    const unsigned long numbers[] = {allocations, allocated_bytes, moves, frees};
    for (int i = 0; i < 4; i++) {
        put_number(numbers[i]);
        put(i < 3 ? "," : "\n");
    }
    return 0;
}

/* Processes */

/** The parent's lines go to standard output, the child's come after it has ended. */
static int forks(void) {
    kept[1] = malloc(111);
    kept[2] = malloc(222);
    kept[3] = malloc(333);
    /* The second way goes past what the C library tells its users of forks. */
    const pid_t child = getenv("RAW_FORK") == NULL ? fork() : (pid_t)syscall(SYS_fork);
    if (child == 0) {
        free(kept[1]);
        kept[4] = malloc(444);
        kept[2] = realloc(kept[2], 555); /* a block of its parent's, and now its own */
        free(kept[2]);
        _exit(0);
    }
    int status;
    (void)waitpid(child, &status, 0);
    free(kept[3]);
    return status;
}

static int executes(const char *self) {
    kept[1] = malloc(123);
    (void)execl(self, self, "calls", (char *)NULL);
    return 1;
}

static int spawns(void) {
    kept[1] = malloc(111);
    const pid_t child = vfork();
    if (child == 0) {
        (void)execl("/bin/true", "true", (char *)NULL);
        _exit(1);
    }
    int status;
    (void)waitpid(child, &status, 0);
    free(kept[1]);
    say('a', 1, 111, 0);
    say('f', 1, 0, 0);
    return status;
}

/* Ends */

static int killed(void) {
    kept[1] = malloc(24);
    say('a', 1, 24, 0);
    free(kept[1]);
    say('f', 1, 0, 0);
    (void)raise(SIGKILL);
    return 1;
}

static int closes(void) {
    for (int file = 0; file < 1024; file++) {
        if (file != 1) {
            (void)close(file);
        }
    }
    kept[1] = malloc(24);
    say('a', 1, 24, 0);
    return 0;
}

static void in_handler(int number) {
    kept[number] = malloc(48);
}

static int handles(void) {
    (void)signal(SIGUSR1, in_handler);
    (void)raise(SIGUSR1);
    say('a', 1, 48, 0);
    return 0;
}

static void at_the_end(void) {
    kept[9] = malloc(96);
    say('a', 2, 96, 0);
}

static int ends(void) {
    (void)atexit(at_the_end);
    kept[1] = malloc(12);
    say('a', 1, 12, 0);
    return 3;
}

/* Before main */

__attribute__((constructor)) static void early(void) {
    if (getenv("ALLOCATE_EARLY") != NULL) {
        kept[10] = malloc(40);
        say('a', 1, 40, 0);
    }
}

int main(int count, char **words) {
    const char *const what = count > 1 ? words[1] : "";
    if (strcmp(what, "calls") == 0) {
        return calls();
    }
    if (strcmp(what, "refusals") == 0) {
        return refusals();
    }
    if (strcmp(what, "threads") == 0) {
        return threads();
    }
    if (strcmp(what, "forks") == 0) {
        return forks();
    }
    if (strcmp(what, "executes") == 0) {
        return executes(words[0]);
    }
    if (strcmp(what, "spawns") == 0) {
        return spawns();
    }
    if (strcmp(what, "killed") == 0) {
        return killed();
    }
    if (strcmp(what, "closes") == 0) {
        return closes();
    }
    if (strcmp(what, "handles") == 0) {
        return handles();
    }
    if (strcmp(what, "ends") == 0) {
        return ends();
    }
    return strcmp(what, "nothing") == 0 ? 0 : 2;
}
