"""Find and load run folders (docs/reference/run-folder.md)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import polars as pl

from base.files.errors import RunError
from base.metrology.summaries import Summary
from base.run_folder import folder as names
from base.run_folder import tables
from base.run_folder.edges import EdgeList
from base.run_folder.manifest import Manifest, read_edges, read_manifest
from base.run_folder.placements import Placements
from base.run_folder.placements import read as read_placements
from base.run_folder.quantities import Quantity
from dashboards.caveats import APART, BY_BOTH

# Below this p, the test of independence says that the samples are not.
DEPENDENCE_P = 0.05

# A pulse lasts whole cycles: less than half of one is the analyzer's reading.
SEEN_CYCLES = 0.5


@dataclass(frozen=True)
class LoadedRun:
    """One run folder; its tables are read and checked when first asked for.

    `id` is its folder's name, or its path below the folder that is shown. `replaced` has tables
    that stand for the folder's own, by name. `notes` are sentences on what the folder lacks and on
    what was done to its samples; `adjustments` are only the latter
    (dashboards/loaded/adjustments.py).
    """

    folder: Path
    manifest: Manifest
    id: str
    replaced: Mapping[str, pl.DataFrame] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    adjustments: tuple[str, ...] = ()

    @cached_property
    def operations(self) -> pl.DataFrame:
        """Its table of operations. Raises RunError."""
        return self._table("operations")

    @cached_property
    def interrupts(self) -> pl.DataFrame:
        """Its table of stimuli. Raises RunError."""
        return self._table("interrupts")

    def once(self, name: str, *columns: str) -> pl.DataFrame:
        """The table `name` with these `columns` or more, which the run does not hold after it: one
        look at each of many runs. Raises RunError.
        """
        table: pl.DataFrame | None = self.__dict__.get(name)
        return self._table(name, columns) if table is None else table

    def _table(self, name: str, only: Sequence[str] = ()) -> pl.DataFrame:
        """An empty one where a run that is not complete lacks it: such a run is shown."""
        every = tables.OPERATIONS if name == "operations" else _OF_INTERRUPTS
        read = {*only, *_CHECKED} if only else every.keys()
        columns = {column: dtype for column, dtype in every.items() if column in read}
        path = self.folder / f"{name}.parquet"
        if name in self.replaced:
            table = self.replaced[name]
        elif not self.manifest.complete and not path.exists():
            table = pl.DataFrame(schema=columns)
        elif name == "operations":
            table = tables.read_operations(path, columns)
        else:
            table = tables.read_interrupts(path, columns)
        return table.with_columns(pl.col("hit").cast(pl.Enum(tables.HITS))) if "hit" in columns else table

    @property
    def origin(self) -> str | None:
        """A sentence on the recording that the run replayed; None if it replayed none."""
        parameters = self.manifest.parameters
        if "trace_sha256" not in parameters:
            return None
        scale, divide = parameters.get("scale"), parameters.get("divide")
        share = "with all its blocks" if scale == 1 else f"with one block in {scale}"
        sizes = "" if divide == 1 else f" and sizes divided by {divide}"
        file = f"{parameters.get('trace')} (SHA-256 {parameters['trace_sha256']})"
        return f"The operations are those of the trace {file}, {share}{sizes}."

    def check_tables(self) -> None:
        """Reads the tables now. Raises RunError."""
        _ = self.operations, self.interrupts, self.placements

    @cached_property
    def edges(self) -> EdgeList | None:
        """The capture, read when first asked for; None without the file. Raises CaptureError."""
        path = self.folder / names.EDGES
        return read_edges(self.folder, self.manifest) if path.exists() else None

    @cached_property
    def placements(self) -> Placements | None:
        """Its figures with the code at other places in the flash; None where the image was linked
        once. Raises RunError.
        """
        return read_placements(self.folder)

    def budget(self, quantity: Quantity, term: str = "total") -> float | None:
        """A value is true to plus or minus this, in the quantity's unit; `overhead` is the part of
        the value that is the bench's own. None where run.json does not say.
        """
        error_budget = self.manifest.error_budget.get(quantity.key)
        value: float | None = getattr(error_budget, term).of(quantity.unit) if error_budget else None
        return value

    def intervals(self, quantity: Quantity) -> dict[str, tuple[float, float]]:
        """The intervals of its percentiles that there are, by their names."""
        intervals = self.manifest.intervals.of.get(quantity.key)
        return intervals.known if intervals else {}

    @cached_property
    def dependent(self) -> frozenset[str]:
        """Keys of quantities whose samples are not independent: intervals are too narrow."""
        tests = {key: intervals.independence_p for key, intervals in self.manifest.intervals.of.items()}
        return frozenset(key for key, p in tests.items() if p is not None and p < DEPENDENCE_P)

    @property
    def baselines(self) -> dict[str, float]:
        """What quantities show with nothing to measure, by their keys."""
        return {key: baseline.value for key, baseline in self.manifest.baselines.items() if baseline}

    def summary(self, quantity: Quantity) -> Summary:
        """The statistics of `quantity`, as run.json has them; all None where it does not tell."""
        return self.manifest.statistics.get(quantity.key, _NO_SAMPLES)

    @property
    def measured_allocations(self) -> pl.DataFrame:
        """The rows the headline statistics are of: measured, served (A) or refused (O). They have
        what figures draw of an allocation. Raises RunError.
        """
        return self._drawn[0]

    @property
    def depths(self) -> pl.DataFrame:
        """The `depth` of each operation that has one, by `operation_seq`. Raises RunError."""
        return self._drawn[1]

    @cached_property
    def _drawn(self) -> tuple[pl.DataFrame, pl.DataFrame]:
        """Both by one look at the table."""
        table = self.once("operations", "measured", *_OF_ALLOCATIONS)
        return _measured(table, _OF_ALLOCATIONS), table.select(
            operation_seq="seq", depth="depth"
        ).drop_nulls()

    @cached_property
    def by_depth(self) -> pl.DataFrame:
        """The measured allocations that have a depth, with what of them grows by it. Raises
        RunError.
        """
        return _measured(self.once("operations", "measured", *_BY_DEPTH), _BY_DEPTH).drop_nulls("depth")

    def release(self, *parts: str) -> None:
        """Lets go of the tables and the capture, or of these `parts`: they are read again when they
        are asked for.
        """
        for name in _HEAVY.intersection(parts or _HEAVY) & self.__dict__.keys():
            del self.__dict__[name]

    @cached_property
    def worst_by_depth(self) -> pl.DataFrame:
        """The worst critical section of an allocation at each depth, in ns on the wire.

        Columns: `depth`, `wire_critical_ns`; a row for each depth, in order. Empty without depths.
        """
        table = self.by_depth.drop_nulls("wire_critical_ns")
        return table.group_by("depth").agg(pl.col("wire_critical_ns").max()).sort("depth")

    @cached_property
    def waits(self) -> pl.DataFrame:
        """Each wait that occurred among the answered stimuli of a class, in the order of the wire.

        Columns: `control`, `hit` and `tick`, of which a class is made; `isr_latency_ns`; `n`, how
        many there are, and of them `undecided` whose class is not sure; `merged`, how many others
        are in these waits; `open` if one was not over; `sample` and `operation_seq` of the first.
        Raises RunError.
        """
        answered = self.once("interrupts", *_OF_WAITS).drop_nulls("isr_latency_ns")
        unsure = ~pl.col("control") & ~pl.col("critical_sure").fill_null(True)
        return answered.group_by("control", "hit", "tick", "isr_latency_ns", maintain_order=True).agg(
            n=pl.len(),
            undecided=unsure.sum(),
            merged=pl.col("isr_merged").sum(),
            open=pl.col("isr_open").any(),
            sample=pl.first("sample"),
            operation_seq=pl.first("operation_seq"),
        )

    @property
    def answered(self) -> pl.DataFrame:
        """Stimuli of the maskable interrupt that were answered."""
        return self.interrupts.filter(~pl.col("control") & pl.col("isr_latency_ns").is_not_null())

    @property
    def answered_control(self) -> pl.DataFrame:
        """Stimuli of the control interrupt that were answered."""
        return self.interrupts.filter(pl.col("control") & pl.col("isr_latency_ns").is_not_null())


def find_runs(folder: Path) -> list[Path]:
    """The finished run folders directly below `folder`, oldest first. Raises RunError.

    Those of unfinished runs are left out; unfinished() tells of them. So are runs from the wire
    alone, which have no operations.
    """
    if not folder.is_dir():
        raise RunError(f"{folder}: is no folder; name the one that holds the runs.")
    return sorted(path.parent for path in folder.glob("*/run.json") if not names.is_observed(path.parent))


def unfinished(folder: Path) -> Iterator[str]:
    """A sentence for each run folder directly below `folder` that has no run.json."""
    for image in sorted(folder.glob(f"*/{names.IMAGE}")):
        if not (image.parent / names.MANIFEST).exists():
            yield names.no_manifest(image.parent)


def load_run(folder: Path) -> LoadedRun:
    """Load and check one run folder, its tables too. Raises RunError with a sentence."""
    run = open_run(folder)
    run.check_tables()
    return run


def open_run(folder: Path, identity: str | None = None) -> LoadedRun:
    """One run folder, of which only run.json is read. Raises RunError with a sentence.

    `identity` is its id where the name of its folder is not enough.
    """
    if not folder.is_dir():
        raise RunError(f"{folder}: is no run folder; name a folder below runs/.")
    if not (folder / names.MANIFEST).exists():
        raise RunError(names.no_manifest(folder))
    # Resolved, so that the run's id is the folder's name even for ".".
    folder = folder.resolve()
    manifest = read_manifest(folder / names.MANIFEST)
    notes = tuple(
        f"{name}.parquet is missing: the {manifest.verdict} run was not decoded that far."
        for name in _TABLES
        if not manifest.complete and not (folder / f"{name}.parquet").exists()
    )
    return LoadedRun(folder, manifest, folder.name if identity is None else identity, notes=notes)


_TABLES = ("operations", "interrupts")
_HEAVY = frozenset((*_TABLES, "edges", "waits", "_drawn"))
"""What a run holds of its tables and its capture."""
_UNREAD = frozenset(("time_ns", "operation_sure", "task_merged", "tick_phase_cycles"))
_OF_INTERRUPTS = pl.Schema({name: kind for name, kind in tables.INTERRUPTS.items() if name not in _UNREAD})
"""Of millions of stimuli what no page shows is not read."""
_CHECKED = ("seq", "kind", "hit")
"""Read of a table for its check, whatever else is."""
_OF_WAITS = (
    *("control", "critical_sure", "tick", "isr_latency_ns", "isr_merged", "isr_open"),
    *("sample", "operation_seq"),
)
_BY_DEPTH = ("depth", "wire_critical_ns", "wire_section_ns", "interrupted", "instructions", "probes")
_OF_ALLOCATIONS = (
    *("seq", "kind", "size", "label", "dwt_cycles", "dwt_operation_cycles", "wire_critical_samples"),
    *_BY_DEPTH,
)
_NO_SAMPLES = Summary(n=0)


def _measured(table: pl.DataFrame, columns: Sequence[str]) -> pl.DataFrame:
    return table.filter(pl.col("measured") & pl.col("kind").is_in(["A", "O"])).select(columns)


def confidence_words(runs: Iterable[LoadedRun]) -> str:
    """`95 %`, the confidence of the intervals; runs that differ in it are listed."""
    confidences = sorted({run.manifest.intervals.confidence for run in runs})
    return " or ".join(f"{100 * confidence:g} %" for confidence in confidences)


def by_both(row: Mapping[str, Any], manifest: Manifest) -> str:
    """What DWT and wire say of the critical section of an operation, and why they differ.

    `row` is one of operations.parquet. Empty where one of them does not tell.
    """
    samples, dwt, apart = row["wire_critical_samples"], row["dwt_cycles"], row["disagreement_cycles"]
    if None in (samples, dwt, apart):
        return ""
    wire = samples / (manifest.clock.samples_per_cycle_nominal * (manifest.clock.ratio or 1.0))
    words = BY_BOTH.format(dwt=dwt, wire=round(wire), marks=round(wire - dwt - apart))
    return words + (APART.format(apart=round(apart, 1)) if abs(apart) >= SEEN_CYCLES else "")
