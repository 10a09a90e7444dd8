/**
 * Tells what a FreeRTOS program asks of its heap, so that Tailscope can replay it:
 * docs/how-to/traces.md.
 *
 * At the end of FreeRTOSConfig.h:
 *
 *     #define TAILSCOPE_TRACE_HEADER_BYTES 8
 *     #include "tailscope_trace.h"
 *
 * Compile tailscope_trace.c too, and give it a way out: either write tailscope_trace_write(), or
 * define TAILSCOPE_TRACE_RTT as the number of an up buffer of SEGGER's RTT.
 *
 * What FreeRTOS's heaps hand to their trace macros is not what was asked for. heap_2, heap_4 and
 * heap_5 tell the whole block: TAILSCOPE_TRACE_HEADER_BYTES is then their header, 8 on a 32-bit
 * core. What is left is the request rounded up to the heap's alignment, and up to 8 bytes more
 * where a rest was too small to be a block. heap_1 and heap_3 tell of no header: 0.
 *
 * These heaps call the macros while the scheduler is suspended, so lines do not mix. A heap of your
 * own must see to that itself.
 */
#ifndef TAILSCOPE_TRACE_H
#define TAILSCOPE_TRACE_H

#ifndef TAILSCOPE_TRACE_HEADER_BYTES
#error \
    "Define TAILSCOPE_TRACE_HEADER_BYTES: 8 for heap_2, heap_4 and heap_5, 0 for heap_1 and heap_3."
#endif

/* Some ports include FreeRTOSConfig.h from assembly. */
#ifndef __ASSEMBLER__
#include <stddef.h>

/** `size` as the heap tells it, with its header. A `block` of NULL is a request that was refused.
 */
void tailscope_trace_allocated(const void *block, size_t size);

void tailscope_trace_freed(const void *block);

/**
 * Sends `length` characters, a whole line. Yours to write, without TAILSCOPE_TRACE_RTT. It may
 * wait, but it must not allocate, and not wait for another task.
 */
void tailscope_trace_write(const char *text, size_t length);

#define traceMALLOC(pvAddress, uiSize) tailscope_trace_allocated((pvAddress), (uiSize))
#define traceFREE(pvAddress, uiSize) ((void)(uiSize), tailscope_trace_freed(pvAddress))
#endif

#endif
