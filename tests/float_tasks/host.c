/* The same work without tasks or interrupts, on the host. */
#include <stdio.h>

#include "work.h"

static void nothing(void) {
}

int main(void) {
    for (unsigned index = 0; index < WORKS; index++) {
        printf("work %u %08lx\n", index, (unsigned long)work(index, nothing));
    }
    return 0;
}
