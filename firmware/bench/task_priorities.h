/** Who preempts whom among the tasks. The idle task has 0. */
#ifndef TAILSCOPE_BENCH_TASK_PRIORITIES_H
#define TAILSCOPE_BENCH_TASK_PRIORITIES_H

enum { TASK_PRIORITY_BENCH = 1, TASK_PRIORITY_WOKEN = 2 };

#endif
