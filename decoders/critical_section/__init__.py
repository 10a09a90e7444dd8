##
## This file is part of the Tailscope project.
##
## Copyright (C) 2026 the Tailscope authors
##
## Permission is hereby granted, free of charge, to any person obtaining a copy
## of this software and associated documentation files (the "Software"), to deal
## in the Software without restriction, including without limitation the rights
## to use, copy, modify, merge, publish, distribute, sublicense, and/or sell
## copies of the Software, and to permit persons to whom the Software is
## furnished to do so, subject to the following conditions:
##
## The above copyright notice and this permission notice shall be included in all
## copies or substantial portions of the Software.
##
## THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR
## IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY,
## FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE
## AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER
## LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM,
## OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE
## SOFTWARE.
##

'''
Widths of the allocator's critical sections and of the heap operations around them.

CRIT is high while a critical section runs, and OP while one heap operation runs, locking included.
Each complete pulse is annotated with its width in cycles of the core, in time and in samples. A
pulse that the capture cuts off at either end has no width and is left out. The longest critical
section so far stands in a row of its own. Pulses longer than the option limit_cycles get a warning
(0: no limit). With the option polarity=active-low, CRIT and OP are low instead of high meanwhile.

With SYNC connected, pulses carry the number of their operation: SYNC edges are counted from the
start frame, 64 edges 840 ticks of the core's clock apart.

Meta output: the longest critical section so far, in cycles.

Binary class "pulses": one row of 24 bytes per pulse, little-endian, ordered by end:

    u8   channel   0 CRIT, 1 OP
    u8   flags     bit 0: a CRIT pulse longer than limit_cycles; bit 1: the longest so far
    u16  reserved  0
    u32  operation number; 0xFFFFFFFF outside operations or without SYNC
    u64  start     sample of the rising edge, of the falling one with active-low
    u64  end       sample of the other edge
'''

from .pd import Decoder
