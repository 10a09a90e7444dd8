/**
 * A FreeRTOS project's heap_x.c as it is. Macros rename its functions, and its ucHeap is the
 * facade's region (outside.cmake). One that has no vPortHeapResetState() has its variables put
 * back to what they were before the first reset; the firmware resets once, and keeps nothing.
 */
#include TAILSCOPE_OUTSIDE_FILE

#ifdef OUTSIDE_KEEPS_VARIABLES
#include "outside_variables.h" /* OUTSIDE_VARIABLES(f): f of each; firmware/build/outside.py writes it */

#ifdef TAILSCOPE_RESETS_ONCE
void vPortHeapResetState(void) {
}
#else
#define SIZE_OF(variable) +sizeof(variable)
#define SAVE(variable) \
    __builtin_memcpy(at, &variable, sizeof(variable)); \
    at += sizeof(variable);
#define RESTORE(variable) \
    __builtin_memcpy((void *)&variable, at, sizeof(variable)); \
    at += sizeof(variable);

void vPortHeapResetState(void) {
    static unsigned char at_start[1 OUTSIDE_VARIABLES(SIZE_OF)];
    static int is_saved;
    unsigned char *at = at_start;
    if (is_saved) {
        OUTSIDE_VARIABLES(RESTORE)
    } else {
        OUTSIDE_VARIABLES(SAVE)
        is_saved = 1;
    }
}
#endif
#endif
