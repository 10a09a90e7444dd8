/*
 * Runs a program in Unicorn with a hook on every instruction, which is what a cycle model needs of
 * it, up to its first BKPT. Prints how many instructions it executed.
 *
 * usage: unicorn_hooked FLASH.bin
 */
#include <stdint.h>
#include <stdio.h>
#include <unicorn/unicorn.h>

enum { FLASH = 0x08000000, FLASH_BYTES = 512 * 1024, SRAM = 0x20000000, SRAM_BYTES = 96 * 1024 };

static uint8_t flash[FLASH_BYTES];
static uint64_t executed;

static void count(uc_engine *uc, uint64_t address, uint32_t size, void *data) {
    (void)uc, (void)address, (void)size, (void)data;
    executed++;
}

static void stop(uc_engine *uc, uint32_t number, void *data) {
    (void)number, (void)data;
    uc_emu_stop(uc);
}

int main(int argc, char **argv) {
    uc_engine *uc;
    uc_hook hook;
    FILE *file = argc == 2 ? fopen(argv[1], "rb") : NULL;
    const uint32_t *vectors = (const uint32_t *)(const void *)flash;
    if (file == NULL || fread(flash, 1, sizeof flash, file) == 0 ||
        uc_open(UC_ARCH_ARM, UC_MODE_THUMB, &uc) ||
        uc_ctl_set_cpu_model(uc, UC_CPU_ARM_CORTEX_M4) ||
        uc_mem_map_ptr(uc, FLASH, FLASH_BYTES, UC_PROT_READ | UC_PROT_EXEC, flash) ||
        uc_mem_map(uc, SRAM, SRAM_BYTES, UC_PROT_ALL) ||
        uc_hook_add(uc, &hook, UC_HOOK_CODE, count, NULL, 1, 0) ||
        uc_hook_add(uc, &hook, UC_HOOK_INTR, stop, NULL, 1, 0) ||
        uc_reg_write(uc, UC_ARM_REG_SP, &vectors[0]) ||
        uc_emu_start(uc, vectors[1] | 1u, 0, 0, 0)) {
        fprintf(stderr, "unicorn does not run %s\n", argc == 2 ? argv[1] : "without a file");
        return 1;
    }
    printf("%llu\n", (unsigned long long)executed);
    return 0;
}
