/* What the wire shows is docs/reference/wire.md, without its common pulses. */
#include "tailscope.h"

#define REGISTER(address) (*(volatile uint32_t *)(uintptr_t)(address))
#define RCC_AHB1ENR REGISTER(0x40023830)           /* RM0368, section 6.3.9: bit n is port n */
#define GPIO(port) (0x40020000u + 0x400u * (port)) /* RM0368, sections 2.3 and 8.4 */
#define GPIO_MODER(port) REGISTER(GPIO(port) + 0x00u)
#define GPIO_OSPEEDR(port) REGISTER(GPIO(port) + 0x08u)
#define GPIO_PUPDR(port) REGISTER(GPIO(port) + 0x0Cu)
#define GPIO_BSRR(port) REGISTER(GPIO(port) + 0x18u)
#define DEMCR REGISTER(0xE000EDFC) /* ARMv7-M ARM, sections C1.6.5 and C1.8 */
#define DEMCR_TRCENA (1u << 24)
#define DWT_CTRL REGISTER(0xE0001000)
#define DWT_CTRL_CYCCNTENA (1u << 0)
#define DWT_CYCCNT REGISTER(0xE0001004)

uint32_t tailscope_depth[TAILSCOPE_CHANNELS];

static const uint8_t pins[] = {
#ifdef TAILSCOPE_CRIT
    TAILSCOPE_CRIT,
#endif
#ifdef TAILSCOPE_OP
    TAILSCOPE_OP,
#endif
#ifdef TAILSCOPE_ISR
    TAILSCOPE_ISR,
#endif
#ifdef TAILSCOPE_TASK
    TAILSCOPE_TASK,
#endif
#ifdef TAILSCOPE_CISR
    TAILSCOPE_CISR,
#endif
#ifdef TAILSCOPE_SYNC
    TAILSCOPE_SYNC,
#endif
};

static void set_field(volatile uint32_t *target, uint32_t pin, uint32_t value) {
    *target = (*target & ~(3u << 2u * pin)) | value << 2u * pin;
}

/* Low before it drives. PB4 has its pull-up on after a reset (RM0368, section 8.3.1). */
static void start_low(uint32_t port, uint32_t pin) {
    enum { OUTPUT = 1, HIGH_SPEED = 2, NO_PULL = 0 };
    RCC_AHB1ENR |= 1u << port;
    (void)RCC_AHB1ENR; /* the clock runs two cycles later (errata ES0299) */
    GPIO_BSRR(port) = 1u << (pin + 16u);
    set_field(&GPIO_PUPDR(port), pin, NO_PULL);
    set_field(&GPIO_OSPEEDR(port), pin, HIGH_SPEED);
    set_field(&GPIO_MODER(port), pin, OUTPUT);
}

void tailscope_pins_start(void) {
    for (uint32_t i = 0; i < sizeof pins; i++) {
        start_low(pins[i] / 16u, pins[i] % 16u);
    }
}

#ifdef TAILSCOPE_SYNC

enum {
    FRAME_EDGES = 64,
    EMPTY_SECTIONS = 16,
    SPACING_CYCLES = 200,
    START_EDGES_HZ = 100000, /* 10 us apart */
    END_EDGES_HZ = 66667,    /* 15 us */
    QUIET_HZ = 20000,        /* 50 us: longer than any spacing of a frame */
    /* Cycles before an edge at which polling ends; fewer than store_at() has steps. */
    LAST_CYCLES = 56
};

static uint32_t clock_hz;

static void wait_until(uint32_t when) {
    while ((int32_t)(when - DWT_CYCCNT) > LAST_CYCLES) {}
}

/* A polling loop is late by up to its own length. What is left is taken in steps of one cycle: the
 * more is left, the fewer of them are jumped over. */
static void store_at(uint32_t when, uint32_t bit) {
    uint32_t left;
    wait_until(when);
    __asm volatile("ldr   %[left], [%[counter]]\n\t"
                   "subs  %[left], %[when], %[left]\n\t"
                   "and   %[left], %[left], #63\n\t"
                   "rsb   %[left], %[left], #63\n\t"
                   "lsls  %[left], %[left], #1\n\t"
                   "add   pc, %[left]\n\t"
                   "nop\n\t" /* the jump counts from the instruction behind this */
                   ".rept 63\n\t"
                   "mov   r8, r8\n\t"
                   ".endr\n\t"
                   "str   %[bit], [%[set]]"
                   : [left] "=&l"(left)
                   : [when] "l"(when), [counter] "l"(&DWT_CYCCNT), [bit] "l"(bit),
                     [set] "l"(&GPIO_BSRR(TAILSCOPE_SYNC / 16))
                   : "cc", "memory");
}

/* Edge n comes n / `edges_hz` after the begin, to a cycle, whatever the clock. */
static void send_frame(uint32_t edges_hz) {
    const uint32_t high = 1u << TAILSCOPE_SYNC % 16;
    const uint32_t whole = clock_hz / edges_hz;
    const uint32_t part = clock_hz % edges_hz;
    uint32_t parts = 0;
    uint32_t when = DWT_CYCCNT + 2u * LAST_CYCLES;
    for (uint32_t edge = 0; edge < FRAME_EDGES; edge++) {
        store_at(when, edge % 2u == 0u ? high : high << 16);
        parts += part;
        when += whole + (parts >= edges_hz ? 1u : 0u);
        parts -= parts >= edges_hz ? edges_hz : 0u;
    }
}

static void wait(uint32_t cycles) {
    const uint32_t begin = DWT_CYCCNT;
    while (DWT_CYCCNT - begin < cycles) {}
}

#define SEND_EMPTY_SECTIONS(channel) \
    for (uint32_t section = 0; section < EMPTY_SECTIONS; section++) { \
        wait(SPACING_CYCLES); \
        TAILSCOPE_BEGIN(channel); \
        TAILSCOPE_END(channel); \
    }

static void send_empty_sections(void) {
#ifdef TAILSCOPE_CRIT
    SEND_EMPTY_SECTIONS(CRIT)
#endif
#ifdef TAILSCOPE_OP
    SEND_EMPTY_SECTIONS(OP)
#endif
    wait(SPACING_CYCLES);
}

void tailscope_program_begin(uint32_t core_hz) {
    DEMCR |= DEMCR_TRCENA;
    DWT_CTRL |= DWT_CTRL_CYCCNTENA;
    clock_hz = core_hz;
    TAILSCOPE_END(SYNC);
    wait(core_hz / QUIET_HZ);
    const uint32_t previous = tailscope_mask();
    send_frame(START_EDGES_HZ);
    send_empty_sections();
    TAILSCOPE_BEGIN(SYNC);
    tailscope_unmask(previous);
}

void tailscope_program_end(void) {
    TAILSCOPE_END(SYNC);
    wait(clock_hz / QUIET_HZ); /* unmasked: what comes before the frame is still answered */
    const uint32_t previous = tailscope_mask();
    send_frame(END_EDGES_HZ);
    send_empty_sections();
    tailscope_unmask(previous);
}

#endif
