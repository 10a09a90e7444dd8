/**
 * What sys_heap takes of Zephyr's kernel.h: assertions, which are off unless CONFIG_ASSERT is on.
 */
#ifndef TAILSCOPE_STANDS_IN_FOR_ZEPHYR_KERNEL_H
#define TAILSCOPE_STANDS_IN_FOR_ZEPHYR_KERNEL_H

#define __ASSERT(test, ...)

#endif
