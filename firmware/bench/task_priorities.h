/** Who preempts whom among the tasks. The idle task has 0. */
#ifndef TAILSCOPE_BENCH_TASK_PRIORITIES_H
#define TAILSCOPE_BENCH_TASK_PRIORITIES_H

#ifdef TAILSCOPE_KERNEL_CALLS
#include "FreeRTOS.h"

/* The timer task answers a command at once, and the woken task comes before it. */
enum { TASK_PRIORITY_BENCH = 1, TASK_PRIORITY_WOKEN = configTIMER_TASK_PRIORITY + 1 };
#else
enum { TASK_PRIORITY_BENCH = 1, TASK_PRIORITY_WOKEN = 2 };
#endif

#endif
