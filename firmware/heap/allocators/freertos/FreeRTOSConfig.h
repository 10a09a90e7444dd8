/* The kernel's configuration as its heaps see it: the kernel itself is built without dynamic
 * allocation. */
#pragma once

#include "kernel/FreeRTOSConfig.h"

#undef configSUPPORT_DYNAMIC_ALLOCATION
#define configSUPPORT_DYNAMIC_ALLOCATION 1
#define configAPPLICATION_ALLOCATED_HEAP 1
#define configTOTAL_HEAP_SIZE ((size_t)TAILSCOPE_HEAP_BYTES)
