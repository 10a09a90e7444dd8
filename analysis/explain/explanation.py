"""Explains the worst samples of a run, and keeps them in its folder (docs/reference/explain.md)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import polars as pl

from analysis.errors import ExplainError
from analysis.explain import execution
from analysis.explain.anatomy import anatomy, parts
from analysis.explain.program import Program
from analysis.explain.replay import TRACE_MOST, Replay, Worst, around, elf_of, find, replay, window
from analysis.explain.sources import Sources
from base.files import results
from base.files.whole import write_bytes
from base.run_folder import folder as names
from base.run_folder.edges import EdgeList
from base.run_folder.explanation import (
    FOLDER,
    SUFFIX,
    Anatomy,
    Explanation,
    Frame,
    HeapMap,
    Moment,
    Part,
    Piece,
    Replayed,
    Total,
    Unreplayed,
    Window,
)
from base.run_folder.folder import read_observed, write_json
from base.run_folder.manifest import Manifest, read_edges, read_manifest
from base.run_folder.named_quantities import NAMED
from base.run_folder.tables import read_stored_operations
from firmware.build import catalogue
from simulator.outputs import State

_REAL_BOARD = (
    "A board on the desk cannot be run again to the same cycle: heap, call stack and instructions of that "
    "instant are not known; the waveform and the records are."
)
_BY_RTT = (
    "The records left through the debug probe, and how fast it was read is not known: the run cannot be "
    "repeated to the cycle; run with --records uart to have its instructions explained."
)


@dataclass(frozen=True)
class _Run:
    """The files of the run folder that an explanation needs."""

    folder: Path
    manifest: Manifest
    operations: pl.DataFrame
    edges: EdgeList


def explain(folder: Path, quantity: str | None = None, allocator: Path | None = None) -> list[Explanation]:
    """Explains the worst sample of `quantity` (a name of named_quantities) of the run in `folder`,
    or of each that the run has, by one replay, in order, and keeps each as soon as it is known.

    `allocator` is the file of one from outside (elf_of()). Writes explain/<quantity>.json into the
    folder, and returns what it says. A virtual run gets explain/<quantity>-instructions.csv and
    explain/<quantity>-anatomy.json too. Raises TailscopeError with one sentence; also if the replay
    differs from the run.
    """
    manifest = read_manifest(folder / names.MANIFEST)
    maxima, edges = manifest.maxima, read_edges(folder, manifest)
    run = _Run(folder, manifest, read_stored_operations(folder / names.OPERATIONS), edges)
    quantities = [name for name, named in NAMED.items() if maxima.get(named.key) is not None]
    samples = [find(name, maxima, run.operations, edges) for name in ([quantity] if quantity else quantities)]
    explanations: list[Explanation] = []
    unknown = _BY_RTT if manifest.records == "rtt" else ""
    if "virtual_nucleo" not in manifest.tools:
        unknown = _REAL_BOARD
    if unknown or not samples:
        for worst in samples:
            explanations.append(Unreplayed(**_told(run, worst), replayed=False, unknown=[unknown]))
            _keep(run, explanations[-1])
        return explanations
    elf = elf_of(manifest, allocator)
    program = Program(elf)
    sources = Sources(program, elf)
    replays = replay(elf, program, read_observed(folder, names.IMAGE), edges, samples)
    for worst, replayed in zip(samples, replays, strict=True):
        start, end = (replayed.clock.first_cycle(sample) for sample in (worst.start, worst.end))
        if len(replayed.trace) >= TRACE_MOST and replayed.trace[0]["cycle"] > start:
            raise ExplainError(
                f"The worst sample has more than {TRACE_MOST:,} instructions, the most that a trace keeps: "
                "explain a smaller scenario."
            )
        executed = execution.steps(program, replayed.trace, start, end)
        stack = execution.stack(program, replayed.moment.stack)
        lines = execution.by_line(executed)
        went = parts(program, replayed.masks, worst, start, end)
        heap = _heap(run, program, replayed, worst)
        places: list[Frame | Total | Part] = [*stack, *lines, *went]
        explained = Replayed(
            **_told(run, worst),
            replayed=True,
            unknown=[],
            cycles=end - start,
            instructions=sum(step.address != execution.EXCEPTION for step in executed),
            moment=Moment(sample=worst.moment, cycle=replayed.moment.cycle),
            stack=stack,
            functions=execution.by_function(executed),
            lines=lines,
            parts=went,
            sources=sources.lines(place.source for place in places),
            heap=heap,
        )
        explanations.append(explained)
        made_of = anatomy(program, sources, replayed, worst, start, executed, went, heap)
        _keep(run, explained, executed, made_of)
    return explanations


def _told(run: _Run, worst: Worst) -> dict[str, Any]:
    """The fields of Told: what wire and records tell of the run, on any board."""
    return {
        "schema": 3,
        "quantity": worst.quantity.name,
        "key": worst.key,
        "value_ns": worst.value_ns,
        "maximum": worst.maximum.model_dump(exclude_unset=True),
        **{name: getattr(run.manifest, name) for name in ("allocator", "scenario", "verdict")},
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


def _keep(
    run: _Run,
    explanation: Explanation,
    executed: Sequence[execution.Step] = (),
    made_of: Anatomy | None = None,
) -> None:
    folder, name = run.folder / FOLDER, explanation.quantity
    if made_of is not None:
        write_json(folder / f"{name}{SUFFIX}", made_of.model_dump(by_alias=True))
    if executed:
        rows = (
            (step.cycle, step.cycles, f"{step.address:#010x}", step.place, step.text, step.source)
            for step in executed
        )
        headings = ("cycle", "cycles", "address", "place", "instruction", "source")
        write_bytes(folder / f"{name}-instructions.csv", results.text(headings, rows).encode())
    write_json(folder / f"{name}.json", explanation.document())


# What lies in the heap's region at an instant.


def _heap(run: _Run, program: Program, replayed: Replay, worst: Worst) -> HeapMap:
    manifest = run.manifest
    region_bytes = manifest.firmware.heap_bytes or 0
    is_index = catalogue.allocators()[manifest.allocator].kind == "index"
    if is_index and int(manifest.knobs.get("HDR", _HEADER_BYTES)) == _HEADER_BYTES:
        return block_layer_map(program, replayed.heap, region_bytes)
    # An operation whose own section is explained has begun, but has not changed the heap yet.
    own = -1 if worst.maximum.seq is None else worst.maximum.seq
    return live_map(
        run.operations.filter((pl.col("start_sample") < worst.heap_at) & (pl.col("seq") != own)), region_bytes
    )


# firmware/heap/block_layer.h
_HEADER_BYTES = 16
_MAGIC = 0x4B4C4254
_STATUS: dict[int | None, Literal["free", "live"]] = {0x45455246: "free", 0x4556494C: "live"}


def block_layer_map(program: Program, state: State, region_bytes: int) -> HeapMap:
    """Reads the block layer's headers, from the first block to the last or to a damaged one."""
    pieces = list(_blocks(state, program.variable("heap_region") or 0, region_bytes))
    total = sum(piece.bytes for piece in pieces)
    note = "Read from the blocks' headers; a block's bytes include its header."
    if total < region_bytes:
        pieces.append(Piece(offset=total, bytes=region_bytes - total, what="unknown"))
        note = f"Read from the blocks' headers, as far as {total:,} bytes; what follows is no block."
    return HeapMap(region_bytes=region_bytes, pieces=pieces, note=note)


def _blocks(state: State, base: int, region_bytes: int) -> Iterator[Piece]:
    offset, previous = 0, 0
    while offset < region_bytes:
        magic, size, status, prev = (state.word(base + offset + at) for at in (0, 4, 8, 12))
        if magic != _MAGIC or size is None or status not in _STATUS or prev != previous:
            return
        if offset + _HEADER_BYTES + size > region_bytes:
            return
        yield Piece(offset=offset, bytes=_HEADER_BYTES + size, what=_STATUS[status])
        previous = base + offset
        offset += _HEADER_BYTES + size


def live_map(operations: pl.DataFrame, region_bytes: int) -> HeapMap:
    """The blocks that are live after these operations, where the replay on the PC has them."""
    live: dict[int, int] = {}
    for kind, begin, end in operations.select("kind", "block_begin", "block_end").drop_nulls().iter_rows():
        if kind == "A":
            live[begin] = end
        elif kind == "F":
            live.pop(begin, None)
    pieces, at = [], 0
    for begin, end in [*sorted(live.items()), (region_bytes, region_bytes)]:
        if begin > at:
            pieces.append(Piece(offset=at, bytes=begin - at, what="unknown"))
        if end > begin:
            pieces.append(Piece(offset=begin, bytes=end - begin, what="live"))
        at = end
    note = (
        "Blocks that are live, with their headers, as the operations leave them when they are replayed on "
        "the PC: what lies between is free or the allocator's own; without such a replay all of it is."
    )
    return HeapMap(region_bytes=region_bytes, pieces=pieces, note=note)
