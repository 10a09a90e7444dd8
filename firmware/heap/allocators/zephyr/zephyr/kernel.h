/** What sys_heap takes of Zephyr's kernel.h: assertions, off as they are unless CONFIG_ASSERT is
 * chosen. */
#ifndef TAILSCOPE_STANDS_IN_FOR_ZEPHYR_KERNEL_H
#define TAILSCOPE_STANDS_IN_FOR_ZEPHYR_KERNEL_H

#define __ASSERT(test, ...)

#endif
