"""The heap that a scenario needs on one allocator, with many seeds; constructed worst cases.

These are at the scale of 8 MiB, in instructions of this machine.
"""

from __future__ import annotations

import tempfile
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import ClassVar

import numpy as np
import polars as pl

from analysis.fragmentation.study import Row, Study
from firmware.build import catalogue as allocators
from firmware.build import host_heap
from scenarios import catalogue
from scenarios.trace import FREE, KIND, SIZE, Trace, of_steps
from studies.reproduce.remade import Parameters, Settings, words
from studies.worst import host

_HEADER_BYTES = 16
"""Of the block layer, below every index."""


@dataclass(frozen=True)
class HeapStudy:
    """The heaps to measure. A `granule` raises sizes until every block, its header of 16 bytes
    included, is a multiple of it. Without `searches` the smallest heap is not looked for.
    `processes` share the work, and change nothing.
    """

    SOURCES: ClassVar[tuple[str, ...]] = (
        *("firmware", "scenarios"),
        *(f"analysis/fragmentation/{name}.py" for name in ("cost_metric", "metrics", "study")),
        "studies/reproduce/heaps.py",
    )

    allocator: str
    scenario: str
    seeds: tuple[int, ...]
    heap_bytes: int
    parameters: Parameters = ()
    knobs: Settings = ()
    granule: int = 0
    searches: bool = True
    processes: int = field(default=1, repr=False, compare=False)

    def __str__(self) -> str:
        return f"{self.scenario} on {self.allocator}{words(self.knobs)}, {len(self.seeds)} seeds"

    def measure(self) -> pl.DataFrame:
        """Columns: seed, peak_live_bytes, failures, used_bytes, fragmentation_percent, sbbm_bytes,
        cost_metric_bytes; what was measured again in a heap of that size ends in `_there`; ratio_1
        to ratio_4 are Johnstone's. Null where there is no such figure. Raises HostHeapError.
        """
        loaded = [catalogue.load(self.scenario, dict(self.parameters), seed) for seed in self.seeds]
        traces = [
            self._raised(of_steps(one.name, one.generator.steps(), seed))
            for one, seed in zip(loaded, self.seeds, strict=True)
        ]
        study = Study(
            traces,
            [self.allocator],
            self.heap_bytes,
            dict(self.knobs),
            self.processes,
            searches=self.searches,
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
    ratios = given.johnstone or (None,) * 4
    return {
        "seed": row.seed,
        "peak_live_bytes": given.peak_live_bytes,
        "failures": given.failures,
        "used_bytes": given.used_bytes,
        "fragmentation_percent": given.fragmentation_percent,
        "fragmentation_from_start_percent": given.fragmentation_from_start_percent,
        "sbbm_bytes": given.sbbm_bytes,
        "cost_metric_bytes": row.cost_metric.smallest_bytes,
        "used_there_bytes": None if there is None else there.used_bytes,
        "fragmentation_there_percent": row.fragmentation_there_percent,
        "sbbm_there_bytes": row.sbbm_there_bytes,
        **{f"ratio_{number}": ratio for number, ratio in enumerate(ratios, start=1)},
    }


def able(heap_bytes: int) -> tuple[str, ...]:
    """The allocators that can replay a trace with frees over such a region on this machine."""
    return tuple(
        name
        for name, row in allocators.own().items()
        if "frees" in row.promises and host_heap.objection(name, heap_bytes) is None
    )


@dataclass(frozen=True)
class WorstOnThisMachine:
    """The worst case to measure; `construction` is one of the generator `worst`."""

    SOURCES: ClassVar[tuple[str, ...]] = (
        *("firmware", "scenarios", "studies/worst", "studies/reproduce/heaps.py"),
    )

    allocator: str
    construction: str

    def __str__(self) -> str:
        return f"{self.construction} on {self.allocator}, 8 MiB"

    def measure(self) -> pl.DataFrame:
        """`instructions` of the operation that is measured. Raises HostHeapError."""
        with tempfile.TemporaryDirectory(prefix="tailscope-") as folder:
            cell = host.cell(self.construction, self.allocator, Path(folder))
        return pl.DataFrame({"instructions": [cell.instructions]})
