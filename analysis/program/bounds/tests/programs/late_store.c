/* A store to a peripheral behind a slow APB is still under way where the next function, or a
 * section, begins. */
#include "common.h"
volatile uint32_t sink;
void SVC_H(void) {
}
void PendSV_H(void) {
}
void SysTick_H(void) {
}
APART uint32_t inner(uint32_t *p) {
    __asm__ volatile("" ::: "memory");
    return *p;
}
uint32_t word;
APART void section(void) {
    MASK;
    sink = word;
    UNMASK;
}
APART void through(void) {
    MASK;
    REGISTER(0x40000024) = 1;
    inner(&word);
    UNMASK;
}
APART void before(void) {
    REGISTER(0x40000024) = 1;
    section();
}
/* A short way and a long one lead to its section; on the long one the store comes to its end. */
__asm__(
    ".type either, %function\n.thumb_func\neither:\n    cmp r0, #0\n    beq 1f\n"
    ".rept 43\n    nop\n.endr\n    b 2f\n1:  nop\n"
    "2:  cpsid i\n    push {r0}\n    pop {r0}\n    cpsie i\n    bx lr\n.size either, . - either\n");
void either(uint32_t);
volatile uint32_t choice;
APART void before_either(void) {
    uint32_t way = choice;
    REGISTER(0x40000024) = 1;
    either(way);
}
int main(void) {
    REGISTER(0x40023840) |= 1u | 1u << 28;
    REGISTER(0x40023808) |= 7u << 10;
    for (int pass = 0; pass < 3; pass++) {
        through();
        before();
        choice = pass & 1;
        before_either();
    }
    return 0;
}
