/* Loops in which the unit that fetches reads a line ahead before one of data, or behind it, while
 * nobody knows how far it is: behind a division, and behind a load under a condition. Each is at
 * each place of a line, and takes as long as it can. */
#include "common.h"
#define SECTION(name, nops, ...) \
    __asm__(".balign 16\n.type " #name #nops ", %function\n.thumb_func\n" #name #nops ":\n" \
            "    cpsid i\n    movs r3, #20\n.rept " #nops "\n    nop\n.endr\n" \
            "1:  " __VA_ARGS__ "\n    subs r3, #1\n    bne 1b\n    cpsie i\n    bx lr\n" \
            ".balign 16\n2:  .word 0\n.balign 16\n3:  .word 0\n.balign 16\n4:  .word 0\n" \
            ".size " #name #nops ", . - " #name #nops "\n"); \
    void name##nops(uint32_t, uint32_t);
#define SECTIONS(nops) \
    SECTION(divided, nops, "udiv r0, r0, r1; ldr r2, 2f; ldr r2, 3f") \
    SECTION(loaded, nops, \
            "it ne; ldrne.w r2, [sp]; ldr.w r2, 4f; ldr r2, 2f; ldr.w r2, 3f; mrs r2, primask;" \
            "add.w r2, r2, #1; add.w r2, r2, #1; ldr.w r2, 3f; mrs r2, primask")
#define CALLS(nops) divided##nops(dividend, divisor), loaded##nops(dividend, divisor);
#define EACH(of) of(0) of(1) of(2) of(3) of(4) of(5) of(6) of(7)
EACH(SECTIONS)
volatile uint32_t dividend = 0xFFFFFFFFu, divisor = 1;
void SVC_H(void) {
}
void PendSV_H(void) {
}
void SysTick_H(void) {
}
int main(void) {
    for (int pass = 0; pass < 3; pass++) {
        EACH(CALLS)
    }
    return 0;
}
