"""Find and load run folders (docs/reference/run-folder.md)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import polars as pl

from base.files.errors import RunError
from base.metrology.summaries import Summary
from base.run_folder import folder as names
from base.run_folder import tables
from base.run_folder.edges import EdgeList
from base.run_folder.manifest import Manifest, read_edges, read_manifest
from base.run_folder.placements import Placements
from base.run_folder.placements import read as read_placements
from base.run_folder.quantities import CRITICAL, DWT_CYCLES, INSTRUCTIONS, PROBES, Quantity
from dashboards.loaded.certainty import Certainty, certainty_of


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
        path = _table_path(self.folder, name)
        if name in self.replaced:
            table = self.replaced[name]
        elif _lacks(path, self.manifest):
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

    @cached_property
    def certainty(self) -> Certainty:
        """How sure the run is of its numbers."""
        return certainty_of(self.manifest)

    def summary(self, quantity: Quantity) -> Summary:
        """The statistics of `quantity`, as run.json has them; all None where it does not tell."""
        return self.manifest.statistics.get(quantity.key, _NO_SAMPLES)

    def worst_was_refused(self, quantity: Quantity) -> bool:
        """True if the greatest value of `quantity`, of all requests, is of a refused one."""
        maximum = self.manifest.maxima.get(quantity.key)
        of_requests = quantity.key in (PROBES.key, INSTRUCTIONS.key, DWT_CYCLES.key, CRITICAL.key)
        return of_requests and maximum is not None and maximum.kind == "O"

    @cached_property
    def measured_allocations(self) -> pl.DataFrame:
        """The rows the headline statistics are of: measured, served (A) or refused (O). They have
        what figures draw of an allocation. Raises RunError.
        """
        return self._allocations(_OF_ALLOCATIONS)

    def _allocations(self, columns: Sequence[str]) -> pl.DataFrame:
        table = self.once("operations", "measured", *columns)
        return table.filter(pl.col("measured") & pl.col("kind").is_in(["A", "O"])).select(columns)

    @cached_property
    def by_depth(self) -> pl.DataFrame:
        """The measured allocations that have a depth, with what of them grows by it. Raises
        RunError.
        """
        return self._allocations(_BY_DEPTH).drop_nulls("depth")

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
    missing = (name for name in _TABLES if _lacks(_table_path(folder, name), manifest))
    notes = tuple(
        f"{name}.parquet is missing: the {manifest.verdict} run was not decoded that far." for name in missing
    )
    return LoadedRun(folder, manifest, folder.name if identity is None else identity, notes=notes)


_TABLES = ("operations", "interrupts")
_HEAVY = frozenset((*_TABLES, "edges", "waits", "measured_allocations"))
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


def _table_path(folder: Path, name: str) -> Path:
    return folder / f"{name}.parquet"


def _lacks(path: Path, manifest: Manifest) -> bool:
    """True if a run has no such table, and need not have it."""
    return not manifest.complete and not path.exists()
