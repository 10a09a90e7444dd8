/** The kernel of a user's program: tasks and queues from heap_4, which is traced. */
#ifndef FREERTOS_CONFIG_H
#define FREERTOS_CONFIG_H

#include "board/priorities.h"
#include "board_table.h"

#define configCPU_CLOCK_HZ BOARD_CORE_HZ
#define configTICK_RATE_HZ 1000u
#define configTICK_TYPE_WIDTH_IN_BITS TICK_TYPE_WIDTH_32_BITS
#define configUSE_PREEMPTION 1
#define configMAX_PRIORITIES 4
#define configMINIMAL_STACK_SIZE 128u
#define configUSE_IDLE_HOOK 0
#define configUSE_TICK_HOOK 0
#define configSUPPORT_STATIC_ALLOCATION 0
#define configSUPPORT_DYNAMIC_ALLOCATION 1
#define configTOTAL_HEAP_SIZE 16384u
#define configUSE_MALLOC_FAILED_HOOK 0
#define configKERNEL_INTERRUPT_PRIORITY PRIORITY_KERNEL
#define configMAX_SYSCALL_INTERRUPT_PRIORITY PRIORITY_MASKED_FROM
#define INCLUDE_vTaskDelete 1
#define INCLUDE_vTaskDelay 1
#define INCLUDE_vTaskSuspend 1

#define TAILSCOPE_TRACE_HEADER_BYTES 8
#include "tailscope_trace.h"

#endif
