/** The pins of these programs, as the bench's own firmware has them (docs/reference/wiring.md). */
#define TAILSCOPE_CRIT TAILSCOPE_PIN('A', 8)
#define TAILSCOPE_OP TAILSCOPE_PIN('A', 9)
#define TAILSCOPE_ISR TAILSCOPE_PIN('A', 10)
#define TAILSCOPE_SYNC TAILSCOPE_PIN('B', 4)
