/**
 * Calls of FreeRTOS that have critical sections of the kernel. Only in a build with
 * TAILSCOPE_KERNEL_CALLS.
 */
#ifndef TAILSCOPE_BENCH_KERNEL_CALLS_H
#define TAILSCOPE_BENCH_KERNEL_CALLS_H

#include <stdint.h>

#include "bench/image.h"

/**
 * The function that makes the call `number` and returns the sum of its critical sections, in core
 * cycles; NULL if there is no such call.
 */
uint32_t (*kernel_call(call_number number))(void);

#endif
