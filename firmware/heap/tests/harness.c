#include "suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static unsigned checks;
static unsigned failures;

void harness_check(bool holds, const char *what, const char *file, int line) {
    checks++;
    if (!holds) {
        failures++;
        printf("%s:%d: %s does not hold\n", file, line, what);
    }
}

void harness_check_equal(uintmax_t found, uintmax_t wanted, const char *what, const char *file,
                         int line) {
    checks++;
    if (found != wanted) {
        failures++;
        printf("%s:%d: %s is %lu, not %lu\n", file, line, what, (unsigned long)found,
               (unsigned long)wanted);
    }
}

static const struct {
    const char *name;
    void (*run)(void);
} suites[] = {
    {"requests", test_requests},
    {"contents", test_contents},
    {"recovery", test_recovery},
    {"account", test_account},
    {"reallocation", test_reallocation},
    {"markers", test_markers},
    {"limits", test_limits},
#ifdef TAILSCOPE_TEST_BUDDY
    {"buddy", test_buddy},
#endif
#ifdef TAILSCOPE_TEST_POOL
    {"pool", test_pool},
#endif
#ifdef TAILSCOPE_TEST_REFUSALS
    {"refusals", test_refusals},
    {"fit", test_fit},
#endif
#ifdef TAILSCOPE_TEST_SHORT_HEADER
    {"short_header", test_short_header},
#endif
#ifdef TAILSCOPE_TEST_CHECKER
    {"checker", test_checker},
#endif
#ifdef TAILSCOPE_TEST_PROBES
    {"probes", test_probes},
#endif
};

unsigned harness_run(const char *name) {
    unsigned run = 0;
    for (size_t i = 0; i < sizeof suites / sizeof *suites; i++) {
        if (name == NULL || strcmp(suites[i].name, name) == 0) {
            checks = failures = 0;
            suites[i].run();
            printf("%s: %u assertions, %u failed\n", suites[i].name, checks, failures);
            run += checks != 0 && failures == 0;
        }
    }
    return run;
}

#ifndef TAILSCOPE_ON_TARGET
/** Runs the suite that is named, or lists all. */
int main(int argc, char **argv) {
    shadow_take_alignment(getenv("TAILSCOPE_ALIGNS_TO"));
    for (size_t i = 0; argc == 1 && i < sizeof suites / sizeof *suites; i++) {
        puts(suites[i].name);
    }
    return argc != 1 && harness_run(argv[1]) != 1;
}
#endif
