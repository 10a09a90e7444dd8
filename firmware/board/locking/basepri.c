/* The heap's lock masks the interrupts that may use the kernel, in BASEPRI, as the kernel does. */
#include "heap/port.h"

#include "FreeRTOS.h"

uint32_t heap_port_lock(void) {
    return portSET_INTERRUPT_MASK_FROM_ISR();
}

void heap_port_unlock(uint32_t previous) {
    portCLEAR_INTERRUPT_MASK_FROM_ISR(previous);
}

const char *heap_port_locking(void) {
    return "basepri";
}
