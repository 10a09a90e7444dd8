/* Loads from the STM32F407's SRAM2, one by one, and from the stack, which lies there, too. */
#include "common.h"
volatile uint32_t sink;
void SVC_H(void) {
}
void PendSV_H(void) {
}
void SysTick_H(void) {
}
APART void loads(void) {
    MASK;
    uint32_t x = 0;
    for (uint32_t i = 0; i < 30; i++) {
        x += REGISTER(0x2001C000u + 4u * i);
        __asm__ volatile("nop\n nop");
    }
    sink = x;
    UNMASK;
}
int main(void) {
    for (int pass = 0; pass < 3; pass++) {
        loads();
    }
    return 0;
}
