/* Instructions that do not do quite what their names say, or what another does. */
#include "common.h"
volatile uint32_t words[4];
void SVC_H(void) {
}
void PendSV_H(void) {
}
void SysTick_H(void) {
}
#define SECTION(name, code) \
    __attribute__((naked, noinline)) static void name(void) { \
        __asm__ volatile("push {r4, r5, r6, r7, lr}\n ldr r4, =words\n cpsid i\n" code \
                         "\n cpsie i\n pop {r4, r5, r6, r7, pc}\n .ltorg"); \
    }
/* A CMN with 0 has no carry; a CMP with it has. */
SECTION(carry, "movs r0, #1\n cmn.w r0, #0\n blo 1f\n b 2f\n 1: .rept 60\n nop.w\n .endr\n 2:")
/* It overflows with the least number where a CMP does not. */
SECTION(overflow,
        "movs r0, #1\n cmn.w r0, #0x80000000\n blt 1f\n b 2f\n 1: .rept 60\n nop.w\n .endr\n 2:")
/* The sign of the difference is another than that of the comparison. */
SECTION(far_apart,
        "ldr r0, =0x7bffff00\n ldr r1, =-512\n 1: add r0, r0, #0x04000000\n cmp r0, r1\n bmi 1b")
/* The last byte of 256 shifts by nothing. */
SECTION(
    shifted,
    "movs r0, #90\n mov.w r1, #256\n lsl.w r0, r0, r1\n cbz r0, 2f\n 1: subs r0, #1\n bne 1b\n 2:")
/* Behind VPUSH the stack pointer is another. */
SECTION(stacked,
        "movs r0, #2\n movs r1, #90\n push {r0}\n push {r1}\n vpush {s0}\n ldr r0, [sp, #4]\n"
        "1: subs r0, #1\n bne 1b\n vpop {s0}\n pop {r0, r1}")
SECTION(unprivileged, ".rept 3\n strb r0, [r4]\n ldrbt r0, [r4]\n movs r1, #1\n strb r0, [r4]\n "
                      "ldrsbt r0, [r4]\n movs r1, #1\n"
                      "strh r0, [r4]\n ldrht r0, [r4]\n movs r1, #1\n strh r0, [r4]\n ldrsht r0, "
                      "[r4]\n movs r1, #1\n .endr")
/* The entry is in the line behind that of the word: a table begins where the branch ends. */
SECTION(table,
        ".balign 16\n movs r0, #14\n ldr.w r2, [pc, #16]\n cmp r0, #15\n bhi 2f\n nop\n nop\n"
        "tbb [pc, r0]\n 1: .rept 16\n .byte (2f - 1b) / 2\n .endr\n 2:")
/* LDMDB reads below its base: in the line before that of the word. */
SECTION(downward,
        "b 2f\n .balign 16\n .word 1, 2, 3, 4\n 1: .word 5, 6, 7, 8\n 2: ldr r0, =1b\n .rept 2\n"
        "ldr r1, [r0]\n ldmdb r0, {r2, r3}\n .endr")
int main(void) {
    for (int pass = 0; pass < 3; pass++) {
        carry();
        downward();
        overflow();
        far_apart();
        shifted();
        stacked();
        unprivileged();
        table();
    }
    return 0;
}
