/* Programs that have the symbols and structures of a kernel, but none of its code: KERNEL chooses.
   Lengths are counted as NOPs: at reset the core runs at 16 MHz without wait states, where one
   takes a cycle. */

#include <stdint.h>

#define REGISTER(address) (*(volatile uint32_t *)(address))
#define NOPS(n) __asm__ volatile(".rept " #n "\n nop\n .endr")
#define ALWAYS static inline __attribute__((always_inline))
#define APART __attribute__((noinline, used))

extern uint32_t stack_top[];
void reset(void);
void common(void);

static void fault(void) {
    for (;;) {}
}

ALWAYS void disable(void) {
    __asm__ volatile("cpsid i" ::: "memory");
}

ALWAYS void enable(void) {
    __asm__ volatile("cpsie i" ::: "memory");
}

/* Pends interrupt 28, and waits until it was taken. */
ALWAYS void interrupt(void) {
    REGISTER(0xE000E100) = 1u << 28;
    REGISTER(0xE000E200) = 1u << 28;
    __asm__ volatile("dsb\n isb");
}

#if defined(FREERTOS)

typedef struct tskTaskControlBlock {
    volatile uint32_t *pxTopOfStack;
    char pcTaskName[16];
} TCB_t;
static TCB_t motor = {0, "motor"}, lamp = {0, "lamp"};
TCB_t *volatile pxCurrentTCB;
volatile uint32_t uxSchedulerSuspended;
APART void vTaskSwitchContext(void) {
    pxCurrentTCB = &lamp;
}
APART void vTaskSuspendAll(void) {
    uxSchedulerSuspended++;
}
APART void xTaskResumeAll(void) {
    uxSchedulerSuspended--;
}
APART void prvPortStartFirstTask(void) {
    enable();
}
APART void vTaskStartScheduler(void) {
    pxCurrentTCB = &motor;
    prvPortStartFirstTask();
}
#define START vTaskStartScheduler()
#define SWITCH vTaskSwitchContext()
#define LOCK vTaskSuspendAll()
#define UNLOCK xTaskResumeAll()
#define MASK disable()
#define UNMASK enable()

#elif defined(ZEPHYR)

struct k_thread {
    struct {
        union {
            struct {
                int8_t prio;
                uint8_t sched_locked;
            };
            uint16_t preempt;
        };
    } base;
    char name[16];
};
static struct k_thread motor = {.name = "motor"}, lamp = {.name = "lamp"};
struct z_kernel {
    struct {
        uint32_t nested;
        struct k_thread *current;
    } cpus[1];
} _kernel;
struct _isr_table_entry {
    const void *arg;
    void (*isr)(const void *);
};
static void tim2_isr(const void *arg) {
    (void)arg;
    NOPS(200);
}
struct _isr_table_entry _sw_isr_table[30] = {[28] = {0, tim2_isr}};
APART void _isr_wrapper(void) {
    _sw_isr_table[28].isr(_sw_isr_table[28].arg);
}
ALWAYS void arch_irq_lock(void) {
    disable();
}
ALWAYS void k_spin_lock(void) {
    arch_irq_lock();
}
APART void bg_thread_main(void) {
    enable();
}
APART void z_cstart(void) {
    _kernel.cpus[0].current = &motor;
    bg_thread_main();
}
#define COMMON _isr_wrapper
#define START z_cstart()
#define SWITCH _kernel.cpus[0].current = &lamp
#define LOCK _kernel.cpus[0].current->base.sched_locked--
#define UNLOCK _kernel.cpus[0].current->base.sched_locked++
#define MASK k_spin_lock()
#define UNMASK enable()

#elif defined(THREADX)

typedef struct TX_THREAD_STRUCT {
    uint32_t tx_thread_id;
    char *tx_thread_name;
} TX_THREAD;
static TX_THREAD motor = {1, "motor"}, lamp = {2, "lamp"};
TX_THREAD *_tx_thread_current_ptr;
volatile uint32_t _tx_thread_preempt_disable;
APART void start_now(void) {
    enable();
}
/* As the port has it: an assembler function without type and size. */
__asm__(".text\n.global _tx_thread_schedule\n.thumb_func\n_tx_thread_schedule:\n b start_now\n");
void _tx_thread_schedule(void);
ALWAYS void __disable_interrupts(void) {
    disable();
}
#define START _tx_thread_current_ptr = &motor, _tx_thread_schedule()
#define SWITCH _tx_thread_current_ptr = &lamp
#define LOCK _tx_thread_preempt_disable++
#define UNLOCK _tx_thread_preempt_disable--
#define MASK __disable_interrupts()
#define UNMASK enable()

#elif defined(RIOT)

typedef struct _thread {
    char *sp;
    int16_t pid;
    const char *name;
} thread_t;
static thread_t motor = {0, 1, "motor"}, lamp = {0, 2, "lamp"};
volatile thread_t *sched_active_thread;
APART void sched_run(void) {
    sched_active_thread = &lamp;
}
APART void thread_create(void) {
}
APART void cpu_switch_context_exit(void) {
    enable();
}
ALWAYS void irq_disable(void) {
    disable();
}
#define START sched_active_thread = &motor, cpu_switch_context_exit()
#define SWITCH sched_run()
#define MASK irq_disable()
#define UNMASK enable()

#elif defined(CHIBIOS)

typedef struct ch_thread {
    uint32_t context;
    const char *name;
} thread_t;
static thread_t motor = {0, "motor"}, lamp = {0, "lamp"};
struct ch_os_instance {
    struct {
        uint32_t queue;
        thread_t *current;
    } rlist;
} ch0;
APART void chThdExit(void) {
}
ALWAYS void port_lock(void) {
    disable();
}
ALWAYS void chSysLock(void) {
    port_lock();
}
APART void chSysInit(void) {
    ch0.rlist.current = &motor;
    chSysLock();
    NOPS(400);
    enable();
}
#define START chSysInit()
#define SWITCH ch0.rlist.current = &lamp
#define MASK chSysLock()
#define UNMASK enable()

#elif defined(NUTTX)

struct tcb_s {
    struct tcb_s *flink;
    int16_t lockcount;
    char name[16];
};
static struct tcb_s motor = {.name = "motor"}, lamp = {.name = "lamp"};
typedef struct dq_entry_s {
    struct dq_entry_s *flink;
} dq_entry_t;
struct {
    dq_entry_t *head, *tail;
} g_readytorun;
struct irq_info_s {
    int (*handler)(int irq, void *context, void *arg);
    void *arg;
} g_irqvector[48];
static int tim2_isr(int irq, void *context, void *arg) {
    (void)irq, (void)context, (void)arg;
    NOPS(200);
    return 0;
}
APART void arm_doirq(int irq) {
    g_irqvector[irq].handler(irq, 0, g_irqvector[irq].arg);
}
/* As its own: an assembler function whose frame information is of no use. */
__asm__(".text\n.global exception_common\n.thumb_func\n.type exception_common, function\n"
        "exception_common:\n push {r4, lr}\n mrs r0, ipsr\n bl arm_doirq\n pop {r4, pc}\n");
void exception_common(void);
ALWAYS void enter_critical_section(void) {
    disable();
}
APART void nx_bringup(void) {
    enable();
}
APART void nx_start(void) {
    g_irqvector[16 + 28].handler = tim2_isr;
    g_readytorun.head = (dq_entry_t *)&motor;
    nx_bringup();
}
#define COMMON exception_common
#define START nx_start()
#define SWITCH g_readytorun.head = (dq_entry_t *)&lamp
#define LOCK ((struct tcb_s *)g_readytorun.head)->lockcount++
#define UNLOCK ((struct tcb_s *)g_readytorun.head)->lockcount--
#define MASK enter_critical_section()
#define UNMASK enable()

#else /* no kernel */

APART void start_of_all(void) {
    enable();
}
#define START start_of_all()
#define SWITCH
#define MASK disable()
#define UNMASK enable()

#endif

#ifndef COMMON
#define COMMON own_isr
APART void own_isr(void) {
    NOPS(200);
}
#endif

#ifndef ENTRY
#define ENTRY main
#endif

__attribute__((section(".vectors"), used)) static void (*const vectors[16 + 30])(void) = {
    (void (*)(void))stack_top, reset, fault, fault, [16 + 28] = COMMON,
};

/* The program's own section, of 100 NOPs. */
APART static void update_table(void) {
    MASK;
    NOPS(100);
    UNMASK;
}

APART static void read_table(void) {
#ifdef LOCK
    LOCK;
    NOPS(50);
    UNLOCK;
#endif
}

APART int ENTRY(void) {
    START;
    interrupt();
    update_table();
    SWITCH;
    read_table();
    update_table();
    for (;;) {}
}

extern char data_from[], data_begin[], data_end[];

/* Start-up, of 1,000 NOPs with interrupts held off, to ENTRY and to where the kernel starts. */
void reset(void) {
    for (char *from = data_from, *to = data_begin; to != data_end;) {
        *to++ = *from++;
    }
    disable();
#ifdef EARLY
    REGISTER(0xE000E100) = 1u << 28;
#endif
    NOPS(1000);
    ENTRY();
}
