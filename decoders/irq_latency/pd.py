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

STIM, ISR, TASK, CTRL, CISR, CRIT = range(6)
# Of each kind: what asks, what answers, its name, and how shortly before an answer a stimulus may
# come that is for the next one (ns).
KINDS = ((STIM, ISR, 'ISR', 250), (STIM, TASK, 'Task', 20000), (CTRL, CISR, 'Control', 250))
FLAG_HIT, FLAG_OVER_LIMIT = 2, 4
EDGES = {'both': 'e', 'rising': 'r', 'falling': 'f'}
ROW = struct.Struct('<BBHIQQ')

# Each kind has three annotation classes, in this order.
CLEAR, HIT, MERGED = range(3)
ANN_WARNING = 3 * len(KINDS)

class SamplerateError(Exception):
    pass

class Wait:
    '''The wait of one kind: the stimulus where it began, the last that was merged into it, how many
    were, and a `late` one that the next answer may be for.
    '''

    def __init__(self, number):
        self.number = number
        self.stimulus, self.answer, self.name, self.late_ns = KINDS[number]
        self.pending = self.last = self.late = None
        self.merged = self.longest = 0

class Decoder(srd.Decoder):
    api_version = 3
    id = 'irq_latency'
    name = 'IRQ latency'
    longname = 'Interrupt latency'
    desc = 'Latency from a stimulus to its interrupt and task.'
    license = 'mit'
    inputs = ['logic']
    outputs = []
    tags = ['Debug/trace', 'Embedded/industrial']
    channels = (
        {'id': 'stim', 'name': 'STIM', 'desc': 'Its edges are stimuli'},
        {'id': 'isr', 'name': 'ISR', 'desc': 'High in the interrupt'},
    )
    optional_channels = (
        {'id': 'task', 'name': 'TASK', 'desc': 'High in the woken task'},
        {'id': 'ctrl', 'name': 'CTRL', 'desc': 'Its edges are control stimuli'},
        {'id': 'cisr', 'name': 'CISR', 'desc': 'High in the control interrupt'},
        {'id': 'crit', 'name': 'CRIT', 'desc': 'High in the critical section'},
    )
    options = (
        {'id': 'core_hz', 'desc': 'Core clock (Hz)', 'default': 84000000},
        {'id': 'limit_cycles', 'desc': 'Warn beyond (cycles)', 'default': 0},
        {'id': 'edges', 'desc': 'Edges that are stimuli', 'default': 'both',
            'values': ('both', 'rising', 'falling')},
    )
    annotations = (
        ('isr-clear', 'ISR latency'),
        ('isr-hit', 'ISR latency, critical section hit'),
        ('isr-merged', 'ISR wait, later stimulus'),
        ('task-clear', 'Task latency'),
        ('task-hit', 'Task latency, critical section hit'),
        ('task-merged', 'Task wait, later stimulus'),
        ('control-clear', 'Control latency'),
        ('control-hit', 'Control latency, critical section hit'),
        ('control-merged', 'Control wait, later stimulus'),
        ('warning', 'Longer than the limit'),
    )
    annotation_rows = (
        ('isr-latencies', 'ISR latencies', (0, 1)),
        ('task-latencies', 'Task latencies', (3, 4)),
        ('control-latencies', 'Control latencies', (6, 7)),
        ('merged-edges', 'Merged into a wait', (2, 5, 8)),
        ('warnings', 'Warnings', (ANN_WARNING,)),
    )
    binary = (('latencies', 'Latencies, 24 bytes each'),)

    def __init__(self):
        self.reset()

    def reset(self):
        self.samplerate = None
        self.waits = [Wait(number) for number in range(len(KINDS))]
        self.rises_of_crit = 0

    def metadata(self, key, value):
        if key == srd.SRD_CONF_SAMPLERATE:
            self.samplerate = value

    def start(self):
        self.out_ann = self.register(srd.OUTPUT_ANN)
        self.out_binary = self.register(srd.OUTPUT_BINARY)
        self.out_longest = [
            self.register(
                srd.OUTPUT_META,
                meta=(
                    float,
                    'Longest %s latency' % wait.name,
                    'Longest %s latency so far (cycles)' % wait.name,
                ),
            )
            for wait in self.waits
        ]

    def decode(self):
        if not self.samplerate:
            raise SamplerateError('Cannot decode without samplerate.')
        if self.options['core_hz'] <= 0:
            raise ValueError('core_hz must be positive.')
        # The pin of a channel that is not connected reads 0xFF. has_channel() would say the same.
        # But that of libsigrokdecode 0.5.3 returns True without owning a reference, and the
        # interpreter dies when it ends.
        connected = {c for c, pin in enumerate(self.wait({'skip': 0})) if pin != 0xFF}
        waits = [wait for wait in self.waits if connected >= {wait.stimulus, wait.answer}]
        stimuli = sorted({wait.stimulus for wait in waits})
        rising = [wait.answer for wait in waits] + sorted({CRIT} & connected)
        edge = EDGES[self.options['edges']]
        conditions = [{c: 'r'} for c in rising] + [{c: edge} for c in stimuli]
        while True:
            pins = self.wait(conditions)
            seen = {c for c, matched in zip(rising + stimuli, self.matched) if matched}
            if CRIT in seen:
                self.rises_of_crit += 1
            # Answers first: at the sample of a new stimulus they belong to the one before.
            for wait in waits:
                if wait.answer in seen:
                    self.answer(wait)
            for wait in waits:
                if wait.stimulus in seen:
                    self.stimulus(wait, CRIT in connected and pins[CRIT] == 1)

    def stimulus(self, wait, hit):
        come = (self.samplenum, FLAG_HIT if hit else 0, self.rises_of_crit)
        wait.late = None
        if wait.pending is None:
            wait.pending = come
            return
        wait.merged += 1
        wait.last = come
        begin = wait.pending[0]
        least = self.texts(self.samplenum - begin, 0)[1]
        self.put(
            self.samplenum,
            self.samplenum,
            self.out_ann,
            [
                3 * wait.number + MERGED,
                ['%s still waited for, >= %s' % (wait.name, least), 'Merged', 'M'],
            ],
        )
        # A capture that ends before the answer has been told how long the wait is at least.
        self.lengthen(wait, begin)

    def answer(self, wait):
        pending = wait.pending or wait.late
        wait.late = None
        if pending is None:
            return
        stimulus, flags, rises_before = pending
        # What came late for this answer is for the next, if that comes before another stimulus.
        limit = wait.late_ns * self.samplerate // 1000000000
        if wait.last is not None and self.samplenum - wait.last[0] <= limit:
            wait.late = wait.last
        merged = wait.merged
        wait.pending, wait.last, wait.merged = None, None, 0
        if self.rises_of_crit > rises_before:
            flags |= FLAG_HIT
        width = self.lengthen(wait, stimulus)
        limit = self.options['limit_cycles']
        if 0 < limit * self.samplerate < width * self.options['core_hz']:
            flags |= FLAG_OVER_LIMIT
            words = ['%s later than %d cycles' % (wait.name, limit), 'Late']
            self.put(stimulus, self.samplenum, self.out_ann, [ANN_WARNING, words])
        self.put(
            stimulus,
            self.samplenum,
            self.out_ann,
            [3 * wait.number + (HIT if flags & FLAG_HIT else CLEAR), self.texts(width, merged)],
        )
        self.put(
            stimulus,
            self.samplenum,
            self.out_binary,
            [0, ROW.pack(wait.number, flags, 0, merged, stimulus, self.samplenum)],
        )

    def lengthen(self, wait, stimulus):
        '''How long the wait is; tells of it if it is the longest so far.'''
        width = self.samplenum - stimulus
        if width > wait.longest:
            wait.longest = width
            self.put(stimulus, self.samplenum, self.out_longest[wait.number], self.cycles(width))
        return width

    def cycles(self, width):
        return round(width * self.options['core_hz'] / self.samplerate, 1)

    def texts(self, width, merged):
        '''The latency in words, the fullest first: sigrok takes the longest that has room.'''
        nanoseconds = '%.12g ns' % round(width * 1e9 / self.samplerate, 1)
        short = '%s, %.12g cycles' % (nanoseconds, self.cycles(width))
        fullest = '%s, %d samples' % (short, width)
        if merged:
            fullest += ', %d later stimuli merged' % merged
        return [fullest, short, nanoseconds]
