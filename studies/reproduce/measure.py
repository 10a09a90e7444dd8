"""What is measured for the tables, each as a question with its answer: on the virtual board, on
heaps of this machine, of images, and of a crate.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path

import numpy as np
import polars as pl

from analysis.fragmentation.study import Row, Study
from base import heap_size
from base.paths import ROOT
from base.processes import signals
from base.run_folder.manifest import Optimization
from base.run_folder.records import HEAP_NOT_CALLED, EndRecord, OperationRecord
from capture.reading.probes import PULSES_BEFORE
from firmware.build import catalogue as allocators
from firmware.build import crate_page, footprint, host_heap, outside
from firmware.build import image as firmware
from firmware.build.image import FirmwareImage
from firmware.build.placement import placed, placement
from scenarios import catalogue
from scenarios import trace as traces
from scenarios.plan import Plan
from scenarios.trace import FREE, KIND, SIZE, SLOT, Trace
from simulator import run as simulator
from simulator.run import Run
from studies.worst import host

Values = tuple[tuple[str, int | str], ...]
"""Names and values of parameters or knobs, sorted by name."""

_RUN_FOR = "600s"
_CYCLES = ("critical_cycles", "operation_cycles")
_COLUMNS = ("seq", "kind", "size", *_CYCLES, "probes", "live", "bytes_in_use")
_HEADER_BYTES = 16
"""Of the block layer, below every index."""
_CHECK = ".text.heap_index_check"
"""The check of the heap for the contract tests; no other allocator brings one."""


def values(named: Mapping[str, int | str]) -> Values:
    """Names and values in their order."""
    return tuple(sorted(named.items()))


def _words(chosen: Values) -> str:
    return "".join(f", {name}={value}" for name, value in chosen)


def on_the_board() -> tuple[str, ...]:
    """The allocators that can run a scenario with frees on the board."""
    rows = allocators.own()
    return tuple(name for name in firmware.allocators() if name in rows and "frees" in rows[name].promises)


@cache
def on_this_machine(heap_bytes: int) -> tuple[str, ...]:
    """The allocators that can replay a trace with frees over such a region on this machine."""
    rows = allocators.own().items()
    able = (name for name, row in rows if "frees" in row.promises)
    return tuple(name for name in able if host_heap.objection(name, heap_bytes) is None)


@dataclass(frozen=True)
class BoardRun:
    """A scenario on the virtual board, undisturbed; `art` is the flash accelerator."""

    allocator: str
    scenario: str
    art: bool = False
    parameters: Values = ()
    knobs: Values = ()
    optimization: Optimization = "2"

    def __str__(self) -> str:
        art = "on" if self.art else "off"
        return (
            f"{self.scenario} on {self.allocator}{_words(self.knobs)}, ART {art}, "
            f"-O{self.optimization}{_words(self.parameters)}"
        )

    def plan(self) -> Plan:
        """The operations, without a stimulus. Raises TailscopeError."""
        return catalogue.load(self.scenario, dict(self.parameters), stimulus="none").compile()

    def built(self) -> FirmwareImage:
        """The image as it is built. Raises BuildError."""
        knobs = {name: int(value) for name, value in self.knobs}
        return firmware.build(self.allocator, art=self.art, knobs=knobs, optimization=self.optimization)

    def run(self, built: FirmwareImage, plan: Plan, counts: Mapping[str, str]) -> Run:
        """`plan` on the image, wherever its code lies, with `counts` of critical sections.

        Raises TailscopeError, and ValueError if the run does not come to its end.
        """
        done = simulator.run(
            built.elf, image=plan.image, until=_RUN_FOR, counts=counts, count_window="CRIT" if counts else ""
        )
        if done.records.first(EndRecord) is None:
            raise ValueError(f"{self} does not end within {_RUN_FOR}.")
        return done

    def measure(self) -> pl.DataFrame:
        """A row for each operation: its OP record, with the plan's `measured`, `label` and `depth`.

        `instructions` are those of the critical section, null where none was entered. `kind` is as
        in the record: A allocated, O out of memory, F freed. Raises TailscopeError,
        and ValueError if the run does not come to its end.
        """
        plan = self.plan()
        done = self.run(self.built(), plan, {"instructions": "*"})
        sections = iter(done.windows["instructions"][PULSES_BEFORE:])
        records = _records(done, _COLUMNS)
        counted = [None if kind in HEAP_NOT_CALLED else next(sections) for kind in records["kind"]]
        planned = plan.operations.select(pl.col("seq").cast(pl.Int64), "measured", "label", "depth")
        records = records.with_columns(instructions=pl.Series(counted, dtype=pl.Int64))
        return records.join(planned, on="seq", how="left", maintain_order="left")


def _records(done: Run, columns: tuple[str, ...]) -> pl.DataFrame:
    records = done.records.all(OperationRecord)
    return pl.DataFrame({name: [getattr(record, name) for record in records] for name in columns})


@dataclass(frozen=True)
class PlacedCycles:
    """A run at each placement below `count` but the first, which is the run itself.

    `processes` share the work, and change nothing.
    """

    run: BoardRun
    count: int
    processes: int = field(default=1, repr=False, compare=False)

    def __str__(self) -> str:
        return f"{self.run}, {self.count} placements"

    def measure(self) -> pl.DataFrame:
        """A row for each operation, in order: `seq`, `kind`, and lists of
        `critical_cycles` and `operation_cycles`, an item for each placement.

        Raises TailscopeError, and ValueError if a run does not come to its end, or operations end
        otherwise at another placement.
        """
        plan, built = self.run.plan(), self.run.built()

        def at(number: int) -> pl.DataFrame:
            signals.check()
            done = self.run.run(placed(built, placement(number)), plan, {})
            return _records(done, ("seq", "kind", *_CYCLES))

        with ThreadPoolExecutor(self.processes, "placement") as threads:
            try:
                first, *others = threads.map(at, range(1, self.count))
            finally:
                threads.shutdown(cancel_futures=True)
        for other in others:
            check_same(self.run, first, other)
        lists = [pl.concat_list(frame[name] for frame in (first, *others)).alias(name) for name in _CYCLES]
        return first.select("seq", "kind").with_columns(lists)


def check_same(run: BoardRun, first: pl.DataFrame, other: pl.DataFrame) -> None:
    """Raises ValueError where operations end otherwise."""
    if not first.select("seq", "kind").equals(other.select("seq", "kind")):
        raise ValueError(f"{run} comes out otherwise at another placement.")


@dataclass(frozen=True)
class EmptySection:
    """A scenario on an allocator that does nothing: what remains are the bench's marks, lock and
    book-keeping. Each of the `placements` of its code is linked.
    """

    scenario: str
    art: bool = False
    optimization: Optimization = "2"
    placements: int = 1
    processes: int = field(default=1, repr=False, compare=False)

    def __str__(self) -> str:
        return f"{self.scenario} on an empty section, {self.placements} placements"

    def measure(self) -> pl.DataFrame:
        """A row for allocations and one for frees: `kind`, A or F, and the means of
        `operation_cycles`, `critical_cycles` and `instructions`, medians of those of the
        placements. Raises TailscopeError.
        """
        (name,) = outside.admit([str(Path(__file__).parent / "empty_section.c")])
        try:
            run = BoardRun(name, self.scenario, self.art, optimization=self.optimization)
            first = run.measure()
            cycles = (
                PlacedCycles(run, self.placements, self.processes).measure() if self.placements > 1 else None
            )
        finally:
            allocators.OUTSIDE.pop(name, None)
        windows = (*_CYCLES, "instructions")
        means = [
            frame.filter(pl.col("kind").is_in(["A", "F"]))
            .group_by("kind", maintain_order=True)
            .agg(pl.col(windows).mean())
            for frame in at_places(run, first, cycles)
        ]
        return pl.concat(means).group_by("kind", maintain_order=True).agg(pl.col(windows).median())


def at_places(run: BoardRun, first: pl.DataFrame, placed_cycles: pl.DataFrame | None) -> list[pl.DataFrame]:
    """The operations of `first` with the cycles that they have at each placement.

    Raises ValueError where they end otherwise there.
    """
    if placed_cycles is None:
        return [first]
    check_same(run, first, placed_cycles)
    count = len(placed_cycles["operation_cycles"][0])
    places = (
        first.with_columns(placed_cycles[name].list.get(number) for name in _CYCLES)
        for number in range(count)
    )
    return [first, *places]


@dataclass(frozen=True)
class HeapStudy:
    """The heap that a scenario needs on one allocator, for each seed. A `granule` raises sizes
    until every block, its header of 16 bytes included, is a multiple of it. Without `searches` the
    smallest heap is not looked for. `processes` share the work, and change nothing.
    """

    allocator: str
    scenario: str
    seeds: tuple[int, ...]
    heap_bytes: int
    knobs: Values = ()
    granule: int = 0
    searches: bool = True
    processes: int = field(default=1, repr=False, compare=False)

    def __str__(self) -> str:
        return f"{self.scenario} on {self.allocator}{_words(self.knobs)}, {len(self.seeds)} seeds"

    def measure(self) -> pl.DataFrame:
        """Columns: seed, peak_live_bytes, failures, used_bytes, fragmentation_percent, sbbm_bytes,
        cost_metric_bytes; what was measured again in a heap of that size ends in `_there`; ratio_1
        to ratio_4 are Johnstone's. Null where there is no such figure. Raises HostHeapError.
        """
        loaded = [catalogue.load(self.scenario, {}, seed) for seed in self.seeds]
        raised = [
            self._raised(traces.of_steps(scenario.name, scenario.generator.steps(), seed))
            for scenario, seed in zip(loaded, self.seeds, strict=True)
        ]
        knobs = {name: int(value) for name, value in self.knobs}
        study = Study(
            raised, [self.allocator], self.heap_bytes, knobs, self.processes, searches=self.searches
        )
        return pl.DataFrame([_figures(row) for row in study.rows()], infer_schema_length=None)

    def _raised(self, trace: Trace) -> Trace:
        if not self.granule:
            return trace
        operations = trace.operations.astype(np.int64)
        blocks = -(-(operations[:, SIZE] + _HEADER_BYTES) // self.granule) * self.granule
        operations[:, SIZE] = np.where(operations[:, KIND] == FREE, 0, blocks - _HEADER_BYTES)
        return replace(trace, operations=operations.astype(np.uint32))


def _figures(row: Row) -> dict[str, float | int | None]:
    given, there = row.given, row.smallest
    names = ("peak_live_bytes", "failures", "used_bytes", "fragmentation_percent")
    ratios = given.johnstone or (None,) * 4
    return {
        "seed": row.seed,
        **{name: getattr(given, name) for name in (*names, "fragmentation_from_start_percent", "sbbm_bytes")},
        "cost_metric_bytes": row.cost_metric.smallest_bytes,
        "used_there_bytes": None if there is None else there.used_bytes,
        "fragmentation_there_percent": row.fragmentation_there_percent,
        "sbbm_there_bytes": row.sbbm_there_bytes,
        **{f"ratio_{number}": ratio for number, ratio in enumerate(ratios, start=1)},
    }


@dataclass(frozen=True)
class WorstOnThisMachine:
    """A construction of the generator `worst`, in a heap of 8 MiB."""

    allocator: str
    construction: str

    def __str__(self) -> str:
        return f"{self.construction} on {self.allocator}, 8 MiB"

    def measure(self) -> pl.DataFrame:
        """`instructions` of the operation that is measured. Raises HostHeapError."""
        with tempfile.TemporaryDirectory(prefix="tailscope-") as folder:
            cell = host.cell(self.construction, self.allocator, Path(folder))
        return pl.DataFrame({"instructions": [cell.instructions]})


@dataclass(frozen=True)
class Footprints:
    """The bytes that an allocator takes."""

    allocator: str

    def __str__(self) -> str:
        return f"footprint of {self.allocator}"

    def measure(self) -> pl.DataFrame:
        """A row of bytes: `static_ram` of the allocator's image, `text` and `bss` of the firmware;
        `index_text` and `index_bss` of the object of an index, null for others.

        Raises BuildError, FootprintError.
        """
        image = firmware.make(firmware.BuildSpec.of(self.allocator), compiled=True)
        whole = footprint.section_bytes(image.elf)
        objects = sorted(image.elf.parent.rglob(f"indexes/{self.allocator}.c.obj"))
        index = footprint.section_bytes(objects[0]) if objects else {}

        def total(name: str) -> int | None:
            # Each function and each variable has a section of its own.
            sizes = [
                size for section, size in index.items() if section.startswith(name) and section != _CHECK
            ]
            return sum(sizes) if index else None

        sizes = {
            "static_ram": footprint.of_image(image).static_ram,
            "text": whole[".text"],
            "bss": whole[".bss"],
            "index_text": total(".text"),
            "index_bss": total(".bss"),
        }
        return pl.DataFrame([sizes], schema=dict.fromkeys(sizes, pl.Int64))


@dataclass(frozen=True)
class Levels:
    """The levels that each FLL gives, measured by running the crate on this machine."""

    def measure(self) -> pl.DataFrame:
        """Columns fll, largest_bytes, header_bytes. Raises CratePageError."""
        names = ("fll", "largest_bytes", "header_bytes")
        return pl.DataFrame([{name: getattr(level, name) for name in names} for level in crate_page.levels()])


@dataclass(frozen=True)
class Text:
    """The size of .text with one of the crate's functions."""

    function: str

    def measure(self) -> pl.DataFrame:
        """One row: bytes, rustc. Raises CratePageError."""
        size = crate_page.text_bytes(self.function)
        return pl.DataFrame({"bytes": [size], "rustc": [crate_page.rustc_version()]})


@dataclass(frozen=True)
class Spread:
    """Few live bytes, spread as far as a search could: the allocator's worst trace of space."""

    allocator: str

    def __str__(self) -> str:
        return f"the worst spread on {self.allocator}"

    def measure(self) -> pl.DataFrame:
        """One row of bytes, headers included: `used`, from the lowest byte of any block to the
        highest; `peak_live`, the most that live blocks took at a time; `largest`, of one block.
        Raises HostHeapError, DocumentError.
        """
        trace = traces.read(ROOT / "scenarios" / "found" / f"{self.allocator}-fragmentation.csv")
        program = host_heap.build(self.allocator, heap_size.DEFAULT_BYTES)
        with tempfile.TemporaryDirectory(prefix="tailscope-") as folder:
            file = host_heap.write(trace.operations, Path(folder) / "operations")
            replay = host_heap.run(program, file, heap_size.DEFAULT_BYTES)
        taken = replay.end.astype(np.int64) - replay.begin
        live: dict[int, int] = {}
        peak = 0
        columns = (trace.operations[:, SLOT], trace.operations[:, KIND], taken, replay.status)
        for slot, kind, bytes_, status in zip(*(column.tolist() for column in columns), strict=True):
            if status == 0:
                live.pop(slot, None)
                live |= {} if kind == FREE else {slot: bytes_}
            peak = max(peak, sum(live.values()))
        served = (replay.status == 0) & (trace.operations[:, KIND] != FREE)
        used = int(replay.end[served].max()) - int(replay.begin[served].min())
        return pl.DataFrame({"used": [used], "peak_live": [peak], "largest": [int(taken[served].max())]})
