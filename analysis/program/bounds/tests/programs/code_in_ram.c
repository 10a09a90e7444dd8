/* Code that the start-up copies to RAM, called from the flash, and calling back. */
#include "common.h"
volatile uint32_t sink;
uint32_t words[8];
void SVC_H(void) {
}
void PendSV_H(void) {
}
void SysTick_H(void) {
}
APART uint32_t in_flash(uint32_t x) {
    return x * 3u + words[x & 7u];
}
__attribute__((noinline, noclone, section(".ramcode"))) uint32_t in_ram(uint32_t x) {
    for (uint32_t i = 0; i < 8; i++) {
        x += words[i];
    }
    return in_flash(x) + 1u;
}
__attribute__((noinline, noclone, section(".ramcode"))) void whole(uint32_t x) {
    MASK;
    sink = in_ram(x) + x;
    UNMASK;
}
APART void part(uint32_t x) {
    MASK;
    sink = in_ram(x);
    UNMASK;
}
int main(void) {
    for (uint32_t pass = 0; pass < 3; pass++) {
        part(pass);
        whole(pass);
    }
    return 0;
}
