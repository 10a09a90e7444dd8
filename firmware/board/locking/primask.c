/*
 * The heap's lock masks every interrupt whose priority can be configured, in PRIMASK. So the
 * control interrupt waits too (PM0214, section 2.1.3).
 */
#include "board/nvic.h"
#include "heap/port.h"

uint32_t heap_port_lock(void) {
    return interrupts_mask();
}

void heap_port_unlock(uint32_t previous) {
    interrupts_restore(previous);
}

const char *heap_port_locking(void) {
    return "primask";
}
