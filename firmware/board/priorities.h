/**
 * Interrupt priorities as the NVIC's registers hold them: only the upper four bits count, and
 * smaller is more urgent (PM0214, section 4.3.7). BASEPRI at PRIORITY_MASKED_FROM masks that
 * priority and all less urgent ones.
 */
#pragma once

#define PRIORITY_CONTROL 0x10 /**< the control: no critical section of kernel or heap delays it */
#define PRIORITY_MASKED_FROM 0x50 /**< what the kernel and the heap write to BASEPRI */
#define PRIORITY_STIMULUS \
    0x50                     /**< the stimulus: the most urgent interrupt that the heap can delay */
#define PRIORITY_KERNEL 0xF0 /**< SysTick and PendSV */
