/* Several words at once from a place in the flash that the code does not show, at each of a line's.
 */
#include "common.h"
#define SECTION(first) \
    APART static void from##first(uint32_t lap) { \
        const uint32_t *from = &constants[4u * (lap & 3u) + first]; \
        __asm__ volatile( \
            "cpsid i\n movs r7, #20\n1: ldm %0, {r0-r4}\n nop\n subs r7, #1\n bne 1b\n cpsie i" :: \
                "r"(from) \
            : "r0", "r1", "r2", "r3", "r4", "r7", "memory"); \
    }
#define CALL(first) from##first(pass);
#define EACH(of) of(0) of(1) of(2) of(3)
static const uint32_t constants[24] __attribute__((aligned(16)));
EACH(SECTION)
void SVC_H(void) {
}
void PendSV_H(void) {
}
void SysTick_H(void) {
}
int main(void) {
    for (volatile uint32_t lap = 0; lap < 4; lap++) {
        uint32_t pass = lap;
        EACH(CALL)
    }
    return 0;
}
