/** A test harness in a page: assertions that are counted, and suites that run one to a process. */
#ifndef TAILSCOPE_HEAP_TESTS_HARNESS_H
#define TAILSCOPE_HEAP_TESTS_HARNESS_H

#include <stdbool.h>
#include <stdint.h>

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

#endif
