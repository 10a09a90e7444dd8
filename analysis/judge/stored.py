"""A stored run as it is judged: its operations, and the quantities that limits hold."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import polars as pl

from analysis.compare.pairing import Run, Stored
from analysis.compare.pairing import read as read_run
from analysis.compare.settings import chosen_of, made_by_of
from analysis.errors import GateError
from analysis.judge.baseline import Operation
from analysis.judge.rows import Row, Unit
from base.run_folder import folder as names
from base.run_folder.folder import read_observed
from base.run_folder.manifest import Manifest, read_manifest
from base.run_folder.named_quantities import ALLOCATE, FREE, INTERRUPT, SECTION, TASK
from base.run_folder.quantities import DWT_CYCLES, FREE_DWT_CYCLES
from base.run_folder.records import HEAP_NOT_CALLED

ON_THE_WIRE = {quantity.name: quantity.key for quantity in (ALLOCATE, FREE, INTERRUPT, TASK, SECTION)}
IN_CYCLES = {ALLOCATE.name: DWT_CYCLES.key, FREE.name: FREE_DWT_CYCLES.key}
TIMED = tuple(name for name in ON_THE_WIRE if name not in IN_CYCLES)
"""Kinds that have no cycles."""
RESOLUTION_CYCLES = 1.0
"""A counter tells no less. It is the least budget of what is counted in cycles."""


@dataclass(frozen=True, eq=False)
class StoredRun:
    """A complete run. What was `chosen` must be equal to be compared; `made_by` is what the sources
    and tools decided.
    """

    folder: Path
    manifest: Manifest
    image_sha256: str
    run: Run
    chosen: dict[str, str]
    made_by: dict[str, str]

    @property
    def name(self) -> str:
        """The run in words: scenario, allocator, board."""
        return f"{self.manifest.scenario} on {self.manifest.configuration}, board {self.manifest.board}"

    @property
    def exact(self) -> bool:
        """True if the same firmware with the same operations gives the same run, to the cycle."""
        return self.manifest.exact

    @cached_property
    def operations(self) -> list[Operation]:
        """Every operation of the run, in order."""
        # Under the scheduler's lock interrupts run within the section.
        within = ("control_hits", "isr_hits") if self.manifest.locking == "scheduler" else ("control_hits",)
        rows = self.run.operations.select(
            "kind",
            "dwt_cycles",
            "instructions",
            pl.col("probes").fill_null(0),
            pl.sum_horizontal(*within).alias("hits"),
        ).iter_rows()
        return [Operation(*row) for row in rows]

    @property
    def counts_probes(self) -> bool:
        return self.manifest.probes_source in ("records", "counted by the virtual board")

    @cached_property
    def names(self) -> list[str]:
        """Each operation as a reader knows it: `operation 311, allocate 96 bytes`."""
        return [
            f"operation {seq:,}, "
            + (
                f"call {size} of the kernel"
                if kind == "K"
                else f"{'free' if kind in ('F', 'N', 'E') else 'allocate'} {size:,} bytes"
                + (", not called" if kind in HEAP_NOT_CALLED else "")
            )
            for seq, kind, size in self.run.operations.select("seq", "kind", "size").iter_rows()
        ]


def read_stored(folder: Path) -> StoredRun:
    """Reads a run folder. Raises GateError where the run is not complete, or its tables are not
    those that run.json sums up; and RunError.
    """
    try:
        is_there = folder.is_dir()
    except OSError as error:
        raise GateError(f"{str(folder)[:80]}: cannot be read: {error.strerror}.") from None
    if not is_there:
        raise GateError(f"{folder}: is no run folder; name one of runs/.")
    if not (folder / names.MANIFEST).exists() and not names.is_observed(folder):
        raise GateError(names.no_manifest(folder))
    manifest = read_manifest(folder / names.MANIFEST)
    if not manifest.complete:
        reasons = " ".join(manifest.reasons)
        raise GateError(f"{folder}: the run is {manifest.verdict}, and says nothing: {reasons}".rstrip(": "))
    run = read_run(Stored(folder, manifest))
    if run.operations.height != manifest.counts.operations:
        raise GateError(
            f"{folder}: run.json tells of {manifest.counts.operations:,} operations, the table of "
            f"{run.operations.height:,}; ./lab redecode it."
        )
    if run.contradiction:
        raise GateError(run.contradiction)
    digest = hashlib.sha256(read_observed(folder, names.IMAGE)).hexdigest()
    return StoredRun(folder, manifest, digest, run, chosen_of(manifest), made_by_of(manifest))


def unit_of(key: str) -> Unit:
    """That of a quantity of run.json."""
    return "ns" if key.endswith("_ns") else "cycles"


def rows_of(run: StoredRun) -> list[Row]:
    """The greatest value of each quantity that a limit may name; on the wire, and in cycles."""
    rows = []
    for kind, key in (*ON_THE_WIRE.items(), *IN_CYCLES.items()):
        summary, maximum = run.manifest.statistics.get(key), run.manifest.maxima.get(key)
        if summary is None or summary.max is None:
            continue
        unit, budget = unit_of(key), total_budget(run, key)
        seq = maximum.seq if maximum else None
        why_not = "A wait was not over." if summary.open else ""
        row = Row(
            "",
            kind,
            int(summary.max) if unit == "cycles" else 0,
            float(summary.max) if unit == "ns" else 0.0,
            f"in {run.names[seq]}" if seq is not None and seq < len(run.names) else "",
            why_not=why_not if budget is not None else "The run does not tell its error budget.",
            unit=unit,
            budget=budget,
        )
        rows.append(row)
    return rows


def total_budget(run: StoredRun, key: str) -> float | None:
    """The error budget of the greatest value, in the quantity's unit; None if nobody knows. What is
    exact has none.
    """
    if run.exact:
        return 0.0
    budget = run.manifest.error_budget.get(key)
    total = budget.total.of(unit_of(key)) if budget else None
    return None if total is None else float(total)
