/** What every suite stands on. */
#ifndef TAILSCOPE_SUITE_H
#define TAILSCOPE_SUITE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * A test harness in a page: assertions that are counted, and suites that run one to a process.
 */

/** Counts an assertion; on failure says where and what. */
#define CHECK(condition) harness_check((condition), #condition, __FILE__, __LINE__)

/** As CHECK, and on failure says both numbers. */
#define CHECK_EQUAL(found, wanted) \
    harness_check_equal((uintmax_t)(found), (uintmax_t)(wanted), #found, __FILE__, __LINE__)

void harness_check(bool holds, const char *what, const char *file, int line);
void harness_check_equal(uintmax_t found, uintmax_t wanted, const char *what, const char *file,
                         int line);

/**
 * Runs the suite that is called `name`, or, NULL, all one after another, and says how each ended.
 * Returns how many held.
 */
unsigned harness_run(const char *name);

/* The suites. */
void test_requests(void);
void test_contents(void);
void test_recovery(void);
void test_account(void);
void test_reallocation(void);
void test_markers(void);
void test_limits(void);

/* Only where the allocator has the format that these look at. */
void test_buddy(void);
void test_pool(void);
void test_short_header(void);

/* Only where the allocator is an index on the block layer: these look at its headers. */
void test_refusals(void);
void test_checker(void);
void test_fit(void);
void test_probes(void);

/*
 * What the catalogue says that the allocator under test promises.
 */

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

/*
 * A shadow of the heap: which blocks are live, what was asked for and what was written into
 * each. It knows nothing of the allocator's format.
 */

/** Blocks that may live at once. */
#ifndef TAILSCOPE_SHADOW_LIMIT
#define TAILSCOPE_SHADOW_LIMIT 8192
#endif
/** Operations of a churn that looks at every block after every operation. */
#ifndef TAILSCOPE_CHURN_OPERATIONS
#define TAILSCOPE_CHURN_OPERATIONS 4000
#endif
enum { SHADOW_LIMIT = TAILSCOPE_SHADOW_LIMIT };

/**
 * What payloads are held to where no more was asked for, a number in decimal; NULL: 8 bytes, as the
 * contract says. So an allocator that aligns to 4 is tried on all other rules too.
 */
void shadow_take_alignment(const char *bytes);

/** Forgets every block and resets the heap. */
void shadow_reset(void);

size_t shadow_live(void);

/** Allocates and fills; false if there was no memory. Asserts alignment, usable size and status. */
bool shadow_allocate(size_t size, size_t alignment, uint8_t fill);

/**
 * Asserts that block `chosen` still holds what was written, and frees it. The last block takes its
 * place.
 */
void shadow_free(size_t chosen);

/** Frees all in an order drawn from `seed`. */
void shadow_free_all(uint32_t seed);

/**
 * Reallocates, and fills what is new; false if there was no memory. Asserts that the content came
 * along.
 */
bool shadow_reallocate(size_t chosen, size_t size);

/**
 * Asserts that no two live blocks overlap, that all lie in one region, and that each holds what was
 * written.
 */
void shadow_check(void);

/** Sum of what the allocator says the live blocks can hold. */
size_t shadow_usable_bytes(void);

/*
 * The host's port.h: no interrupts, but it counts locks and markers and notices when they do
 * not pair.
 */

typedef struct {
    uint32_t locks;
    uint32_t marker_pairs;
    uint32_t depth; /**< locks not yet released */
    bool inside;    /**< between the begin and the end marker */
    bool misused;   /**< a marker outside a lock, an end without begin, an unlock out of order */
} port_stub_record;

port_stub_record port_stub_read(void);

/** Whether a requirement does not hold in `call` (require.h), which then does not return. */
bool port_stub_requirement_fails(void (*call)(void));

/**
 * How far each read of the stub's cycle counter advances it; the first read after start-up returns
 * 0.
 */
#define PORT_STUB_CYCLES_PER_READ 7u

#endif
