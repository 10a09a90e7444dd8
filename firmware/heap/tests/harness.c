#include "harness.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shadow.h"

static unsigned checks;
static unsigned failures;

void harness_check(bool holds, const char *what, const char *file, int line) {
    checks++;
    if (!holds) {
        failures++;
        fprintf(stderr, "%s:%d: %s does not hold\n", file, line, what);
    }
}

void harness_check_equal(uintmax_t found, uintmax_t wanted, const char *what, const char *file,
                         int line) {
    checks++;
    if (found != wanted) {
        failures++;
        fprintf(stderr, "%s:%d: %s is %ju, not %ju\n", file, line, what, found, wanted);
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
#ifdef TAILSCOPE_TEST_COMPACT
    {"compact", test_compact},
#endif
#ifdef TAILSCOPE_TEST_POOL
    {"pool", test_pool},
#endif
#ifdef TAILSCOPE_TEST_BLOCKS
    {"before_reset", test_before_reset},
    {"blocks", test_blocks},
    {"refusals", test_refusals},
    {"aligned", test_aligned},
    {"statistics", test_statistics},
#ifdef TAILSCOPE_TEST_SHORT_HEADER
    {"short_header", test_short_header},
#else
    {"checker", test_checker},
#endif
    {"fit", test_fit},
    {"probes", test_probes},
    {"churn", test_churn},
#endif
};

int main(int argc, char **argv) {
    shadow_take_alignment(getenv("TAILSCOPE_ALIGNS_TO"));
    for (size_t i = 0; argc == 2 && i < sizeof suites / sizeof *suites; i++) {
        if (strcmp(suites[i].name, argv[1]) == 0) {
            suites[i].run();
            printf("%s: %u assertions, %u failed\n", argv[1], checks, failures);
            return checks == 0 || failures != 0;
        }
    }
    fprintf(stderr, "name one suite; CMakeLists.txt lists them.\n");
    return 2;
}
