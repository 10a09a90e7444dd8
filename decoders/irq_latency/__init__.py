"""Interrupt latency: from an edge of the stimulus to the first instructions that answer it.

Every edge of STIM, rising or falling, asks for an interrupt; the first rising edge of ISR after it and
before the next edge of STIM is its answer, and likewise the first rising edge of TASK, the task that the
interrupt wakes. CTRL and CISR are the same for the control interrupt, which is never masked. An answer
comes at a later sample than its stimulus; one at the very sample of the next stimulus belongs to the
earlier. A stimulus that is followed by another before its answer is missed. The last stimulus of a
capture may stay unanswered: nothing is said of it.

With CRIT connected, a latency is set apart as "hit" if CRIT was high at some sample from the stimulus to its
answer, both included: the mask may be raised just before the pin is. A missed stimulus is hit if CRIT was
high at its own sample.

Binary class "latencies": one row of 24 bytes per stimulus and kind, little-endian, in the order of
decision:

    u8   kind      0 STIM to ISR, 1 STIM to TASK, 2 CTRL to CISR
    u8   flags     bit 0: missed; bit 1: hit (0 without CRIT)
    u16  reserved  0
    u32  reserved  0
    u64  stimulus  sample of the stimulus
    u64  answer    sample of the answer; 0xFFFFFFFFFFFFFFFF if missed
"""

from .pd import Decoder as Decoder
