"""Runs of one allocator on several boards, side by side: cycles and times of each, and no verdict
of which is better. As JSON (docs/how-to/compare.md):

    schema                        2
    groups [{
      scenario, allocator, remark
      boards [{run, board, name, verdict, and the columns below}]
    }]
    left_out[]                    sentences

*run* and *board* are names of folders, *name* what people call the board, with what is not as
usual. Of the columns each has its value in the unit of its name, null where nobody knows it:
`allocate_cycles`, `counter`, `allocate_ns`, `allocations`, `free_cycles`, `free_ns`,
`growth_cycles`, `interrupt_ns`, `idle_cycles`, `entry_cycles`, `core`, `core_hz`,
`wait_states`, `samplerate_hz`. What has an uncertainty has that beside it, as
`allocate_ns_uncertainty`.

- *allocate*, *free* and *interrupt* are the longest samples. *counter* says what counted the cycles
  of the first; if it is `wire`, they are *ns* times the core's clock.
- *growth* is of the allocations with a depth that no interrupt met: null without four depths.
- *idle* is the median of the interrupts that met nothing, an interrupt's *baseline* in run.json.
- *entry* is from an interrupt to its handler, by the core's manual.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from analysis.compare.pairing import by_options, find, read
from analysis.errors import CompareError
from base.heap_size import DEFAULT_BYTES
from base.metrology.slope import Slope, fit_slope
from base.run_folder.alike import parameters_of
from base.run_folder.edges import NS_PER_S
from base.run_folder.manifest import FIRST_BOARD, Manifest
from base.run_folder.quantities import (
    CRITICAL,
    DWT_CYCLES,
    FREE_CRITICAL,
    FREE_DWT_CYCLES,
    LATENCY,
    Quantity,
)
from base.tell import Tell
from base.text_table import TextTable, printed
from firmware.build import boards

_LATENCY_BITS = 0xF
"""Wait states in FLASH_ACR, alike in all STM32 (RM0368 §3.8.1, RM0091 §3.5.1, RM0008 §3.3.3)."""
_LEAST_DEPTHS = 4
ENTRY_CYCLES = {"cortex-m0": 16, "cortex-m0plus": 15, "cortex-m3": 12, "cortex-m4": 12, "cortex-m4f": 12}
"""From an interrupt's arrival to the first instruction of its handler, where memory answers at once
and nothing else is under way: ARM DDI 0432C, section 3.4; ARM, "A Beginner's Guide on Interrupt
Latency"; ARM DDI 0337, section 3.9; ARM DDI 0439, section 3.9.
"""
WIDE_COLUMNS = 240


def _growth(operations: pl.DataFrame, core_hz: int) -> Slope | None:
    """By how many cycles a critical section grows with each freed block: the slope of a line
    through the allocations that no interrupt met, by the counter, or by the wire where that has not
    counted all. None without depths.
    """
    alone = (pl.col("control_hits").fill_null(0) == 0) & (pl.col("isr_hits").fill_null(0) == 0)
    table = operations.filter(pl.col("measured") & pl.col("kind").is_in(["A", "O"]) & alone)
    table = table.drop_nulls(["depth", "wire_critical_ns"])
    if table["depth"].n_unique() < _LEAST_DEPTHS:
        return None
    counted = table["dwt_cycles"].null_count() == 0
    cycles = table["dwt_cycles"] if counted else table["wire_critical_ns"] * (core_hz / NS_PER_S)
    depth, section = (series.cast(pl.Float64).to_numpy() for series in (table["depth"], cycles))
    return fit_slope(depth - depth.mean(), section - section.mean(), 0.5 if counted else 1.0)


def board_of(manifest: Manifest) -> boards.Board | None:
    """The board of a run; None where its folder is here no more."""
    try:
        return boards.board_of(manifest.asked)
    except boards.BoardError:
        return None


MISSING = "–"
MEANING = (
    "No board is better than another: cycles say what the core had to do, µs how long it took. Cycles are "
    "the counter's, or the wire's where nothing counts. ± is the error budget. The slope is that of a line "
    "through all allocations that no interrupt met; its ± is the most that their distances from the line "
    "can have turned it, no confidence interval."
)
COLUMNS = {
    "allocate_cycles": "worst allocation (cycles)",
    "counter": "counted by",
    "allocate_ns": "worst allocation (µs)",
    "allocations": "n",
    "free_cycles": "worst free (cycles)",
    "free_ns": "worst free (µs)",
    "growth_cycles": "slope per freed block (cycles)",
    "interrupt_ns": "worst interrupt (µs)",
    "idle_cycles": "answer when idle (cycles)",
    "entry_cycles": "entry by the manual (cycles)",
    "core": "core",
    "core_hz": "clock (MHz)",
    "wait_states": "wait states",
    "samplerate_hz": "sampled at (MS/s)",
}
"""Of each the name in an export, and the heading."""


class Figure(NamedTuple):
    """What is read; its value in the unit of the column's name; and how far that may be wrong."""

    text: str = MISSING
    value: float | str | None = None
    uncertainty: float | None = None


def _figure(
    value: float | None, form: str = ",.0f", scale: float = 1.0, uncertainty: float | None = None
) -> Figure:
    if value is None:
        return Figure()
    doubt = "" if uncertainty is None else f" ± {uncertainty / scale:{form}}"
    return Figure(f"{value / scale:{form}}{doubt}".replace("-", "−"), value, uncertainty)


@dataclass(frozen=True)
class OnBoard:
    """A run, and what it says of its board: the figures of COLUMNS, in their order.

    `apart` are the parameters in which it differs from others of its group.
    """

    run: str
    manifest: Manifest
    board: boards.Board | None
    figures: Sequence[Figure]
    apart: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        return self.board.title if self.board else self.manifest.board_folder

    @property
    def name(self) -> str:
        """The board, and what of the run is not as usual for it."""
        lock, heap = self.manifest.locking, self.manifest.firmware.heap_bytes
        words = [] if lock in (None, self.board.locks[0] if self.board else "basepri") else [str(lock)]
        words += [] if heap in (None, DEFAULT_BYTES) else [f"heap {heap:,}"]
        words += [] if self.manifest.complete else [self.manifest.verdict]
        return ", ".join([self.title, *self.apart, *words])


@dataclass(frozen=True)
class Group:
    """The runs of one scenario on one allocator, a line for each board."""

    scenario: str
    allocator: str
    lines: tuple[OnBoard, ...]

    @property
    def title(self) -> str:
        return f"{self.scenario} on {self.allocator}"

    @property
    def remark(self) -> str:
        """A sentence where the runs did not run the same operations; empty where they did."""
        if len({line.manifest.image_crc32 for line in self.lines}) == 1:
            return ""
        return (
            f"{self.title}: the boards did not run the same operations, so the longest sections are not of "
            "the same search; give all of them the same --parameter. A slope per freed block is not "
            "concerned."
        )


@dataclass(frozen=True)
class Across:
    """All groups that have two boards or more. `left_out` are sentences on the other runs."""

    groups: tuple[Group, ...]
    left_out: tuple[str, ...] = ()


def on_board(run: str, manifest: Manifest, operations: pl.DataFrame) -> OnBoard | None:
    """The run with its figures; None where nobody knows its core's clock. `operations` is its
    table.
    """
    board = board_of(manifest)
    core_hz = manifest.core_hz or (board.core_hz if board else None)
    if core_hz is None:
        return None
    greatest = {key: summary.max for key, summary in manifest.statistics.items()}

    def longest(quantity: Quantity, counter: Quantity | None = None) -> tuple[Figure, Figure]:
        """The greatest in cycles of the core, by the counter or else by the wire, and in ns, true
        to its budget.
        """
        ns, counted = greatest[quantity.key], greatest[counter.key] if counter else None
        if ns is None:
            return Figure(), Figure()
        budget = manifest.error_budget.get(quantity.key)
        doubt_ns = budget.total.ns if budget else None
        cycles = ns * core_hz / NS_PER_S if counted is None else counted
        return _figure(float(cycles)), _figure(
            float(ns), ",.2f", 1000, None if doubt_ns is None else float(doubt_ns)
        )

    allocate_cycles, allocate_ns = longest(CRITICAL, DWT_CYCLES)
    counter, core = (board.counter, board.core) if board else (None, None)
    if allocate_ns.value is not None and greatest[DWT_CYCLES.key] is None:
        counter = "wire"
    growth, idle = _growth(operations, core_hz), manifest.baselines.get(LATENCY.key)
    figures = (
        allocate_cycles,
        Figure(counter or MISSING, counter),
        allocate_ns,
        _figure(manifest.statistics[CRITICAL.key].n or None),
        *longest(FREE_CRITICAL, FREE_DWT_CYCLES),
        _figure(growth.value, ".2f", uncertainty=growth.uncertainty) if growth else Figure(),
        longest(LATENCY)[1],
        _figure(float(idle.value) * core_hz / NS_PER_S if idle else None, ",.1f"),
        _figure(ENTRY_CYCLES.get(core) if core else None),
        Figure(core or MISSING, core),
        _figure(core_hz, "g", 1e6),
        _figure(None if manifest.flash_acr is None else manifest.flash_acr & _LATENCY_BITS),
        _figure(manifest.samplerate_hz, "g", 1e6),
    )
    return OnBoard(run, manifest, board, figures)


def group(lines: Iterable[OnBoard]) -> tuple[Group, ...]:
    """The groups of two boards or more; in each the first board of the bench is first, then by
    name.
    """
    by_matter: dict[tuple[object, ...], list[OnBoard]] = {}
    for line in lines:
        manifest = line.manifest
        turned = tuple(sorted(manifest.turned_knobs.items()))
        outside = manifest.outside.sha256 if manifest.outside else None
        # A small board may have run the scenario with smaller parameters.
        matter = (manifest.scenario, manifest.allocator, manifest.seed, turned, outside)
        by_matter.setdefault(matter, []).append(line)
    groups = []
    for _, alike in sorted(by_matter.items(), key=lambda item: item[0][:2]):
        if len({line.manifest.board_folder for line in alike}) == 1:
            continue
        labels = [set(parameters_of(line.manifest).items()) for line in alike]
        same = set.intersection(*labels)
        lines_of = [
            replace(line, apart=tuple(f"{name} {value}" for name, value in sorted(label - same)))
            for line, label in zip(alike, labels, strict=True)
        ]
        lines_of.sort(
            key=lambda line: (
                line.manifest.board_folder != FIRST_BOARD,
                line.manifest.board_folder,
                line.name,
            )
        )
        # The allocator and its knobs, without what boards differ in.
        first = lines_of[0].manifest
        knobs = (f"{name}={value}" for name, value in first.turned_knobs.items())
        groups.append(Group(first.scenario, ", ".join((first.allocator, *knobs)), tuple(lines_of)))
    return tuple(groups)


def across(paths: Sequence[Path], tell: Tell = lambda _: None) -> Across:
    """The runs in `paths`, each a run folder or a folder of such; of those that are alike the
    latest.

    Raises TailscopeError where a path holds no run, and CompareError where no allocator ran the
    same on two boards.
    """
    sides = [find(path) for path in paths]
    stored = list({run.folder.resolve(): run for side in sides for run in side.runs}.values())
    chosen = by_options(stored).values()
    lines = []
    for run in chosen:
        tell(f"{run.manifest.scenario}, {run.manifest.configuration}")
        line = on_board(run.name, run.manifest, read(run).operations)
        lines += [line] if line else []
    groups = group(lines)
    if not groups:
        names = " and ".join(sorted({line.manifest.board_folder for line in lines})) or "no board"
        raise CompareError(
            f"No allocator ran the same scenario on two boards (there is {names}): run it with "
            "--board a,b first."
        )
    taken = {line.run for group_ in groups for line in group_.lines}
    alone = [f"{run.folder}: no run of another board is like it." for run in chosen if run.name not in taken]
    sentences = [sentence for side in sides for sentence in (*side.broken, *side.left_out)]
    return Across(groups, tuple(dict.fromkeys((*sentences, *alone))))


def tables(across: Across) -> list[TextTable]:
    """A table for each group, a column for each board; the last line has the names of the runs."""
    made = []
    for group in across.groups:
        columns = [[figure.text for figure in line.figures] for line in group.lines]
        lines = [*zip(COLUMNS.values(), *columns, strict=True)]
        lines.append(("run", *(line.run for line in group.lines)))
        headings = ("", *(line.name for line in group.lines))
        made.append(TextTable(group.title, headings, lines, range(1, len(headings))))
    return made


def as_text(across: Across) -> str:
    """The tables, what they mean, and what is left out."""
    remarks = [group.remark for group in across.groups if group.remark]
    return printed([*remarks, *tables(across), "", MEANING, *across.left_out], WIDE_COLUMNS)


def as_json(across: Across) -> dict[str, Any]:
    """The whole document."""

    def row(line: OnBoard) -> dict[str, Any]:
        named = dict(zip(COLUMNS, line.figures, strict=True))
        return {
            "run": line.run,
            "board": line.manifest.board_folder,
            "name": line.name,
            "verdict": line.manifest.verdict,
            **{key: figure.value for key, figure in named.items()},
            **{
                f"{key}_uncertainty": figure.uncertainty
                for key, figure in named.items()
                if figure.uncertainty is not None
            },
        }

    groups = [
        {
            "scenario": group.scenario,
            "allocator": group.allocator,
            "remark": group.remark,
            "boards": list(map(row, group.lines)),
        }
        for group in across.groups
    ]
    return {"schema": 2, "groups": groups, "left_out": across.left_out}
