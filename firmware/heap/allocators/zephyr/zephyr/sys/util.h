/**
 * What sys_heap takes of Zephyr's util.h. All of Zephyr's options are off, and what depends on one
 * is left out.
 */
#pragma once

#include <stdint.h>

#define IS_ENABLED(option) 0
#define IF_ENABLED(option, code)
#define ARG_UNUSED(argument) ((void)(argument))

#define BIT(n) (1UL << (n))
#define BIT_MASK(n) (BIT(n) - 1UL)
#define ROUND_DOWN(address, unit) ((uintptr_t)(address) & ~((uintptr_t)(unit)-1u))
#define ROUND_UP(address, unit) ROUND_DOWN((uintptr_t)(address) + ((uintptr_t)(unit)-1u), unit)
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define MAX(a, b) ((a) > (b) ? (a) : (b))
#define min(a, b) MIN(a, b)
#define max(a, b) MAX(a, b)
