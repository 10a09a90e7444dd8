/* A controller: a timer's interrupt counts, the loop takes a block, publishes a message, and gives
   the block back. The message must not change while it is copied, so that is masked. */

#include <stddef.h>
#include <stdint.h>

#define REGISTER(address) (*(volatile uint32_t *)(address))
#define PRIORITY(irq) (*(volatile uint8_t *)(0xE000E400 + (irq)))
#define TIM2_IRQ 28u

#ifndef WORDS
#define WORDS 16 /* of a message */
#endif

void heap_begin(void);
void *heap_allocate(size_t size);
void heap_free(void *block);

extern uint32_t stack_top[], bss_begin[], bss_end[];
void reset(void);
void on_fault(void);
void on_tim2(void);

__attribute__((section(".vectors"), used)) static void (*const vectors[16 + TIM2_IRQ + 1])(void) = {
    (void (*)(void))stack_top, reset, on_fault, on_fault, [16 + TIM2_IRQ] = on_tim2,
};

static volatile uint32_t ticks;
static volatile uint32_t message[WORDS];
static volatile uint32_t published[WORDS];

void on_fault(void) {
    for (;;) {}
}

void on_tim2(void) {
    ticks++;
}

/* Holds off what is less urgent than priority 0x30. */
__attribute__((noinline)) static void publish(void) {
    __asm__ volatile("msr basepri, %0" ::"r"(0x40) : "memory");
    for (size_t i = 0; i < WORDS; i++) {
        published[i] = message[i];
    }
    __asm__ volatile("msr basepri, %0" ::"r"(0) : "memory");
}

void reset(void) {
    for (uint32_t *word = bss_begin; word < bss_end; word++) {
        *word = 0;
    }
    heap_begin();
    PRIORITY(TIM2_IRQ) = 0x60;
    REGISTER(0xE000E100) = 1u << TIM2_IRQ;
    for (;;) {
        uint32_t *const block = heap_allocate(WORDS * sizeof *block);
        message[0] = ticks;
        publish();
        heap_free(block);
    }
}
