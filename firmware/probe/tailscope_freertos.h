/**
 * Shows the critical sections and the heap of FreeRTOS V11 on pins, without a change to the kernel:
 * docs/how-to/observe.md. Compile tailscope_freertos.c beside tailscope.c, and link with
 *
 *     -Wl,--wrap=vPortEnterCritical,--wrap=vPortExitCritical
 *     -Wl,--wrap=pvPortMalloc,--wrap=vPortFree
 *
 * Then CRIT is high from taskENTER_CRITICAL() to taskEXIT_CRITICAL(), the kernel's own included,
 * and OP while pvPortMalloc() or vPortFree() runs. Leave out the options, or the pin, of what is
 * not wanted. Sections within each other are one pulse.
 *
 * CRIT rises when interrupts are masked already and falls before they are unmasked. The wire shows
 * the time between; to that comes what the port's own code takes (docs/how-to/observe.md has the
 * cycles).
 *
 * Not seen are the masks that the port sets inline: in PendSV, in SysTick's handler, in the
 * kernel's functions for interrupts; and sections before the scheduler starts end in a pulse that
 * is too short, because they end without unmasking. For an interrupt of your own include this file
 * behind task.h: it marks taskENTER_CRITICAL_FROM_ISR() and taskEXIT_CRITICAL_FROM_ISR() there.
 */
#ifndef TAILSCOPE_FREERTOS_H
#define TAILSCOPE_FREERTOS_H

#include "tailscope.h"

#if defined(INC_TASK_H) && defined(TAILSCOPE_CRIT)

static inline UBaseType_t tailscope_enter_from_isr(void) {
    const UBaseType_t previous = (UBaseType_t)portSET_INTERRUPT_MASK_FROM_ISR();
    TAILSCOPE_BEGIN_NESTED(CRIT);
    return previous;
}

static inline void tailscope_exit_from_isr(UBaseType_t previous) {
    TAILSCOPE_END_NESTED(CRIT);
    portCLEAR_INTERRUPT_MASK_FROM_ISR(previous);
}

#undef taskENTER_CRITICAL_FROM_ISR
#undef taskEXIT_CRITICAL_FROM_ISR
#define taskENTER_CRITICAL_FROM_ISR() tailscope_enter_from_isr()
#define taskEXIT_CRITICAL_FROM_ISR(previous) tailscope_exit_from_isr(previous)

#endif

#endif
