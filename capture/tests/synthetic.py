"""A run made up for the tests. Its events are laid down in cycles first, so the truth is known.

Of the code under test only the image compiler is used, and of the records only their specification.
"""

from __future__ import annotations

import binascii
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from base.run_folder.edges import CHANNELS, EdgeList
from scenarios import catalogue
from scenarios.generator import Step
from scenarios.operations import Allocate, Call, Free
from scenarios.plan import Plan, compile_steps
from scenarios.stimulus import MODES, SWEEP_LEAD_TICKS, Stimulus

CORE_HZ = 84_000_000
HEAP_BYTES = 65_536
CRITICAL_COST = 3
OPERATION_COST = 5
STIMULUS_PERIOD = 5003
CONTROL_PERIOD = 7919
TICK_PERIOD, TICK_HANDLER = 84_000, 130
PORT_GAP = 2
TASK_LATER = 300
# From a pin's rise to the read of the timer's counter.
READ_LATER = 3
COUNTER_AHEAD = (1 << 32) - 400_000
BIT = {name: bit for bit, name in enumerate(CHANNELS)}


def small_plan(**overrides: int) -> Plan:
    """mem_frag with few pairs: setup, frees and trials in some dozens of operations."""
    return catalogue.load("mem_frag", overrides or {"depth": 9}).compile()


def small_plan_under(stimulus: str, depth: int = 9) -> Plan:
    """The same under another stimulus, in the words of the command line."""
    return catalogue.load("mem_frag", {"depth": depth}, stimulus=stimulus).compile()


def small_sweep() -> Plan:
    """As latency_sweep, in some dozens of operations: an empty section
    and a request, each swept.
    """
    offsets = range(SWEEP_LEAD_TICKS, SWEEP_LEAD_TICKS + 560, 40)
    empty = [
        Step(Call("empty", stimulus_offset=offset), "empty", trial) for trial, offset in enumerate(offsets, 1)
    ]
    deep = [
        Step(operation, "depth 1", trial, 1)
        for trial, offset in enumerate(offsets, 1)
        for operation in (Allocate(0, 120, stimulus_offset=offset), Free(0, measured=False))
    ]
    return compile_steps("swept", {}, Stimulus("sweep", 0, CONTROL_PERIOD), [*empty, *deep])


def record(body: str) -> bytes:
    """The line of a record, by docs/reference/records.md."""
    return f"@{body}*{binascii.crc_hqx(body.encode(), 0xFFFF):04X}\n".encode()


@dataclass
class Truth:
    """What happened in one operation, in core cycles."""

    seq: int
    start: int
    operation_cycles: int
    critical_start: int
    critical_cycles: int


@dataclass
class SyntheticRun:
    """Lays down a whole run. `edges()` and `uart()` are what a bench would have seen of it."""

    plan: Plan
    seed: int = 7
    idle_cycles: int = 0
    """How long nothing happens before the end frame."""
    toggles: list[tuple[int, int]] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    truths: list[Truth] = field(default_factory=list)
    stimuli: list[tuple[int, int]] = field(default_factory=list)
    controls: list[tuple[int, int]] = field(default_factory=list)
    end_cycle: int = 0
    first_tick: int = 31_337
    skew: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._random = np.random.default_rng(self.seed)
        self._boot()
        cycle = self._frame(self._common_pulses(90_000) + 3_000, 840)
        cycle = self._calibrate(cycle + 3_000, 0)
        begin, cycle = self._operate(cycle + 5_000)
        self._interrupt(begin, cycle)
        cycle = self._frame(cycle + 20_000 + self.idle_cycles, 1260)
        cycle = self._calibrate(cycle + 3_000, 16)
        self._take_back(cycle + 2_000)
        cycle = self._common_pulses(cycle + 3_000)
        self._finish()
        self.end_cycle = cycle + 50_000

    def pulse(self, channel: str, start: int, width: int) -> None:
        self.toggles += [(start, BIT[channel]), (start + width, BIT[channel])]

    def edges_of(self, channel: str) -> list[int]:
        """The cycles of its edges, in order."""
        return sorted(cycle for cycle, bit in self.toggles if bit == BIT[channel])

    def move(self, channel: str, cycle: int, by_cycles: int) -> None:
        """An edge comes elsewhere."""
        at = self.toggles.index((cycle, BIT[channel]))
        self.toggles[at] = (cycle + by_cycles, BIT[channel])

    def silence(self, channel: str, first: int, last: int) -> None:
        """The edges from cycle `first` to `last` do not come."""
        self.toggles = [
            (cycle, bit) for cycle, bit in self.toggles if bit != BIT[channel] or not first <= cycle <= last
        ]

    def line_of(self, prefix: str) -> int:
        """The number of the first line that begins so."""
        return next(number for number, line in enumerate(self.lines) if line.startswith(prefix))

    def _boot(self) -> None:
        stimulus = self.plan.stimulus
        count = self.plan.operations.height
        self.lines += [
            f"BOOT,7,tlsf,{HEAP_BYTES},{CORE_HZ},00000702,V11.2.0,1,65520,basepri,none,"
            "bypass,04000000,nucleo-f401re",
            "PROOF,84010,84002",
            f"PLAN,{self.plan.name},{count},{self.plan.image_crc32:08X},"
            f"{MODES.index(stimulus.mode)},{stimulus.period_ticks},{stimulus.control_period_ticks}",
        ]

    def _frame(self, start: int, spacing: int) -> int:
        self.toggles += [(start + index * spacing, BIT["SYNC"]) for index in range(64)]
        return start + 63 * spacing

    def _common_pulses(self, cycle: int) -> int:
        """All channels but SYNC at once; the ports, two cycles apart, take turns in going first."""
        for index in range(8):
            a_first = index % 2 == 0
            for channel in ("CRIT", "OP", "STIM", "ISR", "CTRL", "TASK", "CISR"):
                late = (channel in ("TASK", "CISR")) == a_first
                self.pulse(channel, cycle + (PORT_GAP if late else 0) + self.skew.get(channel, 0), 77)
            cycle += 523
        return cycle

    def _take_back(self, cycle: int) -> None:
        """The timers keep their last level. Once taken from them, the pins are low."""
        for channel, edges in (("STIM", self.stimuli), ("CTRL", self.controls)):
            if len(edges) % 2:
                self.toggles.append((cycle, BIT[channel]))

    def _calibrate(self, cycle: int, first: int) -> int:
        for channel, cost, empty in (("CRIT", CRITICAL_COST, 4), ("OP", OPERATION_COST, 6)):
            for index in range(16):
                self.pulse(channel, cycle, empty + cost)
                self.lines.append(f"CAL,{channel},{first + index},{empty},{self.counter_at(cycle)}")
                cycle += 211
        countdown = (self.first_tick - cycle) % TICK_PERIOD
        self.lines += [
            "COST,READ,1,2",
            "COST,PIN,8,9",
            "COST,TIMER,11,12",
            f"TICK,{self.counter_at(cycle)},{countdown},{TICK_PERIOD},{TICK_HANDLER}",
        ]
        return cycle

    def counter_at(self, cycle: int) -> int:
        """CYCCNT, which was started some time after reset and wraps during the run."""
        return (cycle + COUNTER_AHEAD) % (1 << 32)

    def _operate(self, cycle: int) -> tuple[int, int]:
        begin, live, in_use, label = cycle, 0, 0, None
        longest = 300 if self.plan.stimulus.mode == "sweep" else 4000
        labels = self.plan.operations["label"].drop_nulls().unique(maintain_order=True).to_list()
        for seq, kind, size, planned_label in self.plan.operations.select(
            "seq", "kind", "size", "label"
        ).iter_rows():
            if planned_label != label:
                label = planned_label
                self.lines.append(f"MARK,{labels.index(label)}")
            critical, around = (
                int(self._random.integers(200, longest)),
                int(self._random.integers(40, longest // 4)),
            )
            self.toggles.append((cycle, BIT["SYNC"]))
            truth = Truth(seq, cycle + 6, critical + 2 * around, cycle + 6 + around, critical)
            self.pulse("OP", truth.start, truth.operation_cycles + OPERATION_COST)
            self.pulse("CRIT", truth.critical_start, critical + CRITICAL_COST)
            self.truths.append(truth)
            change = {"A": 1, "F": -1, "K": 0}[kind]
            live, in_use = live + change, in_use + change * ((size + 7) // 8 * 8)
            self.lines.append(
                f"OP,{seq},{kind},{size},{critical},{truth.operation_cycles},{critical % 97},{live},{in_use}"
            )
            cycle += truth.operation_cycles + int(self._random.integers(30_000, 40_000))
        if self.plan.operations.height % 2:
            self.toggles.append((cycle, BIT["SYNC"]))
        return begin, cycle

    def _critical_end(self, cycle: int) -> int:
        """When BASEPRI lets an interrupt of `cycle` through."""
        for truth in self.truths:
            if truth.critical_start <= cycle < truth.critical_start + truth.critical_cycles + CRITICAL_COST:
                return truth.critical_start + truth.critical_cycles + CRITICAL_COST
        return cycle

    def _interrupt(self, begin: int, end: int) -> None:
        if self.plan.stimulus.mode == "none":
            return
        for stimulus in self._stimuli(begin, end):
            answer = self._critical_end(stimulus) + 17
            self.toggles.append((stimulus, BIT["STIM"]))
            self.pulse("ISR", answer, 60)
            self.pulse("TASK", answer + TASK_LATER, 150)
            self.stimuli.append((stimulus, answer))
        for stimulus in range(begin + 13, end - 10_000, CONTROL_PERIOD):
            self.toggles.append((stimulus, BIT["CTRL"]))
            self.pulse("CISR", stimulus + 15, 40)
            self.controls.append((stimulus, stimulus + 15))

    def _stimuli(self, begin: int, end: int) -> list[int]:
        """The cycles of the edges on STIM: each period, or in a sweep where its operation asks."""
        if self.plan.stimulus.mode != "sweep":
            return list(range(begin, end - 10_000, STIMULUS_PERIOD))
        offsets = self.plan.operations["offset"]
        return [t.start - SWEEP_LEAD_TICKS + offsets[t.seq] for t in self.truths if offsets[t.seq]]

    def met(self, cycle: int) -> int | None:
        """The operation that runs at `cycle`."""
        return next(
            (t.seq for t in self.truths if 0 <= cycle - t.start < t.operation_cycles + OPERATION_COST), None
        )

    def _tell_latencies(self) -> list[int]:
        """An IRQ record for each operation that was met; returns the six ranges' ends for STAT."""
        woken = [(stimulus, answer + TASK_LATER) for stimulus, answer in self.stimuli]
        sums: dict[int, list[int]] = {}
        ends: list[int] = []
        for place, answers in enumerate((self.stimuli, woken, self.controls)):
            between = []
            for stimulus, answer in answers:
                ticks, seq = answer - stimulus + READ_LATER, self.met(answer)
                if seq is None:
                    between.append(ticks)
                else:
                    met = sums.setdefault(seq, [0] * 6)
                    met[2 * place] += 1
                    met[2 * place + 1] += ticks
            ends += [min(between, default=(1 << 32) - 1), max(between, default=0)]
        for seq, met in sums.items():
            at = next(i for i, line in enumerate(self.lines) if line.startswith(f"OP,{seq},"))
            self.lines.insert(at + 1, ",".join(map(str, ("IRQ", seq, *met))))
        return ends

    def _finish(self) -> None:
        preempted = sum(self.met(answer) is not None for _, answer in self.stimuli)
        ends = self._tell_latencies()
        counts = (len(self.stimuli), len(self.stimuli), len(self.controls), preempted)
        self.lines += [
            "STILL,84011,84003",
            ",".join(map(str, ("STAT", *counts, *ends))),
            "HEAP,65520,65520,1,1",
            f"END,{len(self.truths)}",
        ]

    def delay_run(self, late: dict[str, int]) -> None:
        """Delays the edges between the frames: those of each channel in `late`, by its cycles."""
        bits = {BIT[channel]: cycles for channel, cycles in late.items()}
        first, last = self.stimuli[0][0] - 100, self.stimuli[-1][1] + 20_000
        self.toggles = [
            (cycle + (bits.get(bit, 0) if first < cycle < last else 0), bit) for cycle, bit in self.toggles
        ]

    def uart(self) -> bytes:
        """The serial line's bytes. What the lines say the firmware says:
        END's checksum is of them.
        """
        sent = b""
        for line in self.lines:
            of_all = f",{binascii.crc32(sent):08X}" if re.fullmatch(r"END,\d+", line) else ""
            sent += record(f"{line}{of_all}")
        return sent

    def edges(self, samplerate_hz: int = CORE_HZ, ppm: int = 0) -> EdgeList:
        """What an analyzer sees whose clock runs `ppm` fast; edges are floored to samples."""

        def sample(cycle: int) -> int:
            return cycle * samplerate_hz * (1_000_000 + ppm) // (CORE_HZ * 1_000_000)

        rows = dict(_words((sample(cycle), bit) for cycle, bit in sorted(self.toggles)))
        changed = [(0, 0)]
        changed += [
            (s, w) for (s, w), before in zip(rows.items(), [0, *rows.values()], strict=False) if w != before
        ]
        samples, words = zip(*changed, strict=True)
        return EdgeList(
            np.array(samples, dtype=np.int64),
            np.array(words, dtype=np.uint8),
            samplerate_hz,
            sample(self.end_cycle),
        )


def _words(toggles: Iterator[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    word = 0
    for sample, bit in toggles:
        word ^= 1 << bit
        yield sample, word
