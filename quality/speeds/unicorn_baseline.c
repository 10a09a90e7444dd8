/*
 * How fast Unicorn runs the firmware with a hook on every instruction, which is what a cycle model
 * needs of it.
 *
 * usage: unicorn_baseline FLASH.bin INSTRUCTIONS
 *
 * The start of the firmware (memory, clocks, pins, UART, up to the scheduler's SVC, which Unicorn
 * cannot take) runs again and again until INSTRUCTIONS have been executed. Peripherals are memory
 * whose status bits are always ready.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unicorn/unicorn.h>

enum { FLASH = 0x08000000, FLASH_BYTES = 512 * 1024, SRAM = 0x20000000, SRAM_BYTES = 96 * 1024 };
enum { RCC_CR = 0x40023800, RCC_CFGR = 0x40023808, USART2_SR = 0x40004400 };

static uint8_t flash[FLASH_BYTES];
static uint64_t executed;
static uint64_t wanted;

static void count(uc_engine *uc, uint64_t address, uint32_t size, void *data) {
    (void)address, (void)size, (void)data;
    if (++executed == wanted) {
        uc_emu_stop(uc);
    }
}

/* HSERDY and PLLRDY; SWS follows SW; TXE and TC (RM0368, 6.3.1, 6.3.3, 19.6.1). */
static void ready(uc_engine *uc, uc_mem_type type, uint64_t address, int size, int64_t value,
                  void *data) {
    (void)type, (void)size, (void)value, (void)data;
    uint32_t word = 0;
    uc_mem_read(uc, address & ~3ull, &word, sizeof word);
    switch (address & ~3ull) {
    case RCC_CR:
        word |= 1u << 17 | 1u << 25 | 1u << 1;
        break;
    case RCC_CFGR:
        word = (word & ~0xCu) | (word & 3u) << 2;
        break;
    case USART2_SR:
        word |= 0xC0u;
        break;
    default:
        return;
    }
    uc_mem_write(uc, address & ~3ull, &word, sizeof word);
}

static void stop(uc_engine *uc, uint32_t number, void *data) {
    (void)number, (void)data;
    uc_emu_stop(uc);
}

static void check(uc_err error, const char *what) {
    if (error != UC_ERR_OK) {
        fprintf(stderr, "unicorn: %s: %s\n", what, uc_strerror(error));
        exit(1);
    }
}

static uc_engine *board(void) {
    uc_engine *uc;
    uc_hook hook;
    check(uc_open(UC_ARCH_ARM, UC_MODE_THUMB, &uc), "open");
    check(uc_ctl_set_cpu_model(uc, UC_CPU_ARM_CORTEX_M4), "the Cortex-M4");
    check(uc_mem_map_ptr(uc, FLASH, FLASH_BYTES, UC_PROT_READ | UC_PROT_EXEC, flash), "flash");
    check(uc_mem_map(uc, SRAM, SRAM_BYTES, UC_PROT_ALL), "SRAM");
    check(uc_mem_map(uc, 0x40000000, 0x80000, UC_PROT_READ | UC_PROT_WRITE), "peripherals");
    check(uc_mem_map(uc, 0xE0000000, 0x100000, UC_PROT_READ | UC_PROT_WRITE),
          "private peripherals");
    check(uc_hook_add(uc, &hook, UC_HOOK_CODE, count, NULL, 1, 0), "the hook");
    check(uc_hook_add(uc, &hook, UC_HOOK_MEM_READ, ready, NULL, 0x40000000, 0x4007FFFF),
          "the status bits");
    check(uc_hook_add(uc, &hook, UC_HOOK_INTR, stop, NULL, 1, 0), "SVC");
    return uc;
}

static double seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

int main(int argc, char **argv) {
    FILE *file = argc == 3 ? fopen(argv[1], "rb") : NULL;
    if (file == NULL || fread(flash, 1, sizeof flash, file) == 0) {
        fprintf(stderr, "usage: unicorn_baseline FLASH.bin INSTRUCTIONS\n");
        return 1;
    }
    fclose(file);
    wanted = strtoull(argv[2], NULL, 10);
    uc_engine *uc = board();
    const double began = seconds();
    uint64_t shortest = UINT64_MAX;
    while (executed < wanted) {
        const uint32_t *vectors = (const uint32_t *)(const void *)flash;
        const uint64_t before = executed;
        check(uc_reg_write(uc, UC_ARM_REG_SP, &vectors[0]), "SP");
        uc_emu_start(uc, vectors[1] | 1u, 0, 0, 0);
        shortest = executed - before < shortest ? executed - before : shortest;
        if (executed == before) {
            fprintf(stderr, "unicorn: the firmware does not start\n");
            return 1;
        }
    }
    printf("%llu %.9f %llu\n", (unsigned long long)executed, seconds() - began,
           (unsigned long long)shortest);
    uc_close(uc);
    return 0;
}
