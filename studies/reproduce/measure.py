"""What is measured for the tables, each as a question with its answer: on the virtual board, on
heaps of this machine, of images, and of a crate.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from threading import Lock

import polars as pl

from analysis.fragmentation.metrics import metrics
from analysis.fragmentation.study import Row, Study
from base.run_folder.manifest import Optimization
from firmware.build import catalogue as allocators
from firmware.build import crate_page, footprint, host_heap, outside
from firmware.build import image as firmware
from firmware.build.image import FirmwareImage
from firmware.build.placement import placed, placement
from scenarios import catalogue
from scenarios import trace as traces
from scenarios.plan import Plan
from scenarios.trace import FREE, KIND, SIZE
from studies import sections, worst
from studies.adversary.study import replay, winner

EMPTY_SECTION = "empty_section"
"""An allocator that does nothing: what remains are the bench's marks, lock and book-keeping."""
_ADMITTED = Lock()
"""Held while the catalogue has the allocator of an empty section."""
_CHECK = ".text.heap_index_check"
"""The check of the heap for the contract tests; no other allocator brings one."""


def on_the_board() -> tuple[str, ...]:
    """The allocators that can run a scenario with frees on the board."""
    here = firmware.allocators()
    return tuple(name for name, row in allocators.own().items() if name in here and "frees" in row.promises)


@cache
def on_this_machine(heap_bytes: int) -> tuple[str, ...]:
    """The allocators that can replay a trace with frees over such a region on this machine."""
    return tuple(
        name
        for name, row in allocators.own().items()
        if "frees" in row.promises and host_heap.objection(name, heap_bytes) is None
    )


@dataclass(frozen=True)
class BoardRun:
    """A scenario on the virtual board, undisturbed; `art` is the flash accelerator, and
    `placement` where its code lies: 0 as it is built.
    """

    allocator: str
    scenario: str
    art: bool = False
    parameters: Mapping[str, int | str] = field(default_factory=dict, hash=False)
    knobs: Mapping[str, int] = field(default_factory=dict, hash=False)
    optimization: Optimization = "2"
    placement: int = 0

    def plan(self) -> Plan:
        """The operations, without a stimulus. Raises TailscopeError."""
        return catalogue.load(self.scenario, self.parameters, stimulus="none").compile()

    def built(self) -> FirmwareImage:
        """The image at its placement. Raises BuildError, WriteError."""
        image = firmware.build(self.allocator, art=self.art, knobs=self.knobs, optimization=self.optimization)
        return placed(image, placement(self.placement))

    def measure(self) -> pl.DataFrame:
        """A row for each operation: its OP record, with the plan's `measured`, `label` and `depth`.

        `instructions` are those of the critical section, null where none was entered. `kind` is as
        in the record: A allocated, O out of memory, F freed. Raises TailscopeError,
        and ValueError if the run does not come to its end.
        """
        plan = self.plan()
        if self.allocator == EMPTY_SECTION:
            with _ADMITTED:  # the catalogue is afterwards as before
                outside.admit([str(Path(__file__).with_name(f"{EMPTY_SECTION}.c"))])
                try:
                    image = self.built()
                finally:
                    del allocators.OUTSIDE[EMPTY_SECTION]
        else:
            image = self.built()
        measured = sections.measure(image, plan.image)
        planned = plan.operations.select(pl.col("seq").cast(pl.Int64), "measured", "label", "depth")
        return measured.join(planned, on="seq", how="left", maintain_order="left")


@dataclass(frozen=True)
class HeapStudy:
    """The heap that a scenario needs on one allocator, for each of so many seeds. Without
    `searches` the smallest heap is not looked for. `processes` share the work, and change nothing.
    """

    allocator: str
    scenario: str
    seeds: int
    heap_bytes: int
    knobs: Mapping[str, int] = field(default_factory=dict, hash=False)
    searches: bool = True
    processes: int = field(default=1, repr=False, compare=False)

    def measure(self) -> pl.DataFrame:
        """Columns: seed, peak_live_bytes, failures, used_bytes, fragmentation_percent, sbbm_bytes,
        cost_metric_bytes; what was measured again in a heap of that size ends in `_there`. Null
        where there is no such figure. Raises HostHeapError.
        """
        drawn = [
            traces.of_steps(self.scenario, catalogue.load(self.scenario, {}, seed).generator.steps(), seed)
            for seed in range(1, self.seeds + 1)
        ]
        study = Study(
            *(drawn, [self.allocator], self.heap_bytes, self.knobs, self.processes), searches=self.searches
        )
        return pl.DataFrame([_figures(row) for row in study.rows()], infer_schema_length=None)


def _figures(row: Row) -> dict[str, float | int | None]:
    given, there = row.given, row.smallest
    names = ("peak_live_bytes", "failures", "used_bytes", "fragmentation_percent")
    return {
        "seed": row.seed,
        **{name: getattr(given, name) for name in (*names, "fragmentation_from_start_percent", "sbbm_bytes")},
        "cost_metric_bytes": row.cost_metric.smallest_bytes,
        "used_there_bytes": None if there is None else there.used_bytes,
        "fragmentation_there_percent": row.fragmentation_there_percent,
        "sbbm_there_bytes": row.sbbm_there_bytes,
    }


@dataclass(frozen=True)
class WorstOnThisMachine:
    """A construction of the generator `worst`, in a heap of 8 MiB."""

    allocator: str
    construction: str

    def measure(self) -> pl.DataFrame:
        """`instructions` of the operation that is measured. Raises HostHeapError."""
        with tempfile.TemporaryDirectory(prefix="tailscope-") as folder:
            cell = worst.on_host(self.construction, self.allocator, Path(folder))
        return pl.DataFrame({"instructions": [cell.instructions]})


@dataclass(frozen=True)
class Spread:
    """Few live bytes, spread as far as a search could: the allocator's worst trace of space."""

    allocator: str

    def measure(self) -> pl.DataFrame:
        """One row of bytes, headers included: `used`, from the lowest byte of any block to the
        highest; `peak_live`, the most that live blocks took at a time; `largest`, of one block.
        Raises HostHeapError, ScenarioError.
        """
        with tempfile.TemporaryDirectory(prefix="tailscope-") as folder:
            path = winner(self.allocator, "fragmentation", Path(folder))
            operations = traces.read(path).operations.copy()
        done = replay(self.allocator, operations)
        operations[:, SIZE] = done.end - done.begin
        served = (done.status == 0) & (operations[:, KIND] != FREE)
        figures = metrics(operations, done)
        row = (figures.used_bytes, figures.peak_live_bytes, int(operations[served, SIZE].max()))
        return pl.DataFrame([row], schema=["used", "peak_live", "largest"], orient="row")


@dataclass(frozen=True)
class Footprints:
    """The bytes that an allocator takes."""

    allocator: str

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
            own = (section for section in index if section.startswith(name) and section != _CHECK)
            return sum(map(index.__getitem__, own)) if index else None

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
        """Columns as of crate_page.Level. Raises BuildError."""
        return pl.DataFrame(crate_page.levels())


@dataclass(frozen=True)
class Text:
    """The size of .text with one of the crate's functions."""

    function: str

    def measure(self) -> pl.DataFrame:
        """One row: bytes, rustc. Raises BuildError."""
        size = crate_page.text_bytes(self.function)
        return pl.DataFrame({"bytes": [size], "rustc": [crate_page.rustc_version()]})
