/** What sys_heap takes of Zephyr's toolchain.h. */
#pragma once

#include <zephyr/sys/util.h>

#define ALWAYS_INLINE inline __attribute__((always_inline))
