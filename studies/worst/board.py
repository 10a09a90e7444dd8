"""One construction on the virtual board: what its measured operation takes, by counts and on the
wire, and how long an interrupt waits that comes within it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import polars as pl

from base.files.errors import TailscopeError
from base.run_folder.records import EndRecord, OperationRecord
from capture.reading.probes import PULSES_BEFORE
from firmware.build import image as firmware
from scenarios.generator import Step
from scenarios.operations import Call
from scenarios.plan import compile_steps
from scenarios.stimulus import Stimulus
from simulator import run as simulator

_RUN_FOR = "60s"
_SWEEP = Stimulus("sweep", 0, 0)
_BEHIND_TICKS = 65_000
"""So late that no operation is still running."""
_NEARER_TICKS, _MOST_NEARER_TICKS = 4, 40
"""The lock is taken a few instructions before CRIT rises."""


class WorstError(TailscopeError):
    """A construction that an allocator did not run as it must."""


@dataclass(frozen=True)
class Measured:
    """The measured operation of a construction.

    `kind` is as in the OP record: A allocated, O out of memory, F freed. `instructions` and
    `cycles` are of the critical section, the latter by DWT. `pulse_ns` is the width of CRIT.
    `interrupt_latency_ns` is the longest wait of an interrupt whose stimulus came within the
    section, `task_latency_ns` that of the task that it wakes.
    """

    kind: str
    instructions: int
    cycles: int
    probes: int
    pulse_ns: float
    interrupt_latency_ns: float
    task_latency_ns: float


@dataclass(frozen=True)
class _Once:
    """One run: the measured section in cycles since reset, its stimulus and the answers to it."""

    record: OperationRecord
    instructions: int
    begin: int
    end: int
    stimulus: int
    isr: int
    task: int
    core_hz: int


def measure(allocator: str, steps: Sequence[Step]) -> Measured:
    """Runs the steps, of which the last is the measured one. Raises BuildError, SimulatorError and
    WorstError.

    An interrupt waits longest if its stimulus comes right after the lock was taken. That is before
    CRIT rises, by a time that the build decides. So the stimulus is brought forward in small steps
    from the rise of CRIT until interrupts wait no longer.
    """
    undisturbed = _run(allocator, steps, _BEHIND_TICKS)
    if undisturbed.stimulus < undisturbed.end:
        raise WorstError(f"On {allocator} the section is longer than {_BEHIND_TICKS} cycles; lower blocks.")
    at_rise = _BEHIND_TICKS - (undisturbed.stimulus - undisturbed.begin)
    answered = list(_answered(allocator, steps, at_rise))
    per_ns = undisturbed.core_hz / 1e9
    return Measured(
        kind=undisturbed.record.kind,
        instructions=undisturbed.instructions,
        cycles=undisturbed.record.critical_cycles,
        probes=undisturbed.record.probes,
        pulse_ns=(undisturbed.end - undisturbed.begin) / per_ns,
        interrupt_latency_ns=max(answer.isr - answer.stimulus for answer in answered) / per_ns,
        task_latency_ns=max(answer.task - answer.stimulus for answer in answered) / per_ns,
    )


def _answered(allocator: str, steps: Sequence[Step], at_rise: int) -> Iterator[_Once]:
    """Runs with the stimulus at the rise of CRIT and before it, as long as the lock holds the woken
    task off. A lock may hold off tasks only, so the interrupt does not show it.
    """
    first = _run(allocator, steps, at_rise)
    yield first
    for ticks in range(_NEARER_TICKS, _MOST_NEARER_TICKS, _NEARER_TICKS):
        nearer = _run(allocator, steps, at_rise - ticks)
        if nearer.task - nearer.stimulus < first.task - first.stimulus:
            return
        yield nearer


def _run(allocator: str, steps: Sequence[Step], offset: int) -> _Once:
    """One run with the stimulus `offset` ticks after its arming. An empty call waits for it."""
    *setup, measured = steps
    measured = replace(measured, operation=replace(measured.operation, stimulus_offset=offset))
    plan = compile_steps("worst", {}, _SWEEP, [*setup, measured, Step(Call("empty", measured=False), "end")])
    done = simulator.run(
        firmware.build(allocator).elf,
        image=plan.image,
        until=_RUN_FOR,
        edges=True,
        counts={"instructions": "*"},
        count_window="CRIT",
    )
    operations = done.records.all(OperationRecord)
    pulses = done.windows[PULSES_BEFORE:-PULSES_BEFORE].rows()
    failed = next((record for record in operations[:-2] if record.kind not in "AF"), None)
    if failed:
        raise WorstError(
            f"{allocator} does not serve the set-up: operation {failed.seq} came out {failed.kind}; "
            "lower blocks."
        )
    if done.records.first(EndRecord) is None or len(pulses) != len(operations):
        raise WorstError(
            f"On {allocator} the run does not end within {_RUN_FOR}, or not every operation has one pulse."
        )
    _, begin, end, instructions = pulses[-2]
    since = pulses[-3][2] if len(pulses) > 2 else done.windows[PULSES_BEFORE - 1]["end_cycle"][0]
    stimulus = _first(done.edges, "STIM", since)
    return _Once(
        operations[-2],
        instructions,
        begin,
        end,
        stimulus,
        _first(done.edges, "ISR", stimulus),
        _first(done.edges, "TASK", stimulus),
        done.core_hz,
    )


def _first(edges: pl.DataFrame, channel: str, after: int) -> int:
    """The cycle of the channel's first edge behind `after`; of an answer it is a rise."""
    series = edges.filter((pl.col("channel") == channel) & (pl.col("cycle") > after))["cycle"]
    return int(series[0])
