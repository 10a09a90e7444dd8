"""Explains the worst samples of a run, and keeps them in its folder (docs/reference/explain.md)."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from analysis.errors import ExplainError
from analysis.explain import execution, heap_map
from analysis.explain.anatomy import Known, anatomy
from analysis.explain.parts import parts
from analysis.explain.program import Program
from analysis.explain.replay import TRACE_MOST, Replay, elf_of, replay, window
from analysis.explain.sources import Sources
from analysis.explain.worst import Worst, around, find
from base.anatomy import SUFFIX, Anatomy
from base.run_folder import folder as names
from base.run_folder.edges import EdgeList
from base.run_folder.explanation import FOLDER, Explanation, HeapMap, Moment, Replayed, Unreplayed, Window
from base.run_folder.folder import RunFolder, read_observed
from base.run_folder.manifest import Manifest, read_edges, read_manifest
from base.run_folder.named_quantities import NAMED
from base.run_folder.session_file import write_sr
from base.run_folder.tables import read_operations
from firmware.build import catalogue
from scenarios.errors import ImageError
from scenarios.operations import Call, Mark, decode

_REAL_BOARD = (
    "A board on the desk cannot be run again to the same cycle: heap, call stack and instructions of that "
    "instant are not known; the waveform and the records are."
)
_BY_RTT = (
    "The records left through the debug probe, and how fast it was read is not known: the run cannot be "
    "repeated to the cycle; run with --records uart to have its instructions explained."
)


def explain(folder: Path, quantity: str = "section", allocator: Path | None = None) -> Explanation:
    """Explains the worst sample of `quantity` (a name of named_quantities) of the run in `folder`.

    `allocator` is the file of one from outside (elf_of()). Writes explain/<quantity>.json and
    explain/<quantity>.sr into the folder, and returns what the first of them says. A virtual run
    gets explain/<quantity>-instructions.csv and explain/<quantity>-anatomy.json too. Raises
    TailscopeError with one sentence; also if the replay differs from the run.
    """
    run = _read(folder)
    worst = find(quantity, run.manifest.maxima, run.operations, run.edges)
    (explanation,) = _explain(run, [worst], allocator)
    return explanation


def explain_all(folder: Path) -> list[Explanation]:
    """Explains the worst sample of each quantity that the run has, by one replay, as explain()."""
    run = _read(folder)
    maxima = run.manifest.maxima
    had = [name for name, quantity in NAMED.items() if maxima.get(quantity.key) is not None]
    return _explain(run, [find(name, maxima, run.operations, run.edges) for name in had])


@dataclass(frozen=True)
class _Run:
    """The files of the run folder that an explanation needs."""

    folder: Path
    manifest: Manifest
    operations: pl.DataFrame
    edges: EdgeList


def _read(folder: Path) -> _Run:
    manifest = read_manifest(folder / names.MANIFEST)
    return _Run(
        folder,
        manifest=manifest,
        edges=read_edges(folder, manifest),
        operations=read_operations(folder / names.OPERATIONS),
    )


def _explain(run: _Run, samples: Sequence[Worst], allocator: Path | None = None) -> list[Explanation]:
    """Explains the samples, in order, and keeps each as soon as it is known."""
    if not samples:
        return []
    unknown = _unknown(run.manifest)
    explanations: list[Explanation] = []
    if unknown:
        for worst in samples:
            explanations.append(Unreplayed(**_told(run, worst), replayed=False, unknown=unknown))
            _keep(run, explanations[-1], worst, [])
        return explanations
    elf = elf_of(run.manifest, allocator)
    program = Program(elf)
    sources = Sources(program, elf)
    image = read_observed(run.folder, names.IMAGE)
    for worst, replayed in zip(samples, replay(elf, image, run.edges, samples), strict=True):
        executed = _executed(program, replayed, worst)
        facts = _facts(program, sources, replayed, worst, executed)
        heap = _heap(run, program, replayed, worst)
        explained = Replayed(**_told(run, worst), replayed=True, unknown=[], heap=heap, **facts)
        explanations.append(explained)
        start = replayed.clock.first_cycle(worst.start)
        measured = Known(program, sources, replayed, worst, start, executed, explained.parts, heap)
        _keep(run, explained, worst, executed, anatomy(measured))
    return explanations


def _unknown(manifest: Manifest) -> list[str]:
    """Why the run cannot be replayed; empty if it can."""
    if "virtual_nucleo" not in manifest.tools:
        return [_REAL_BOARD]
    return [_BY_RTT] if manifest.records == "rtt" else []


def _told(run: _Run, worst: Worst) -> dict[str, Any]:
    """The fields of Told: what wire and records tell of the run, on any board."""
    return {
        "schema": 2,
        "quantity": worst.quantity.name,
        "key": worst.key,
        "value_ns": worst.value_ns,
        "maximum": worst.maximum.model_dump(exclude_unset=True),
        "allocator": run.manifest.allocator,
        "scenario": run.manifest.scenario,
        "verdict": run.manifest.verdict,
        "samplerate_hz": run.edges.samplerate_hz,
        "start_sample": worst.start,
        "end_sample": worst.end,
        "window": Window(
            first_sample=worst.first,
            end_sample=worst.last,
            edges=[list(row) for row in window(run.edges, worst.first, worst.last)],
        ),
        **around(worst, run.operations, run.edges),
    }


def _executed(program: Program, replayed: Replay, worst: Worst) -> list[execution.Step]:
    if len(replayed.trace) >= TRACE_MOST and replayed.trace[0]["cycle"] > replayed.clock.first_cycle(
        worst.start
    ):
        raise ExplainError(
            f"The worst sample has more than {TRACE_MOST:,} instructions, the most that a trace keeps: "
            "explain a smaller scenario."
        )
    start, end = (replayed.clock.first_cycle(sample) for sample in (worst.start, worst.end))
    return execution.steps(program, replayed.trace, start, end)


def _facts(
    program: Program, sources: Sources, replayed: Replay, worst: Worst, executed: list[execution.Step]
) -> dict[str, Any]:
    start, end = (replayed.clock.first_cycle(sample) for sample in (worst.start, worst.end))
    frames = execution.unwind(program, replayed.moment)
    dearest, lines = execution.by_instruction(executed), execution.by_line(executed)
    went = parts(program, replayed.masks, worst, start, end)
    facts = [
        *(frame.source for frame in frames),
        *(total.source for total in (*dearest, *lines)),
        *(part.source for part in went),
    ]
    return {
        "cycles": end - start,
        "instructions": sum(step.address != 0 for step in executed),
        "moment": Moment(sample=worst.moment, cycle=replayed.moment.cycle),
        "stack": frames,
        "functions": execution.by_function(executed),
        "dearest": dearest,
        "lines": lines,
        "parts": went,
        "sources": sources.lines(facts),
    }


def _heap(run: _Run, program: Program, replayed: Replay, worst: Worst) -> HeapMap:
    manifest = run.manifest
    region_bytes = manifest.firmware.heap_bytes or 0
    if catalogue.allocators()[manifest.allocator].kind == "index":
        header_bytes = int(manifest.knobs.get("HDR", "16"))
        return heap_map.block_layer_map(program, replayed.heap, region_bytes, header_bytes)
    table = run.operations.filter(pl.col("start_sample") < worst.heap_at)
    # An operation whose own section is explained has begun, but has not changed the heap yet.
    done = table.filter(pl.col("seq") != (-1 if worst.maximum.seq is None else worst.maximum.seq))
    return heap_map.live_map(program, replayed.heap, region_bytes, _live(run.folder, done))


def _live(folder: Path, done: pl.DataFrame) -> dict[int, int]:
    """The blocks live after the operations `done`, the image's first: sizes in bytes by slot."""
    try:
        image = decode(read_observed(folder, names.IMAGE))
    except ImageError as error:
        raise ExplainError(f"{names.IMAGE} cannot be read: {error}") from None
    operations = [operation for operation in image.operations if not isinstance(operation, Mark)]
    ids = [-1 if isinstance(operation, Call) else operation.id for operation in operations]
    live: dict[int, int] = {}
    for seq, kind, size in done.select("seq", "kind", "size").iter_rows():
        if kind == "A":
            live[ids[seq]] = size
        elif kind == "F":
            live.pop(ids[seq], None)
    return live


def _keep(
    run: _Run,
    explanation: Explanation,
    worst: Worst,
    executed: list[execution.Step],
    made_of: Anatomy | None = None,
) -> None:
    run_folder = RunFolder(run.folder / FOLDER)
    if made_of is not None:
        run_folder.write_json(f"{explanation.quantity}{SUFFIX}", made_of.model_dump(by_alias=True))
    run_folder.write(f"{explanation.quantity}.sr", lambda path: write_sr(path, _cut(run.edges, worst)))
    if executed:
        run_folder.write_bytes(f"{explanation.quantity}-instructions.csv", _table(executed))
    run_folder.write_json(f"{explanation.quantity}.json", explanation.document())


def _cut(edges: EdgeList, worst: Worst) -> EdgeList:
    rows = window(edges, worst.first, worst.last)
    sample = np.array([at - worst.first for at, _ in rows])
    word = np.array([levels for _, levels in rows])
    return EdgeList(sample, word, edges.samplerate_hz, worst.last - worst.first, edges.channels)


def _table(executed: list[execution.Step]) -> bytes:
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(("cycle", "cycles", "address", "place", "instruction", "source"))
    for step in executed:
        row = (step.cycle, step.cycles, f"{step.address:#010x}", step.place, step.text, step.source)
        writer.writerow(row)
    return text.getvalue().encode()
