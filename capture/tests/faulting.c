/* Firmware that ends in the way that is asked for, at the instruction `faulting`. */

#include <stdint.h>

#define REGISTER(address) (*(volatile uint32_t *)(address))
#define ACTLR REGISTER(0xE000E008)
#define SHCSR REGISTER(0xE000ED24)
#define MPU_CTRL REGISTER(0xE000ED94)
#define NOWHERE 0x60000040
#ifndef STACK_TOP
#define STACK_TOP 0x20018000
#endif

void reset(void);
void on_svc(void);
void on_hard_fault(void);
void on_bus_fault(void);

__attribute__((noinline)) static uint32_t deep(uint32_t depth) {
    volatile uint32_t scratch[16];
    scratch[0] = depth;
    return depth ? deep(depth - 1) + scratch[0] : 0;
}

/* Pushes a lot before it stays here. */
void on_hard_fault(void) {
#ifdef LOCK_UP
    (void)REGISTER(NOWHERE + 16);
#endif
    volatile uint32_t sum = deep(5);
    for (;;) {
        sum++;
    }
}

void on_bus_fault(void) {
    for (;;) {}
}

static void read_nowhere(void) {
    __asm volatile(".global faulting\nfaulting: ldr r0, [%0]" : : "r"(NOWHERE) : "r0");
}

void on_svc(void) {
#ifdef IN_HANDLER
    read_nowhere();
#endif
}

void reset(void) {
#ifdef BUS_FAULT_ENABLED
    SHCSR |= 1u << 17;
#endif
#if defined ON_PROCESS_STACK || defined IN_HANDLER
    static uint32_t stack[64];
    __asm volatile("msr psp, %0\n\tmsr control, %1\n\tisb" : : "r"(&stack[60]), "r"(2));
#endif
#if defined READ_NOWHERE || defined ON_PROCESS_STACK || defined LOCK_UP || defined BUS_FAULT_ENABLED
    read_nowhere();
#elif defined WRITE_NOWHERE
    ACTLR |= 2; /* DISDEFWBUF: a write waits for its answer (PM0214, section 4.4.1) */
    __asm volatile(".global faulting\nfaulting: str.w r0, [%0, #4]" : : "r"(NOWHERE));
#elif defined IN_HANDLER
    __asm volatile("svc 0");
#elif defined JUMP_NOWHERE
    __asm volatile("bx %0" : : "r"(NOWHERE | 1u));
#elif defined NO_STACK
    __asm volatile("msr msp, %0" : : "r"(0x10000010));
    read_nowhere();
#endif
    __asm volatile(".global resting\nresting: b resting");
}

__attribute__((section(".vectors"), used)) static const void *const vectors[16] = {
    [0] = (void *)STACK_TOP,   [1] = (void *)reset,   [3] = (void *)on_hard_fault,
    [5] = (void *)on_bus_fault, [11] = (void *)on_svc,
};
