/*
 * The heap's lock masks every interrupt whose priority can be configured, in PRIMASK. So the
 * control interrupt waits too (PM0214, section 2.1.3).
 */
#include "heap/port.h"

uint32_t heap_port_lock(void) {
    uint32_t previous;
    __asm volatile("mrs %0, primask\n\tcpsid i" : "=r"(previous) : : "memory");
    return previous;
}

void heap_port_unlock(uint32_t previous) {
    __asm volatile("msr primask, %0" : : "r"(previous) : "memory");
}

const char *heap_port_locking(void) {
    return "primask";
}
