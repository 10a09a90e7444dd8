#include "suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "heap.h"

enum { WORDS_LIMIT = 24, WORD_BYTES = 24 };

/** Every word stands between two spaces. */
static bool is_listed(const char *what) {
    char word[WORD_BYTES];
    if ((size_t)snprintf(word, sizeof word, " %s ", what) >= sizeof word) {
        abort();
    }
    return strstr(TAILSCOPE_PROMISES, word) != NULL;
}

static void say_once(const char *what) {
    static const char *said[WORDS_LIMIT];
    size_t n = 0;
    while (n < WORDS_LIMIT && said[n] != NULL && strcmp(said[n], what) != 0) {
        n++;
    }
    if (n < WORDS_LIMIT && said[n] == NULL) {
        said[n] = what;
        printf("left out: %s does not promise %s\n", heap_allocator_name(), what);
    }
}

bool allocator_may_do_more(void) {
    return is_listed("outside");
}

bool allocator_promises(const char *what) {
    const bool listed = is_listed(what);
    if (!listed) {
        say_once(what);
    }
    return listed;
}
