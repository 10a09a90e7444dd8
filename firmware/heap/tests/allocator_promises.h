/** What the catalogue says that the allocator under test promises. */
#ifndef TAILSCOPE_HEAP_TESTS_ALLOCATOR_PROMISES_H
#define TAILSCOPE_HEAP_TESTS_ALLOCATOR_PROMISES_H

#include <stdbool.h>

/**
 * True if it promises `what`, a word of heap/catalogue.toml, or "block_layer" for an index.
 * Otherwise says on stdout, once for each word, that this is left out.
 */
bool allocator_promises(const char *what);

/**
 * True of an allocator from outside: what it does not promise it may do nevertheless, so that
 * nobody asks it to refuse that.
 */
bool allocator_may_do_more(void);

#endif
