/** Why the core was reset. */
#ifndef TAILSCOPE_BOARD_RESET_CAUSE_H
#define TAILSCOPE_BOARD_RESET_CAUSE_H

#include <stdint.h>

/**
 * The flags of RCC_CSR as the family has them: the causes of all resets since the last call,
 * which this one clears.
 */
uint32_t reset_cause_take(void);

#endif
