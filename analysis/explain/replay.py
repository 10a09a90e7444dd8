"""The sample to explain, its place in the capture, and the replay of it.

A run folder keeps the firmware's digest, not the file. It is built again, runs on the virtual
board, and is compared with the capture around each worst sample.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import groupby
from math import ceil, floor
from operator import itemgetter
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from analysis.errors import ExplainError
from analysis.explain.kernels import kernel as kernels
from analysis.explain.program import Program
from base.heap_size import DEFAULT_BYTES
from base.microseconds import microseconds
from base.run_folder.edges import CHANNELS, NS_PER_S, EdgeList
from base.run_folder.explanation import Operation
from base.run_folder.manifest import Manifest, Maximum
from base.run_folder.named_quantities import INTERRUPT, TASK, NamedQuantity, named
from capture.reading.vectorised import level_at, pulses
from firmware.build import boards, catalogue, outside
from firmware.build import image as firmware
from firmware.build.placement import Placement, placed
from scenarios.operations import in_words
from simulator import run as simulator
from simulator.board_note import pins_of
from simulator.build import SimulatorError
from simulator.kernel import KernelWords
from simulator.outputs import PINS, Change, State, words
from simulator.run import Snapshot

_ANSWERED_ON = {INTERRUPT: "ISR", TASK: "TASK"}

# The waveform shows so much before and after the sample itself.
MARGIN_S = 4e-6


@dataclass(frozen=True)
class Worst:
    """Where the worst value of `quantity` lies, in samples of the capture.

    It lasts from `start` to `end`: from the rise to the fall of CRIT, or from the stimulus to its
    answer. The stack is read at `moment`, the heap at `heap_at`. The waveform is kept from `first`
    to before `last`.
    """

    quantity: NamedQuantity
    value_ns: float
    maximum: Maximum
    start: int
    end: int
    moment: int
    heap_at: int
    first: int
    last: int

    @property
    def key(self) -> str:
        """Its name in the dashboard: the operation's number, or @ and the stimulus's sample."""
        return f"@{self.start}" if self.maximum.seq is None else str(self.maximum.seq)


def find(
    quantity: str, maxima: Mapping[str, Maximum | None], operations: pl.DataFrame, edges: EdgeList
) -> Worst:
    """The worst sample of a run with these `maxima` (of run.json). Raises ExplainError."""
    meant = named(quantity, ExplainError)
    maximum = maxima.get(meant.key)
    if maximum is None:
        raise ExplainError(f"The run measured no {meant.words}: choose another quantity or run.")
    if channel := _ANSWERED_ON.get(meant):
        # From the stimulus to its answer; the heap is as the interrupted operation found it.
        if maximum.sample is None:
            raise ExplainError("The worst interrupt has no stimulus in run.json: decode the run again.")
        start = moment = maximum.sample
        end = start + round(maximum.value * edges.samplerate_hz / NS_PER_S)
        changes = edges.transitions(channel)
        if not maximum.open and end not in changes.sample[changes.level]:
            raise ExplainError(f"The worst stimulus has no answer on {channel}: decode the run again.")
        heap_at = start if maximum.start_sample is None else int(maximum.start_sample)
    else:
        # The longest CRIT pulse; the stack is read in its middle, the heap is as it found it.
        row = operations.row(by_predicate=pl.col("seq") == maximum.seq, named=True)
        crit, begin = pulses(edges, "CRIT"), row["start_sample"]
        within = (crit.start >= begin) & (crit.start < begin + row["wire_operation_samples"])
        if not within.any():
            raise ExplainError("The worst operation has no pulse on CRIT: decode the run again.")
        longest = np.argmax(np.where(within, crit.end - crit.start, 0))
        start = heap_at = int(crit.start[longest])
        end = int(crit.end[longest])
        moment = (start + end) // 2
    margin = round(edges.samplerate_hz * MARGIN_S)
    first = max(min(start, heap_at) - margin, 0)
    last = min(end + margin, edges.total_samples)
    return Worst(meant, float(maximum.value), maximum, start, end, moment, heap_at, first, last)


def around(worst: Worst, operations: pl.DataFrame, edges: EdgeList) -> dict[str, Any]:
    """The fields of Told on where it lies."""

    def apart(begin: int, end: int) -> str:
        return microseconds((end - begin) * NS_PER_S / edges.samplerate_hz)

    own, seq = None, worst.maximum.seq
    near = pl.col("start_sample") <= worst.start if seq is None else pl.col("seq") == seq
    for row in operations.filter(near).tail(1).to_dicts():
        start, samples = row["start_sample"], row["wire_operation_samples"]
        own = Operation(
            **{name: row[name] for name in ("seq", "kind", "label", "start_sample")},
            words=in_words(row["kind"], row["size"]),
            end_sample=None if start is None or samples is None else start + samples,
        )
    # How far from which operation it begins.
    place = "The stimulus came" if worst.quantity in _ANSWERED_ON else "It began"
    if own is None or own.start_sample is None:
        place += " before all operations"
    elif seq is not None:
        place += f" {apart(own.start_sample, worst.start)} after operation {own.seq:,} began"
        if level_at(edges, "CRIT", np.array([worst.start]))[0]:
            place += ", in its critical section"
    elif own.end_sample is not None:
        place += f" {apart(own.end_sample, worst.start)} after operation {own.seq:,} ended"
    return {
        "start_ns": worst.start * NS_PER_S / edges.samplerate_hz,
        "place": f"{place}.",
        "operation": None if seq is None else own,
    }


def elf_of(manifest: Manifest, allocator: Path | None = None) -> Path:
    """The firmware of the run, built again. Raises ExplainError if it comes out otherwise.

    `allocator` is the file of one from outside, where the user names it. What run.json names is
    never opened: it may be a stranger's.
    """
    _admit(manifest, allocator)
    image = _built(manifest)
    ran = manifest.firmware.elf_sha256
    if image.sha256 != ran:
        raise ExplainError(
            f"The firmware of the run ({ran[:12]}) is not what the sources build now "
            f"({image.sha256[:12]}): check out those of the run, or run the scenario again."
        )
    return image.elf


def moved_elf_of(manifest: Manifest, shift_bytes: int) -> Path:
    """The same firmware, all code but the markers `shift_bytes` further on in the flash. It is
    asked for after elf_of().
    """
    return placed(_built(manifest), Placement(shift_bytes, shift_bytes)).elf


def _admit(manifest: Manifest, named: Path | None) -> None:
    """Has this process know the allocator of the run, if it is from outside: as the user names it,
    or named it here before.
    """
    if manifest.outside is None:
        return
    ran = manifest.outside.sha256
    allocator = catalogue.OUTSIDE.get(manifest.allocator)
    if named is None and allocator and allocator.source and allocator.source.sha256 == ran:
        return
    file = named or outside.remembered(manifest.allocator, ran)
    if file is None:
        raise ExplainError(
            f"The run is of {manifest.allocator}, an allocator from outside that was never built here as it "
            f"was then (sha256 {ran[:12]}): name its C file, --allocator FILE."
        )
    row = outside.read(file, manifest.allocator)
    if row.source is None or row.source.sha256 != ran:
        raise ExplainError(
            f"{file} is not what ran (sha256 {ran[:12]} then): name that, or run the scenario again."
        )
    catalogue.admit(row)


def _built(manifest: Manifest) -> firmware.FirmwareImage:
    return firmware.build(
        manifest.allocator,
        manifest.built_accelerated,
        manifest.locking,
        {name: int(value) for name, value in manifest.turned_knobs.items() if value.isdecimal()},
        manifest.firmware.extras,
        heap_bytes=manifest.firmware.heap_bytes or DEFAULT_BYTES,
        board=boards.board_of(manifest.asked).word,
        optimization=manifest.asked.optimization or "2",
    )


# The most that the simulator keeps of a trace.
TRACE_MOST = 1_000_000


@dataclass(frozen=True)
class Clock:
    """Turns cycles to samples and back, exactly. `cycle` begins `seconds` after reset."""

    cycle: int
    seconds: Fraction
    core_hz: Fraction
    samplerate_hz: int

    def sample(self, cycle: int) -> int:
        """The sample in which `cycle` begins."""
        return floor((self.seconds + (cycle - self.cycle) / self.core_hz) * self.samplerate_hz)

    def first_cycle(self, sample: int) -> int:
        """The first cycle that begins in `sample` or later."""
        return self.cycle + ceil((Fraction(sample, self.samplerate_hz) - self.seconds) * self.core_hz)


@dataclass(frozen=True)
class Replay:
    """The second run of the virtual board, in the window of one sample.

    `heap` and `moment` are its states at the worst sample's `heap_at` and `moment`. `trace` has one
    entry for each step of the core, from its `first` on, where the state is `begin`, and `masks`
    each change of what holds interrupts and tasks off (outputs.read_changes()).
    """

    clock: Clock
    begin: State
    heap: State
    moment: State
    trace: list[dict[str, Any]]
    masks: list[Change]


def replay(
    elf: Path, program: Program, image: bytes, edges: EdgeList, samples: Sequence[Worst]
) -> Iterator[Replay]:
    """Replays the run of `elf`, which is `program`, and `image` once, and looks at the window of
    each sample.

    Raises ExplainError if its edges in one of them differ from `edges` by a sample or more.
    """
    begins = [f"{worst.first * NS_PER_S // edges.samplerate_hz}ns" for worst in samples]
    last = max(worst.first for worst in samples)
    try:
        before = simulator.run(
            elf,
            image=image,
            until=f"{last * NS_PER_S // edges.samplerate_hz}ns",
            states_at=begins,
            snapshots_at=begins,
        )
        # Where the kernel of the bench's firmware has its state.
        state = kernels.words_of(kernels.find(program))
        for worst, start, snapshot in zip(samples, before.states, before.snapshots, strict=True):
            yield _look(elf, state, snapshot, start, edges, worst)
    except SimulatorError as error:
        raise ExplainError(f"The replay on the virtual Nucleo failed: {error}") from None


def _look(
    elf: Path, kernel: KernelWords, snapshot: Snapshot, start: State, edges: EdgeList, worst: Worst
) -> Replay:
    clock = Clock(start.cycle, start.seconds, start.core_hz, edges.samplerate_hz)
    looked = simulator.run(
        snapshot,
        until=clock.first_cycle(worst.last),
        edges=True,
        trace_last=TRACE_MOST,
        states_at=[clock.first_cycle(at) for at in (worst.heap_at, worst.moment)],
        masks_of=elf,
        kernel=kernel,
    )
    before = _levels_before(pins_of(elf), looked.edges, edges, clock.sample(start.cycle), start.channels)
    # The edges as an analyzer shows them: of several within a sample only the last level.
    changes = ((start.cycle, before), *words(looked.edges, before))
    levels = {clock.sample(cycle): word for cycle, word in changes}
    within = (row for row in levels.items() if row[0] < worst.last)
    replayed = [next(rows) for _, rows in groupby(within, key=itemgetter(1))]
    recorded = window(edges, clock.sample(start.cycle), worst.last)
    if replayed != recorded:
        both = zip(replayed, recorded, strict=False)
        at = next((mine[0] for mine, theirs in both if mine != theirs), min(replayed[-1][0], recorded[-1][0]))
        raise ExplainError(
            f"The replay differs from the capture at sample {at:,}, so it explains nothing: the simulator is "
            "another than the one of the run; run the scenario again and explain that run."
        )
    heap, moment = looked.states
    return Replay(clock, start, heap, moment, looked.trace, looked.masks)


def _levels_before(
    pins: Mapping[str, str], replayed: pl.DataFrame, edges: EdgeList, sample: int, usual: int
) -> int:
    """The word as the replay begins. The simulator knows that of the usual pins: of a channel on
    another its first edge tells, and else the capture.
    """
    word = usual
    for bit, name in enumerate(CHANNELS):
        if pins[name] == PINS[name]:
            continue
        levels = replayed.filter(pl.col("channel") == name)["level"]
        level = not levels[0] if len(levels) else level_at(edges, name, np.array([sample]))[0]
        word = word & ~(1 << bit) | int(level) << bit
    return word


def window(edges: EdgeList, first: int, last: int) -> list[tuple[int, int]]:
    """(sample, word) at each change from `first` to before `last`; the first row is at `first`."""
    at = int(np.searchsorted(edges.sample, first, side="right")) - 1
    end = int(np.searchsorted(edges.sample, last, side="left"))
    rows = [(int(edges.sample[row]), int(edges.word[row])) for row in range(at, end)]
    return [(first, rows[0][1]), *rows[1:]]
