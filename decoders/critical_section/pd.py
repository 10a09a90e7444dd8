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

import struct

import sigrokdecode as srd

CRIT, OP, SYNC = range(3)
ANN_CRIT, ANN_OP, ANN_LONGEST, ANN_WARNING = range(4)
FLAG_OVER_LIMIT, FLAG_LONGEST = 1, 2
NO_OPERATION = 0xFFFFFFFF
ROW = struct.Struct('<BBHIQQ')

FRAME_EDGES = 64
FRAME_TICKS = 840
FRAME_TOLERANCE = 0.02

class SamplerateError(Exception):
    pass

class OperationCounter:
    '''Numbers the operations by the SYNC edges that follow the start frame.'''

    def __init__(self, spacing_samples):
        self.spacing = spacing_samples
        self.tolerance = FRAME_TOLERANCE * spacing_samples + 1
        self.last = None
        self.fits = 0
        self.edges_since_frame = None

    def edge(self, sample, level):
        if self.last is not None and abs(sample - self.last - self.spacing) <= self.tolerance:
            self.fits += 1
        else:
            self.fits = 0
        self.last = sample
        if self.fits == FRAME_EDGES - 1 and not level:
            self.edges_since_frame = 0
        elif self.fits == FRAME_EDGES:
            self.edges_since_frame = None  # a longer train is no frame
        elif self.edges_since_frame is not None:
            self.edges_since_frame += 1

    @property
    def operation(self):
        return self.edges_since_frame - 1 if self.edges_since_frame else NO_OPERATION

class Decoder(srd.Decoder):
    api_version = 3
    id = 'critical_section'
    name = 'Critical section'
    longname = 'Critical sections of a heap allocator'
    desc = 'Pulse widths of critical sections and heap operations.'
    license = 'mit'
    inputs = ['logic']
    outputs = []
    tags = ['Debug/trace', 'Embedded/industrial']
    channels = ({'id': 'crit', 'name': 'CRIT', 'desc': 'High in the critical section'},)
    optional_channels = (
        {'id': 'op', 'name': 'OP', 'desc': 'High in the heap operation'},
        {'id': 'sync', 'name': 'SYNC', 'desc': 'Toggles before each operation'},
    )
    options = (
        {'id': 'core_hz', 'desc': 'Core clock (Hz)', 'default': 84000000},
        {'id': 'limit_cycles', 'desc': 'Warn beyond (cycles)', 'default': 0},
        {'id': 'polarity', 'desc': 'Level of CRIT and OP that counts', 'default': 'active-high',
            'values': ('active-high', 'active-low')},
    )
    annotations = (
        ('critical', 'Critical section'),
        ('operation', 'Heap operation'),
        ('longest', 'Longest critical section so far'),
        ('warning', 'Longer than the limit'),
    )
    annotation_rows = (
        ('critical-sections', 'Critical sections', (ANN_CRIT,)),
        ('operations', 'Heap operations', (ANN_OP,)),
        ('maxima', 'Longest so far', (ANN_LONGEST,)),
        ('warnings', 'Warnings', (ANN_WARNING,)),
    )
    binary = (('pulses', 'Pulses, 24 bytes each'),)

    def __init__(self):
        self.reset()

    def reset(self):
        self.samplerate = None
        self.rise = [None, None]
        self.longest = 0

    def metadata(self, key, value):
        if key == srd.SRD_CONF_SAMPLERATE:
            self.samplerate = value

    def start(self):
        self.out_ann = self.register(srd.OUTPUT_ANN)
        self.out_binary = self.register(srd.OUTPUT_BINARY)
        self.out_longest = self.register(
            srd.OUTPUT_META, meta=(float, 'Longest section', 'Longest critical section so far (cycles)')
        )

    def decode(self):
        if not self.samplerate:
            raise SamplerateError('Cannot decode without samplerate.')
        if self.options['core_hz'] <= 0:
            raise ValueError('core_hz must be positive.')
        self.counter = OperationCounter(FRAME_TICKS * self.samplerate / self.options['core_hz'])
        # The pin of a channel that is not connected reads 0xFF. has_channel() would say the same.
        # But that of libsigrokdecode 0.5.3 returns True without owning a reference, and the
        # interpreter dies when it ends.
        connected = [c for c, pin in enumerate(self.wait({'skip': 0})) if pin != 0xFF]
        # SYNC goes first: what begins at the very sample of its edge is of the new operation.
        order = sorted(range(len(connected)), key=lambda i: connected[i], reverse=True)
        conditions = [{c: 'e'} for c in connected]
        self.active = int(self.options['polarity'] == 'active-high')
        while True:
            pins = self.wait(conditions)
            for i in order:
                if self.matched[i]:
                    self.edge(connected[i], pins[connected[i]])

    def edge(self, channel, level):
        if channel == SYNC:
            self.counter.edge(self.samplenum, level)
        elif level == self.active:
            self.rise[channel] = (self.samplenum, self.counter.operation)
        elif self.rise[channel] is not None:
            self.pulse(channel, *self.rise[channel])

    def pulse(self, channel, start, operation):
        width = self.samplenum - start
        text = self.texts(width)
        flags = 0
        label = '' if operation == NO_OPERATION else '#%d: ' % operation
        self.put(
            start,
            self.samplenum,
            self.out_ann,
            [ANN_CRIT if channel == CRIT else ANN_OP, [label + text[0]] + text[1:]],
        )
        if channel == CRIT and width > self.longest:
            self.longest = width
            flags |= FLAG_LONGEST
            self.put(start, self.samplenum, self.out_ann, [ANN_LONGEST, text])
            self.put(start, self.samplenum, self.out_longest, self.cycles(width))
        limit = self.options['limit_cycles']
        if channel == CRIT and 0 < limit * self.samplerate < width * self.options['core_hz']:
            flags |= FLAG_OVER_LIMIT
            words = ['Longer than %d cycles' % limit, 'Long']
            self.put(start, self.samplenum, self.out_ann, [ANN_WARNING, words])
        self.put(
            start,
            self.samplenum,
            self.out_binary,
            [0, ROW.pack(channel, flags, 0, operation, start, self.samplenum)],
        )

    def cycles(self, width):
        return round(width * self.options['core_hz'] / self.samplerate, 1)

    def texts(self, width):
        '''The width in words, the fullest first: sigrok takes the longest that has room.'''
        cycles = '%.12g cycles' % self.cycles(width)
        short = '%s, %.12g ns' % (cycles, round(width * 1e9 / self.samplerate, 1))
        return ['%s, %d samples' % (short, width), short, cycles]
