#define _GNU_SOURCE
#include "recording_file.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define MOST_PROCESSES 256
#define PATH_BYTES 512u

enum { NOT_OPEN, OPENING, OPEN, OFF };

/* What belongs to one address space: the kernel clears the page in the child of a fork, and not in
 * that of a vfork, which runs in its parent's memory. */
typedef struct {
    _Atomic int phase;
    recording_head *head;
    recording_record *records;
} recording;

static _Atomic(recording *) recording_here;
static char folder[PATH_BYTES];
static uint64_t capacity;
static __thread bool opening __attribute__((tls_model("initial-exec")));

/** Reads what to do from the environment, which a program may change later. */
static void read_environment(void) {
    const char *const where = getenv("TAILSCOPE_RECORD_FOLDER");
    const char *const most = getenv("TAILSCOPE_RECORD_MOST");
    if (where != NULL && most != NULL && strlen(where) < sizeof folder) {
        capacity = strtoull(most, NULL, 10);
        strcpy(folder, where);
    }
}

/* The file */

/** A file that nobody has yet: 1, 2, … in order of time. -1 if there are too many or none can be.
 */
static int create(void) {
    char path[PATH_BYTES + 16];
    for (int number = 1; number <= MOST_PROCESSES; number++) {
        (void)snprintf(path, sizeof path, "%s/%d", folder, number);
        const int file = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
        if (file >= 0 || errno != EEXIST) {
            return file;
        }
    }
    return -1;
}

/**
 * A mapped file that finds no room on the disk ends the program, as does one that grows beyond the
 * program's limit: so there must be enough.
 */
static bool has_room(int file, uint64_t bytes) {
    struct statvfs disk;
    struct rlimit limit;
    return getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur > bytes &&
           fstatvfs(file, &disk) == 0 && (uint64_t)disk.f_bavail * disk.f_frsize > 2 * bytes;
}

static bool map_recording(int file, recording *mine) {
    const uint64_t bytes = RECORDING_HEAD_BYTES + capacity * sizeof(recording_record);
    if (!has_room(file, bytes) || ftruncate(file, (off_t)bytes) != 0) {
        return false;
    }
    char *const start =
        mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, file, 0);
    if (start == MAP_FAILED) {
        return false;
    }
    mine->head = (recording_head *)(void *)start;
    mine->records = (recording_record *)(void *)(start + RECORDING_HEAD_BYTES);
    return true;
}

static void introduce(recording_head *head) {
    head->capacity = capacity;
    head->process = (uint32_t)getpid();
    head->parent = (uint32_t)getppid();
    (void)!readlink("/proc/self/exe", head->program, sizeof head->program - 1);
    head->magic = RECORDING_MAGIC;
}

static bool open_file(recording *mine) {
    if (folder[0] == '\0') {
        read_environment();
    }
    const int file = folder[0] == '\0' ? -1 : create();
    const bool mapped = file >= 0 && map_recording(file, mine);
    if (file >= 0) {
        (void)close(file);
    }
    if (mapped) {
        introduce(mine->head);
    }
    return mapped;
}

/* The recording of this address space */

/** The page that a fork clears, made by whoever is first. NULL if the kernel has no such page. */
static recording *page(void) {
    recording *found = atomic_load(&recording_here);
    if (found != NULL) {
        return found;
    }
    void *const made =
        mmap(NULL, sizeof *found, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (made == MAP_FAILED) {
        return NULL;
    }
    if (madvise(made, sizeof *found, MADV_WIPEONFORK) != 0 ||
        !atomic_compare_exchange_strong(&recording_here, &found, made)) {
        (void)munmap(made, sizeof *found);
        return found; /* NULL, or another thread's */
    }
    return made;
}

/** NULL while it is being opened by this very thread, and where it cannot be. */
static recording *current(void) {
    if (environ == NULL) {
        return NULL; /* the loader's own allocations come before the library has it */
    }
    recording *const mine = page();
    int phase = mine == NULL ? OFF : atomic_load_explicit(&mine->phase, memory_order_acquire);
    while (phase != OPEN) {
        if (phase == OFF || opening) {
            return NULL;
        }
        int expected = NOT_OPEN;
        opening = true; /* before the claim: a signal's handler in between must not wait for it */
        if (atomic_compare_exchange_strong(&mine->phase, &expected, OPENING)) {
            const int error = errno;
            atomic_store_explicit(&mine->phase, open_file(mine) ? OPEN : OFF, memory_order_release);
            errno = error;
        }
        opening = false;
        phase = atomic_load_explicit(&mine->phase, memory_order_acquire);
        if (phase == OPENING) {
            (void)sched_yield();
        }
    }
    return mine;
}

uint32_t recording_enter(recording_kind kind, const void *block, uint64_t size,
                         unsigned alignment_log2, uint32_t origin) {
    recording *const mine = current();
    if (mine == NULL) {
        return UINT32_MAX;
    }
    const uint64_t number = atomic_fetch_add(&mine->head->claimed, 1);
    if (number >= capacity) {
        return UINT32_MAX;
    }
    recording_record *const record = &mine->records[number];
    record->block = (uintptr_t)block;
    record->size = size;
    record->origin = origin;
    record->alignment_log2 = (uint8_t)alignment_log2;
    atomic_store_explicit(&record->kind, (uint8_t)kind, memory_order_release);
    return (uint32_t)number;
}
