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
KINDS = ((STIM, ISR, 'ISR'), (STIM, TASK, 'Task'), (CTRL, CISR, 'Control'))
FLAG_HIT, FLAG_OVER_LIMIT = 2, 4
EDGES = {'both': 'e', 'rising': 'r', 'falling': 'f'}
ROW = struct.Struct('<BBHIQQ')

# A stimulus that comes so short before an answer may be for the next one (ns).
LATE = {ISR: 250, TASK: 20000, CISR: 250}

# Each kind has three annotation classes, in this order.
CLEAR, HIT, MERGED = range(3)
ANN_WARNING = 3 * len(KINDS)

class SamplerateError(Exception):
    pass

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
        # Where the wait began, the last stimulus that was merged into it, and how many were.
        # `late` is a stimulus that the next answer may be for.
        self.pending = [None] * len(KINDS)
        self.last = [None] * len(KINDS)
        self.merged = [0] * len(KINDS)
        self.late = [None] * len(KINDS)
        self.rises_of_crit = 0
        self.longest = [0] * len(KINDS)

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
                    'Longest %s latency' % name,
                    'Longest %s latency so far (cycles)' % name,
                ),
            )
            for _, _, name in KINDS
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
        kinds = [k for k, (stimulus, answer, _) in enumerate(KINDS) if connected >= {stimulus, answer}]
        stimuli = sorted({KINDS[k][0] for k in kinds})
        answers = [KINDS[k][1] for k in kinds]
        rising = answers + sorted({CRIT} & connected)
        edge = EDGES[self.options['edges']]
        conditions = [{c: 'r'} for c in rising] + [{c: edge} for c in stimuli]
        while True:
            pins = self.wait(conditions)
            seen = {c for c, matched in zip(rising + stimuli, self.matched) if matched}
            if CRIT in seen:
                self.rises_of_crit += 1
            # Answers first: at the sample of a new stimulus they belong to the one before.
            for k in kinds:
                if KINDS[k][1] in seen:
                    self.answer(k)
            for k in kinds:
                if KINDS[k][0] in seen:
                    self.stimulus(k, CRIT in connected and pins[CRIT] == 1)

    def stimulus(self, kind, hit):
        come = (self.samplenum, FLAG_HIT if hit else 0, self.rises_of_crit)
        self.late[kind] = None
        if self.pending[kind] is None:
            self.pending[kind] = come
            return
        self.merged[kind] += 1
        self.last[kind] = come
        begin = self.pending[kind][0]
        least = self.texts(self.samplenum - begin, 0)[1]
        self.put(
            self.samplenum,
            self.samplenum,
            self.out_ann,
            [
                3 * kind + MERGED,
                ['%s still waited for, >= %s' % (KINDS[kind][2], least), 'Merged', 'M'],
            ],
        )
        # A capture that ends before the answer has been told how long the wait is at least.
        self.lengthen(kind, begin)

    def answer(self, kind):
        pending = self.pending[kind] or self.late[kind]
        self.late[kind] = None
        if pending is None:
            return
        stimulus, flags, rises_before = pending
        self.pending[kind] = None
        # What came late for this answer is for the next, if that comes before another stimulus.
        last, merged = self.last[kind], self.merged[kind]
        self.last[kind], self.merged[kind] = None, 0
        limit = LATE[KINDS[kind][1]] * self.samplerate // 1000000000
        if last is not None and self.samplenum - last[0] <= limit:
            self.late[kind] = last
        if self.rises_of_crit > rises_before:
            flags |= FLAG_HIT
        flags |= self.judge(kind, stimulus)
        self.put(
            stimulus,
            self.samplenum,
            self.out_ann,
            [3 * kind + (HIT if flags & FLAG_HIT else CLEAR), self.texts(self.samplenum - stimulus, merged)],
        )
        self.put(
            stimulus,
            self.samplenum,
            self.out_binary,
            [0, ROW.pack(kind, flags, 0, merged, stimulus, self.samplenum)],
        )

    def lengthen(self, kind, stimulus):
        '''Tells of the longest latency so far.'''
        width = self.samplenum - stimulus
        if width > self.longest[kind]:
            self.longest[kind] = width
            self.put(stimulus, self.samplenum, self.out_longest[kind], self.cycles(width))

    def judge(self, kind, stimulus):
        '''Warns of a latency over the limit; its flag.'''
        self.lengthen(kind, stimulus)
        width = self.samplenum - stimulus
        limit = self.options['limit_cycles']
        if not 0 < limit * self.samplerate < width * self.options['core_hz']:
            return 0
        words = '%s later than %d cycles' % (KINDS[kind][2], limit)
        self.put(stimulus, self.samplenum, self.out_ann, [ANN_WARNING, [words, 'Late']])
        return FLAG_OVER_LIMIT

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
