/* The code allows 16 bits of laps, and a run goes three. */
#include "common.h"
volatile uint32_t sink;
volatile uint16_t length = 3;
void SVC_H(void) {
}
void PendSV_H(void) {
}
void SysTick_H(void) {
}
APART void counted(void) {
    uint32_t most = length;
    MASK;
    for (uint32_t i = 0; i < most; i++) {
        sink += i;
    }
    UNMASK;
}
int main(void) {
    for (int pass = 0; pass < 3; pass++) {
        counted();
    }
    return 0;
}
