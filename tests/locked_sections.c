/* Every way of holding interrupts off that a kernel has, each with a loop of its own length inside.
   tests/test_bounds.py has what must be found. */

#include <stdint.h>

#define REGISTER(address) (*(volatile uint32_t *)(address))
#define NOINLINE __attribute__((noinline))
#define LAPS(n) \
    for (volatile uint32_t lap = 0; lap < (n); lap++) {}

extern uint32_t stack_top[];
void reset(void);
void on_systick(void);

static void stop(void) {
    for (;;) {
        __asm__ volatile("wfi");
    }
}

__attribute__((section(".vectors"), used)) static void (*const vectors[16])(void) = {
    (void (*)(void))stack_top, reset, stop, stop, [15] = on_systick,
};

static volatile uint32_t nesting;
static volatile uint32_t choice;

void on_systick(void) {
    LAPS(3)
}

static NOINLINE uint32_t lock_and_save(void) {
    uint32_t before;
    __asm__ volatile("mrs %0, primask\n cpsid i" : "=r"(before)::"memory");
    return before;
}

static NOINLINE void restore(uint32_t before) {
    __asm__ volatile("msr primask, %0" ::"r"(before) : "memory");
}

static NOINLINE void enter(void) {
    __asm__ volatile("msr basepri, %0\n isb" ::"r"(0x50) : "memory");
    nesting++;
}

static NOINLINE void leave(void) {
    nesting--;
    if (nesting == 0) {
        __asm__ volatile("msr basepri, %0" ::"r"(0) : "memory");
    }
}

NOINLINE void saved(void) {
    uint32_t before = lock_and_save();
    LAPS(10)
    restore(before);
}

/* The inner section ends nothing. */
NOINLINE void saved_twice(void) {
    uint32_t before = lock_and_save();
    LAPS(10)
    saved();
    LAPS(40)
    restore(before);
}

NOINLINE void counted(void) {
    enter();
    LAPS(10)
    leave();
}

NOINLINE void counted_twice(void) {
    enter();
    counted();
    LAPS(60)
    leave();
}

/* Two ends, and one way that is longer. */
NOINLINE void left_early(void) {
    __asm__ volatile("cpsid i" ::: "memory");
    if (choice & 1) {
        __asm__ volatile("cpsie i" ::: "memory");
        return;
    }
    LAPS(20)
    __asm__ volatile("cpsie i" ::: "memory");
}

static NOINLINE void wait(uint32_t laps){LAPS(laps)}

NOINLINE void told_how_often(void) {
    __asm__ volatile("cpsid i" ::: "memory");
    wait(choice & 1 ? 30 : 12);
    __asm__ volatile("cpsie i" ::: "memory");
}

NOINLINE void faults_too(void) {
    __asm__ volatile("cpsid f" ::: "memory");
    LAPS(5)
    __asm__ volatile("cpsie f" ::: "memory");
}

/* What nothing in the code limits. */
NOINLINE void until_told(void) {
    __asm__ volatile("cpsid i" ::: "memory");
    while ((choice & 0x100) == 0) {
        choice += 0x10;
    }
    choice = 0;
    __asm__ volatile("cpsie i" ::: "memory");
}

/* Of these no run sees anything. */
__attribute__((used)) NOINLINE void never_run(void) {
    __asm__ volatile("cpsid i" ::: "memory");
    LAPS(100)
    __asm__ volatile("cpsie i" ::: "memory");
}

void reset(void) {
    nesting = 0;
    choice = 0;
    REGISTER(0xE000E014) = 1999;
    REGISTER(0xE000E018) = 0;
    REGISTER(0xE000E010) = 7;
    for (uint32_t round = 0; round < 40; round++) {
        choice = round & 1;
        saved();
        saved_twice();
        counted();
        counted_twice();
        left_early();
        told_how_often();
        faults_too();
        until_told();
    }
    stop();
}
