"""A stored run as a timeline: pins, operations and heap; of a virtual board also what it executed.

Time 0 is the first sample, which on the virtual board is reset.
"""

from __future__ import annotations

from pathlib import Path

import polars as pl

from analysis.explain.replay import elf_of
from analysis.program.masks import timeline as masks
from analysis.program.masks.clock import Clock
from analysis.program.masks.measure import of_run
from base.run_folder import folder as names
from base.run_folder.edges import NS_PER_S, EdgeList, read_parquet
from base.run_folder.explanation import FOLDER, Explanation, Unreplayed
from base.run_folder.folder import read_observed
from base.run_folder.manifest import read_manifest
from base.run_folder.named_quantities import NAMED
from base.run_folder.tables import read_operations
from base.timeline.trace_events import Timeline
from simulator import masks as simulator
from simulator.program import UserProgram

_PINS, _HEAP, _WORST, _CALLS = "pins", "heap", "explained", "functions"
_KINDS = {"A": "allocate", "O": "allocate, out of memory", "F": "free"}


def timeline(folder: Path, found: Explanation) -> Timeline:
    """The timeline of the run in `folder`, whose worst sample `found` explains.

    Raises TailscopeError.
    """
    edges = read_parquet(folder / names.EDGES)
    made = Timeline()
    _pins(made, edges)
    _operations(made, read_operations(folder / names.OPERATIONS), edges)
    begin, end = (at * edges.sample_ns for at in (found.start_sample, found.end_sample))
    made.slice(_WORST, "the worst sample", NAMED[found.quantity].words, begin, end, value_ns=found.value_ns)
    if not isinstance(found, Unreplayed):
        _executed(made, folder, found, edges)
    return made


def _pins(made: Timeline, edges: EdgeList) -> None:
    """Each pin while it is high."""
    for channel in edges.channels:
        told = edges.transitions(channel)
        at, level = told.sample.tolist(), told.level.tolist()
        if edges.initial_level(channel):
            at, level = [0, *at], [True, *level]
        until = [*at, edges.total_samples][1:]
        for begin, end, high in zip(at, until, level, strict=True):
            if high:
                made.slice(_PINS, channel, channel, begin * edges.sample_ns, end * edges.sample_ns)


def _operations(made: Timeline, operations: pl.DataFrame, edges: EdgeList) -> None:
    """Each operation on the wire, and the bytes in use after it."""
    told = (
        "seq",
        "kind",
        "size",
        "label",
        "probes",
        "start_sample",
        "wire_operation_samples",
        "bytes_in_use",
    )
    rows = operations.drop_nulls(("start_sample", "wire_operation_samples")).select(told)
    for seq, kind, size, label, probes, start, samples, in_use in rows.iter_rows():
        begin, end = start * edges.sample_ns, (start + samples) * edges.sample_ns
        name = _KINDS.get(kind, "operation")
        made.slice(_HEAP, "operations", name, begin, end, seq=seq, size=size, label=label, probes=probes)
        if in_use is not None:
            made.counter(_HEAP, "heap in use", end, {"bytes": in_use})


def _executed(made: Timeline, folder: Path, found: Explanation, edges: EdgeList) -> None:
    """What held interrupts off during the capture, and the functions of the worst sample."""
    program = UserProgram(elf_of(read_manifest(folder / names.MANIFEST)))
    image = read_observed(folder, names.IMAGE)
    until = f"{edges.total_samples * NS_PER_S // edges.samplerate_hz}ns"
    run = simulator.run(program, until, image)
    masks.add(made, of_run(program, until, run, explain=False, tell=lambda _: None, image=image))
    steps = pl.read_csv(folder / FOLDER / f"{found.quantity}-instructions.csv")
    _functions(made, steps, Clock(run.stats.clocks))


def _functions(made: Timeline, steps: pl.DataFrame, clock: Clock) -> None:
    """The functions of the worst sample, one after the other: each without what it calls."""
    rows = steps.select("cycle", "cycles", function=pl.col("place").str.split("+").list.first())
    spans = (
        rows.group_by(pl.col("function").rle_id().alias("span"), "function", maintain_order=True)
        .agg(pl.col("cycle").first(), pl.col("cycles").sum())
        .select("function", "cycle", "cycles")
    )
    for function, cycle, cycles in spans.iter_rows():
        begin, end = clock.ns([cycle, cycle + cycles]).tolist()
        made.slice(_WORST, _CALLS, function, begin, end, cycles=cycles)
