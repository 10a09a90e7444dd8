/**
 * The file that the recorder fills and recording/raw.py reads: a page, then records in the order in
 * which the program's threads claimed them. It is sparse, and mapped as a whole.
 *
 * It lies in memory that is shared with the kernel's page cache: what is written stays, however the
 * process ends, and though it closes all its descriptors.
 */
#ifndef TAILSCOPE_RECORDING_FILE_H
#define TAILSCOPE_RECORDING_FILE_H

#include <stdatomic.h>
#include <stdint.h>

#define RECORDING_MAGIC UINT64_C(0x314d454854534c54) /* "TLSTHEM1" */
#define RECORDING_HEAD_BYTES 4096u
#define RECORDING_PROGRAM_BYTES 1024u

/** What a record tells. 0 is one that was claimed and never written: its thread was ended. */
typedef enum {
    RECORDING_NOTHING,
    RECORDING_ALLOCATED, /* after the allocation: `block` is served */
    RECORDING_FREEING,   /* before the free: nobody else can have got `block` again */
    RECORDING_MOVING,    /* before a reallocation of `block` */
    RECORDING_MOVED,     /* after it: to `block`, or nowhere (0); `origin` is its MOVING */
} recording_kind;

/** 24 bytes. `kind` is written last. */
typedef struct {
    uint64_t block;
    uint64_t size;
    uint32_t origin;
    uint8_t alignment_log2; /* as asked; 0: not asked */
    uint8_t reserved[2];
    _Atomic uint8_t kind;
} recording_record;

/** The first page. */
typedef struct {
    uint64_t magic;
    uint64_t capacity;        /* of records */
    _Atomic uint64_t claimed; /* may be more than there is room for */
    uint32_t process, parent;
    char program[RECORDING_PROGRAM_BYTES]; /* the executable's path, ended by NUL */
} recording_head;

_Static_assert(sizeof(recording_record) == 24, "raw.py reads records of 24 bytes");
_Static_assert(sizeof(recording_head) <= RECORDING_HEAD_BYTES, "the head is a page");

/**
 * Counts an operation and returns its number, from 0; UINT32_MAX if nothing is recorded. Opens the
 * process's file first if it has none: each address space has one of its own, so a fork begins
 * another. Leaves errno as it was, takes no lock that a signal handler could wait for.
 */
uint32_t recording_enter(recording_kind kind, const void *block, uint64_t size,
                         unsigned alignment_log2, uint32_t origin);

#endif
