"""Widths of the allocator's critical sections and of the heap operations around them.

CRIT is high while a critical section runs, and OP while one heap operation runs, locking included.
Each complete pulse is annotated with its width in cycles of the core, in time and in samples. A
pulse that the capture cuts off at either end has no width and is left out. The longest critical
section so far stands in a row of its own. Pulses longer than the option limit_cycles get a warning
(0: no limit).

With SYNC connected, pulses carry the number of their operation: SYNC edges are counted from the
start frame, 64 edges 840 ticks of the core's clock apart.

Meta output: the longest critical section so far, in cycles.

Binary class "pulses": one row of 24 bytes per pulse, little-endian, ordered by end:

    u8   channel   0 CRIT, 1 OP
    u8   flags     bit 0: a CRIT pulse longer than limit_cycles; bit 1: the longest so far
    u16  reserved  0
    u32  operation number; 0xFFFFFFFF outside operations or without SYNC
    u64  start     sample of the rising edge
    u64  end       sample of the falling edge
"""

from .pd import Decoder as Decoder
