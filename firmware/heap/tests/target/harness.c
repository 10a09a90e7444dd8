/* harness.h for the target: all suites one after another, each with a line of its own. */
#include "harness.h"

#include <stdio.h>

#include "console.h"

static unsigned checks;
static unsigned failures;

static void fail(const char *file, int line, const char *what) {
    failures++;
    printf("%s:%d: ", file, line);
    console_write(what); /* of any length */
}

void harness_check(bool holds, const char *what, const char *file, int line) {
    checks++;
    if (!holds) {
        fail(file, line, what);
        console_write(" does not hold\n");
    }
}

void harness_check_equal(uintmax_t found, uintmax_t wanted, const char *what, const char *file,
                         int line) {
    checks++;
    if (found != wanted) {
        fail(file, line, what);
        printf(" is %lu, not %lu\n", (unsigned long)found, (unsigned long)wanted);
    }
}

static const struct {
    const char *name;
    void (*run)(void);
} suites[] = {
    {"requests", test_requests}, {"contents", test_contents},         {"recovery", test_recovery},
    {"account", test_account},   {"reallocation", test_reallocation}, {"markers", test_markers},
    {"limits", test_limits},
};

void harness_run_all(void) {
    for (size_t i = 0; i < sizeof suites / sizeof *suites; i++) {
        checks = failures = 0;
        suites[i].run();
        printf("%s: %u assertions, %u failed\n", suites[i].name, checks, failures);
    }
}
