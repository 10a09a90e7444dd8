/* A section whose function returns to an address that it wrote over its own on the stack. */
#include "common.h"
volatile uint32_t sink;
void SVC_H(void) {
}
void PendSV_H(void) {
}
void SysTick_H(void) {
}
__attribute__((naked, used)) void elsewhere(void) {
    __asm__ volatile("movs r0, #200\n 1: subs r0, #1\n bne 1b\n cpsie i\n bx lr");
}
__attribute__((naked, noinline)) static void leaves(void) {
    __asm__ volatile(
        "push {r4, lr}\n ldr r0, =elsewhere + 1\n str r0, [sp, #4]\n pop {r4, pc}\n .ltorg");
}
APART static void section(int often) {
    MASK;
    if (often & 1) {
        leaves();
    } else {
        UNMASK;
    }
}
int main(void) {
    for (int pass = 0; pass < 3; pass++) {
        section(pass);
    }
    return 0;
}
