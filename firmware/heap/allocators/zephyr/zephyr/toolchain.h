/** What sys_heap takes of Zephyr's toolchain.h. */
#ifndef TAILSCOPE_STANDS_IN_FOR_ZEPHYR_TOOLCHAIN_H
#define TAILSCOPE_STANDS_IN_FOR_ZEPHYR_TOOLCHAIN_H

#include <zephyr/sys/util.h>

#define ALWAYS_INLINE inline __attribute__((always_inline))

#endif
