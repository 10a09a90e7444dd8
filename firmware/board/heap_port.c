/* The heap's lock is the kernel's BASEPRI mask; its markers are in markers.S. */
#include "heap/port.h"

#include "FreeRTOS.h"

uint32_t heap_port_lock(void) {
    return portSET_INTERRUPT_MASK_FROM_ISR();
}

void heap_port_unlock(uint32_t previous) {
    portCLEAR_INTERRUPT_MASK_FROM_ISR(previous);
}
