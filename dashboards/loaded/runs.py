"""Find and load run folders (docs/reference/run-folder.md): a run's samples of each quantity, its
allocations by probes and by size, and its bounds.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import polars as pl

from base.files.errors import RunError
from base.metrology.quantiles import percentile_intervals, summarise
from base.metrology.summaries import Summary
from base.run_folder import folder as names
from base.run_folder import tables
from base.run_folder.edges import EdgeList
from base.run_folder.manifest import Bound, Manifest, Maximum, read_edges, read_manifest
from base.run_folder.placements import Placements, Range
from base.run_folder.placements import read as read_placements
from base.run_folder.quantities import (
    CLEAR,
    CONTROL,
    CRITICAL,
    DWT_CYCLES,
    FREE_CRITICAL,
    FREE_DWT_CYCLES,
    FREE_INSTRUCTIONS,
    HIT,
    INSTRUCTIONS,
    LATENCY,
    PROBES,
    QUANTITIES,
    REFUSED,
    SECTION,
    SERVED,
    TASK,
    UNINTERRUPTED,
    Quantity,
)
from base.run_index import configuration
from scenarios.generators.sizes import FRAGMENTED, FRESH

# Below this p, the test of independence says that the samples are not.
DEPENDENCE_P = 0.05


@dataclass(frozen=True)
class LoadedRun:
    """One run folder; its tables are read and checked when first asked for.

    `id` is its folder's name, or its path below the folder that is shown. `notes` are sentences on
    what the folder lacks, or what was left out.
    """

    folder: Path
    manifest: Manifest
    id: str
    notes: tuple[str, ...] = ()
    without_ticks: bool = False

    @cached_property
    def operations(self) -> pl.DataFrame:
        """Its table of operations. Raises RunError."""
        return self._table("operations")

    @cached_property
    def interrupts(self) -> pl.DataFrame:
        """Its table of stimuli; `without_ticks` what a tick may have delayed has no latency. Raises
        RunError.
        """
        return self._table("interrupts")

    def look(self, name: str, *columns: str) -> pl.DataFrame:
        """These `columns` of the table `name`, which the run does not hold after it: the tables of
        many runs would fill the memory. Raises RunError.
        """
        table: pl.DataFrame | None = self.__dict__.get(name)
        if table is None:
            table = self._table(name, *columns, *_ALWAYS_READ)
        return table.select(columns)

    def _table(self, name: str, *only: str) -> pl.DataFrame:
        """An empty one where a run that is not complete lacks it: such a run is shown."""
        path, (every, read) = self.folder / f"{name}.parquet", _TABLES[name]
        columns = {column: of for column, of in every.items() if not only or column in only}
        missing = not self.manifest.complete and not path.exists()
        table = pl.DataFrame(schema=columns) if missing else read(path, columns)
        if name == "operations":
            return table
        table = table.with_columns(pl.col("hit").cast(pl.Enum(tables.HITS)))
        if not self.without_ticks:
            return table
        return table.with_columns(
            pl.when(~pl.col(label)).then(column).alias(column)
            for label, column in (("tick", "isr_latency_ns"), ("task_tick", "task_latency_ns"))
        )

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

    @property
    def configuration(self) -> str:
        """What every list calls it."""
        return configuration(self.manifest)

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

    def placed(self, quantity: Quantity) -> Range | None:
        """The range of its worst case there; None where the image was linked once."""
        return self.placements.headlines.get(quantity.key) if self.placements else None

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

    def summary(self, quantity: Quantity) -> Summary:
        """The statistics of `quantity`, as run.json has them; all None where it does not tell."""
        return self.manifest.statistics.get(quantity.key, _NO_SAMPLES)

    @cached_property
    def measured_allocations(self) -> pl.DataFrame:
        """The rows the headline statistics are of: measured, served (A) or refused (O), with what
        figures show of them. Raises RunError.
        """
        table = self.look("operations", "measured", *_OF_ALLOCATIONS)
        return table.filter(pl.col("measured") & pl.col("kind").is_in(["A", "O"])).drop("measured")

    @property
    def by_depth(self) -> pl.DataFrame:
        """The measured allocations that have a depth. Raises RunError."""
        return self.measured_allocations.drop_nulls("depth")

    def release(self) -> None:
        """Lets go of the tables and the capture: they are read again when they are asked for."""
        for name in _HEAVY & self.__dict__.keys():
            del self.__dict__[name]

    @cached_property
    def waits(self) -> pl.DataFrame:
        """Each wait that occurred among the answered stimuli of a class, in the order of the wire.

        Columns: `control`, `hit` and `tick`, of which a class is made; `isr_latency_ns`; `n`, how
        many there are, and of them `undecided` whose class is not sure; `merged`, how many others
        are in these waits; `open` if one was not over; `sample` and `operation_seq` of the first.
        Raises RunError.
        """
        answered = self.look("interrupts", *_OF_WAITS).drop_nulls("isr_latency_ns")
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


def leave_out_ticks(run: LoadedRun) -> LoadedRun:
    """`run` without the answers and wakes that the kernel's tick may have delayed: in tables,
    statistics, intervals, maxima and the possible wait alike. Its notes say how many. Raises
    RunError.
    """
    shown, manifest = replace(run, without_ticks=True), run.manifest
    parts, intervals, maxima = manifest.statistics, dict(manifest.intervals.of), dict(manifest.maxima)
    for quantity in (quantity for quantity in ALL if quantity.table == "interrupts"):
        key, rows = quantity.key, samples(shown, quantity)
        values, greatest = rows[quantity.column].to_numpy(), quantity.maximum(rows, run.operations)
        parts[key] = summarise(values, quantity.still_open(rows))
        maxima[key] = Maximum.model_validate(greatest) if greatest else None
        if key in intervals:
            intervals[key] = intervals[key].model_copy(update=percentile_intervals(values))
    wait = manifest.possible_wait
    if wait and wait.by == "wait" and wait.ns > (seen_ns := parts[wait.of].max or 0):
        section_ns = (parts[SECTION.key].max or 0) + wait.entry_ns
        by = "wait" if seen_ns > section_ns else "section"
        wait = wait.model_copy(update={"ns": max(section_ns, seen_ns), "by": by, "budget_ns": None})
    answers, control, wakes = (run.summary(of).n - parts[of.key].n for of in (LATENCY, CONTROL, TASK))
    words = f"A tick may have delayed {answers + control:,} answers and {wakes:,} task wakes: left out."
    of_each = manifest.intervals.model_copy(update={"of": intervals})
    changed = {**parts, "intervals": of_each, "maxima": maxima, "possible_wait": wait}
    run.release()
    shown.release()
    return replace(shown, manifest=manifest.model_copy(update=changed), notes=(*run.notes, words))


_TABLES = {
    "operations": (tables.OPERATIONS, tables.read_operations),
    "interrupts": (tables.INTERRUPTS, tables.read_interrupts),
}
_ALWAYS_READ = ("seq", "kind", "hit", "tick", "task_tick", "isr_latency_ns", "task_latency_ns")
"""Columns by which a table is checked, and the ticks taken out."""
_HEAVY = frozenset((*_TABLES, "edges", "measured_allocations", "waits"))
"""What a run holds of its tables and its capture."""
_OF_ALLOCATIONS = (
    *("seq", "kind", "size", "label", "depth", "probes", "instructions", "dwt_cycles"),
    *("dwt_operation_cycles", "wire_critical_ns", "wire_section_ns", "wire_critical_samples", "interrupted"),
)
_OF_WAITS = (
    *("control", "hit", "tick", "isr_latency_ns", "critical_sure"),
    *("isr_merged", "isr_open", "sample", "operation_seq"),
)
_NO_SAMPLES = Summary(n=0)


def confidence_words(runs: Iterable[LoadedRun]) -> str:
    """`95 %`, the confidence of the intervals; runs that differ in it are listed."""
    confidences = sorted({run.manifest.intervals.confidence for run in runs})
    return " or ".join(f"{100 * confidence:g} %" for confidence in confidences)


ALL = QUANTITIES
_OF_REQUESTS = (PROBES, INSTRUCTIONS, DWT_CYCLES, CRITICAL)
_OF_FREES = (FREE_INSTRUCTIONS, FREE_DWT_CYCLES, FREE_CRITICAL)
_OF_OPERATIONS = (SECTION, UNINTERRUPTED, *_OF_REQUESTS, *SERVED, *REFUSED, *_OF_FREES)
REPORTED = (*_OF_OPERATIONS, HIT, CLEAR, TASK, CONTROL)
PRINTED = (*_OF_OPERATIONS, LATENCY, TASK, CONTROL)


def shown(quantities: Sequence[Quantity], runs: Sequence[LoadedRun]) -> tuple[Quantity, ...]:
    """The quantities that `runs` have values of.

    Not every scenario measures its frees, and not every board counts instructions. Where no request
    was refused, those that were served are all there are, and have no rows of their own.
    """
    had = {quantity for quantity in ALL if any(run.summary(quantity).n for run in runs)}
    left_out = {INSTRUCTIONS, *SERVED, *REFUSED, *_OF_FREES} - had
    if left_out.issuperset(REFUSED):
        left_out.update(SERVED)
    return tuple(quantity for quantity in quantities if quantity not in left_out)


def samples(run: LoadedRun, quantity: Quantity) -> pl.DataFrame:
    """The rows of operations or interrupts that `quantity` summarises, without missing values.

    They have which are of waits that were not over.
    """
    table = run.operations if quantity.table == "operations" else run.interrupts
    return quantity.samples(table, table)


def by_size(run: LoadedRun) -> pl.DataFrame:
    """DWT cycles of the measured allocations of each size, in order, in both states of the heap.

    Columns: `size`, `median`, `max`, and of the fragmented heap `median_fragmented`,
    `max_fragmented`. Empty if the run lacks a state: it is of another scenario.
    """
    cycles = pl.col("dwt_cycles")
    of_each = run.measured_allocations.group_by("size", "label")
    table = of_each.agg(cycles.median().alias("median"), cycles.max().alias("max"))
    fresh, fragmented = (table.filter(label=state).drop("label") for state in (FRESH, FRAGMENTED))
    return fresh.join(fragmented, on="size", suffix="_fragmented").sort("size")


SECTIONS = {"allocate": "allocation", "free": "free"}


def bound_of(run: LoadedRun, section: str) -> Bound | None:
    """The most that `section` (a key of SECTIONS) can take without interrupts, with its cycles and
    ns. None where the run tells none.

    `ratio` is the bound divided by the longest section observed. `region_decided` is True where
    the bound grows with the heap's region.
    """
    bound = run.manifest.bounds.get(section)
    return None if bound is None or bound.cycles is None or bound.ns is None else bound


def bounds_sentence(run: LoadedRun) -> str:
    """`Static bound (no interrupts): allocation ≤ 1,021 cycles, 2.3 × the worst undisturbed; …`.

    Empty where the run tells no bound.
    """
    listed = []
    for section, words in SECTIONS.items():
        if bound := bound_of(run, section):
            grows = ", grows with heap size" if bound.region_decided else ""
            times = "" if bound.ratio is None else f", {bound.ratio:.1f} × the worst undisturbed"
            listed.append(f"{words} ≤ {bound.cycles:,.0f} cycles{grows}{times}")
    return f"Static bound (no interrupts): {'; '.join(listed)}" if listed else ""
