#include "bench/records.h"

#include "FreeRTOS.h"
#include "board/nvic.h"
#include "board/reset.h"
#include "task.h"

void fail(const char *reason, uint32_t detail) {
    (void)interrupts_mask();
    record_abandon();
    record_begin("FAIL");
    record_text(reason);
    record_decimal(detail);
    record_end();
    recorder_finish();
    halt();
}

/* Word 6 of the frame that an exception stacks is the PC (PM0214, section 2.3.7). */
__attribute__((noreturn)) void fault(const uint32_t *frame) {
    fail("fault", frame[6]);
}

/* The address tells which assertion: arm-none-eabi-addr2line -e tailscope.elf. */
void kernel_assertion_failed(void) {
    fail("assertion", (uint32_t)(uintptr_t)__builtin_return_address(0));
}

void vApplicationStackOverflowHook(TaskHandle_t task, char *name) {
    (void)name;
    fail("stack", (uint32_t)(uintptr_t)task);
}
