/* The scheduler that FreeRTOS's heaps suspend: there is none on a PC. */
#ifndef TAILSCOPE_HEAP_TESTS_TASK_H
#define TAILSCOPE_HEAP_TESTS_TASK_H

#include "FreeRTOS.h"

#define vTaskSuspendAll() ((void)0)
#define xTaskResumeAll() pdFALSE
#define taskENTER_CRITICAL() ((void)0)
#define taskEXIT_CRITICAL() ((void)0)

#endif
