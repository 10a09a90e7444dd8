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
Interrupt latency: from an edge of the stimulus to the first instructions that answer it.

Every edge of STIM asks for an interrupt, whose answer is a rising edge of ISR; where STIM and CTRL
are pulses, the option edges takes the rising or the falling ones alone. A wait runs from the first
edge that is not answered yet to the answer. The edges that come meanwhile are merged into it: an
interrupt has one pending bit. TASK shows in the same way when the task runs that the interrupt
wakes. CTRL and CISR are the same for the control interrupt, which is never
masked.

An answer comes at a later sample than its stimulus. One at the very sample of the next stimulus
belongs to the earlier one. An edge that comes within 250 ns before an answer (20 us before TASK),
and while an earlier one waits, may be too late for it: it waits on if another answer follows before
another edge. Of a wait that is not over when the capture ends nothing is said.

With CRIT connected, a latency is a "hit" if CRIT was high at some sample from the stimulus to its
answer, both included. So it counts too where the mask is raised just before the pin is.

An answer later than the option limit_cycles gets a warning (0: no limit).

Meta output: the longest latency so far of each kind, in cycles.

Binary class "latencies": one row of 24 bytes per wait and kind, little-endian, in the order of the
answers:

    u8   kind      0 STIM to ISR, 1 STIM to TASK, 2 CTRL to CISR
    u8   flags     bit 1: hit (0 without CRIT); bit 2: over the limit
    u16  reserved  0
    u32  merged    later stimuli that were merged into the wait, with one that may be too late
    u64  stimulus  sample of the stimulus
    u64  answer    sample of the answer
'''

from .pd import Decoder
