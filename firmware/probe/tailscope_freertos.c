/* Where the linker's --wrap leads what FreeRTOS's kernel and a program call. */
#include <stddef.h>

#include "FreeRTOS.h"
#include "tailscope_freertos.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Names that --wrap prescribes. */
void __real_vPortEnterCritical(void);
void __real_vPortExitCritical(void);
void __wrap_vPortEnterCritical(void);
void __wrap_vPortExitCritical(void);
void *__real_pvPortMalloc(size_t size);
void __real_vPortFree(void *block);
void *__wrap_pvPortMalloc(size_t size);
void __wrap_vPortFree(void *block);

#ifdef TAILSCOPE_CRIT

void __wrap_vPortEnterCritical(void) {
    __real_vPortEnterCritical();
    TAILSCOPE_BEGIN_NESTED(CRIT);
}

void __wrap_vPortExitCritical(void) {
    TAILSCOPE_END_NESTED(CRIT);
    __real_vPortExitCritical();
}

#endif

#ifdef TAILSCOPE_OP

void *__wrap_pvPortMalloc(size_t size) {
    TAILSCOPE_BEGIN_NESTED(OP);
    void *const block = __real_pvPortMalloc(size);
    TAILSCOPE_END_NESTED(OP);
    return block;
}

void __wrap_vPortFree(void *block) {
    TAILSCOPE_BEGIN_NESTED(OP);
    __real_vPortFree(block);
    TAILSCOPE_END_NESTED(OP);
}

#endif

#ifdef __cplusplus
}
#endif
