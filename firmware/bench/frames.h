/** The frames on SYNC that bracket a run: 64 edges timed by hardware (docs/reference/wire.md). */
#ifndef TAILSCOPE_BENCH_FRAMES_H
#define TAILSCOPE_BENCH_FRAMES_H

void send_start_frame(void);

/** Brings SYNC low and waits the quiet time before it. */
void send_end_frame(void);

#endif
