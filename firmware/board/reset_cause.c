#include "board/reset.h"

#include "registers.h"

uint32_t reset_cause_take(void) {
    const uint32_t causes = RCC_CSR & RCC_CSR_CAUSES_Msk;
    RCC_CSR |= RCC_CSR_RMVF;
    return causes;
}
