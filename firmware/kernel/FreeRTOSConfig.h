/**
 * The kernel as the bench needs it: two static tasks, direct-to-task notifications, no kernel
 * allocation. Options: FreeRTOS kernel V11,
 * https://www.freertos.org/Documentation/02-Kernel/03-Supported-devices/02-Customization
 */
#pragma once

#include <stdint.h>

#include "board/priorities.h"
#include "board_table.h"

#define configCPU_CLOCK_HZ BOARD_CORE_HZ
#define configTICK_RATE_HZ 1000u
#define configTICK_TYPE_WIDTH_IN_BITS TICK_TYPE_WIDTH_32_BITS

#define configUSE_PREEMPTION 1
#ifdef TAILSCOPE_KERNEL_CALLS
#define configMAX_PRIORITIES 4
#define configUSE_TIMERS 1
#define configTIMER_TASK_PRIORITY 2
#define configTIMER_QUEUE_LENGTH 4
#define configTIMER_TASK_STACK_DEPTH 128 /* words */
#define INCLUDE_vTaskDelete 1
#define INCLUDE_xTaskGetCurrentTaskHandle 1
#else
#define configMAX_PRIORITIES 3
#define configUSE_TIMERS 0
#endif
#define configMINIMAL_STACK_SIZE 128u /* words */
#define configMAX_TASK_NAME_LEN 12
#define configUSE_IDLE_HOOK 0
#define configUSE_TICK_HOOK 0
#define configUSE_TASK_NOTIFICATIONS 1

/* The heap under test belongs to the scenario alone: a run begins with one free block. */
#define configSUPPORT_STATIC_ALLOCATION 1
#define configSUPPORT_DYNAMIC_ALLOCATION 0
#define configKERNEL_PROVIDED_STATIC_MEMORY 1
#define configUSE_MALLOC_FAILED_HOOK 0

/* A wait without limit is a suspension, not a time-out of 2^32 ticks. */
#define INCLUDE_vTaskSuspend 1

#define configUSE_MUTEXES 0
#define configUSE_EVENT_GROUPS 0
#define configUSE_STREAM_BUFFERS 0

#define configENABLE_MPU 0 /* what the port of the Cortex-M0 asks for */

#define configKERNEL_INTERRUPT_PRIORITY PRIORITY_KERNEL
#define configMAX_SYSCALL_INTERRUPT_PRIORITY PRIORITY_MASKED_FROM
#define configCHECK_HANDLER_INSTALLATION 1
#define configCHECK_FOR_STACK_OVERFLOW 2

void kernel_assertion_failed(void) __attribute__((noreturn));
#define configASSERT(condition) \
    do { \
        if (!(condition)) { \
            kernel_assertion_failed(); \
        } \
    } while (0)
