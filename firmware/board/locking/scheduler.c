/*
 * The heap's lock holds off task switches, as in FreeRTOS's heap_4.c, and every interrupt is
 * served. So no interrupt may use the heap, and the task that an interrupt wakes is what waits.
 */
#include "heap/port.h"

#include "FreeRTOS.h"
#include "task.h"

uint32_t heap_port_lock(void) {
    vTaskSuspendAll();
    return 0;
}

void heap_port_unlock(uint32_t previous) {
    (void)previous;
    (void)xTaskResumeAll();
}

const char *heap_port_locking(void) {
    return "scheduler";
}
