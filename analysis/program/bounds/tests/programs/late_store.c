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
int main(void) {
    REGISTER(0x40023840) |= 1u | 1u << 28;
    REGISTER(0x40023808) |= 7u << 10;
    for (int pass = 0; pass < 3; pass++) {
        through();
        before();
    }
    return 0;
}
