"""Replays traces on allocators: one row of figures for each pair.

The document of `heap fragmentation --json` is a list of objects:

allocator, trace, seed, operations heap_bytes, static_ram_bytes failures, peak_live_bytes,
peak_live_blocks used_bytes, used_from_start_bytes fragmentation_percent,
fragmentation_from_start_percent, johnstone [4], sbbm_bytes region_overhead_bytes,
block_overhead_bytes cost_metric_bytes, cost_metric_between_bytes [2], looked_up_to_bytes,
failing_above_bytes[] at_cost_metric {failures, peak_live_bytes, peak_live_blocks, used_bytes,
used_from_start_bytes, fragmentation_percent, fragmentation_from_start_percent, johnstone [4],
sbbm_bytes, region_overhead_bytes, block_overhead_bytes}

- *trace* is the scenario's name, or the file's. *seed* is null for a file and for a scenario
  without one. *operations* counts allocations, reallocations and frees.
- *heap_bytes* is the region; *static_ram_bytes* what the allocator's variables take beside it.
- *failures* counts allocations and reallocations that were refused. The frees of refused
  allocations are left out, and their bytes are not live.
- *johnstone* are four ratios, in the order of docs/how-to/fragmentation.md. They,
  *fragmentation_percent* and *sbbm_bytes* are null if nothing was served.
- *used_from_start_bytes* runs from the region's beginning to the last block's end.
  *fragmentation_from_start_percent* is the fourth ratio less one with these bytes.
- *cost_metric_bytes* is the first size from 64 on, in steps of 8, that serves all. It is null if no
  size was found up to *looked_up_to_bytes*. Otherwise the sizes above it were tried up to
  *looked_up_to_bytes*, and *failing_above_bytes* are those that do not serve.
- With `--no-search` no size is tried: *cost_metric_bytes* is null and *looked_up_to_bytes* 0.
- *cost_metric_between_bytes* is null except where the search could replay more than 2,000,000,000
  operations and `--exhaustive` was not given. Then only doubled sizes were tried, the smallest lies
  between these two, both included, and *cost_metric_bytes* is null.
- *at_cost_metric* has the figures of a heap of that size; null without one.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from statistics import median_low
from typing import Any

from analysis.fragmentation.metrics import CostMetric, Metrics, least_bytes, metrics, smallest_heap
from base.text_table import TextTable, printed
from firmware.build import host_heap
from scenarios.trace import Trace


@dataclass(frozen=True)
class Row:
    """One trace on one allocator: in a heap of `heap_bytes`, and in the smallest that serves it."""

    allocator: str
    trace: str
    seed: int | None
    operations: int
    heap_bytes: int
    static_ram_bytes: int
    """Beside the region; of the build for `heap_bytes`."""
    given: Metrics
    cost_metric: CostMetric
    smallest: Metrics | None
    """In a heap of the Cost Metric's size; None if there is none."""

    @property
    def fragmentation_there_percent(self) -> float | None:
        return None if self.smallest is None else self.smallest.fragmentation_percent

    @property
    def sbbm_there_bytes(self) -> int | None:
        return None if self.smallest is None else self.smallest.sbbm_bytes

    def as_json(self) -> dict[str, Any]:
        """The row as the document has it."""
        names = ("allocator", "trace", "seed", "operations", "heap_bytes", "static_ram_bytes")
        return {
            **{name: getattr(self, name) for name in names},
            **asdict(self.given),
            "cost_metric_bytes": self.cost_metric.smallest_bytes,
            "cost_metric_between_bytes": self.cost_metric.between_bytes,
            "looked_up_to_bytes": self.cost_metric.looked_up_to_bytes,
            "failing_above_bytes": list(self.cost_metric.failing_above_bytes),
            "at_cost_metric": self.smallest and asdict(self.smallest),
        }


@dataclass(frozen=True)
class Study:
    """The question. `jobs` processes share the work; the rows do not depend on it.

    With `exhaustive` no search for a Cost Metric is too long.
    """

    traces: Sequence[Trace]
    allocators: Sequence[str]
    heap_bytes: int
    knobs: Mapping[str, int] = field(default_factory=dict)
    jobs: int = 1
    exhaustive: bool = False
    searches: bool = True
    """Without it no smallest heap is looked for, which takes most of the time."""

    def rows(
        self, tell: Callable[[str], None] = lambda _: None, done: Callable[[str], None] = lambda _: None
    ) -> list[Row]:
        """The rows by allocator, then by trace. `tell` hears progress, `done` each row that is
        there. Raises HostHeapError.
        """
        for allocator in self.allocators:
            tell(f"the heap of {allocator}")
            host_heap.build(allocator, self.heap_bytes, self.knobs)
        with tempfile.TemporaryDirectory(prefix="tailscope-") as folder:
            files = [
                host_heap.write(trace.operations, Path(folder) / f"{number}.operations")
                for number, trace in enumerate(self.traces)
            ]
            pairs = [
                (name, trace, file)
                for name in self.allocators
                for trace, file in zip(self.traces, files, strict=True)
            ]
            rows = []
            with ThreadPoolExecutor(self.jobs) as pool:
                for row in pool.map(lambda pair: self._measure(*pair), pairs):
                    done(f"{row.trace} on {row.allocator}")
                    rows.append(row)
            return rows

    def _measure(self, allocator: str, trace: Trace, file: Path) -> Row:
        def measured(heap_bytes: int) -> tuple[Path, Metrics]:
            program = host_heap.build(allocator, heap_bytes, self.knobs)
            return program, metrics(trace.operations, host_heap.run(program, file, heap_bytes))

        program, given = measured(self.heap_bytes)
        metric = CostMetric(None, 0)
        if self.searches:
            least = least_bytes(trace.operations, given.block_overhead_bytes)
            metric = smallest_heap(allocator, self.knobs, file, least, self.exhaustive)
        smallest = metric.smallest_bytes
        return Row(
            allocator,
            trace.name,
            trace.seed,
            len(trace.operations),
            self.heap_bytes,
            host_heap.static_ram_bytes(program),
            given,
            metric,
            None if smallest is None else measured(smallest)[1],
        )


_COLUMNS = {
    "smallest heap": "cost_metric.smallest_bytes",
    "refused": "given.failures",
    "used": "given.used_bytes",
    "F %": "given.fragmentation_percent",
    "SBBM": "given.sbbm_bytes",
    "F % there": "fragmentation_there_percent",
    "SBBM there": "sbbm_there_bytes",
    "static RAM": "static_ram_bytes",
}
"""Headings, and figures of a Row."""


def as_text(rows: Sequence[Row]) -> str:
    """The table, what it is of, and what must be known to read it. There is at least one row."""
    first, peaks = rows[0], [row.given.peak_live_bytes for row in rows]
    seeds = list(dict.fromkeys(row.seed for row in rows))
    of_seeds = "" if first.seed is None else f", seeds {seeds[0]:#x} to {seeds[-1]:#x}"
    heading = (
        f"{first.trace}: operations {first.operations:,}{of_seeds}; live at most {max(peaks):,} bytes; a "
        f"heap of {first.heap_bytes:,} bytes. In bytes; of several seeds the median, and below it the range."
    )
    return printed([heading, _table(rows), "", *notes(rows)], 132)


def _table(rows: Sequence[Row]) -> TextTable:
    lines = []
    for allocator, group in groupby(rows, key=lambda row: row.allocator):
        of_seeds = list(group)
        cells = (_cell([*map(attrgetter(figure), of_seeds)], figure) for figure in _COLUMNS.values())
        lines.append((allocator, *cells))
    headings = ("allocator", *_COLUMNS)
    return TextTable("", headings, lines, range(1, len(headings)))


def _cell(values: Sequence[float | None], figure: str) -> str:
    """A median that occurred, and the range where there is one; `-` where a figure is missing."""
    form = ".2f" if figure.endswith("percent") else ",.0f"
    present = [value for value in values if value is not None]
    if len(present) < len(values):
        return f"- ({len(values) - len(present)} of {len(values)})" if present else "-"
    least, most = f"{min(present):{form}}", f"{max(present):{form}}"
    middle = f"{median_low(present):{form}}"
    return middle if least == most else f"{middle}\n{least}…{most}"


def notes(rows: Sequence[Row]) -> list[str]:
    """Sentences on requests that are refused, on sizes above the smallest that fail, and on heaps
    that were not found: of each allocator those of the worst seed.
    """
    sentences = []
    if refusing := list(dict.fromkeys(row.allocator for row in rows if row.given.failures)):
        sentences.append(
            f"{', '.join(refusing)}: a heap of {rows[0].heap_bytes:,} bytes refuses some requests, and the "
            "figures are of what it serves; give more with --heap."
        )
    for allocator, group in groupby(rows, key=lambda row: row.allocator):
        metrics_of = [row.cost_metric for row in group]
        worst = max(metrics_of, key=lambda metric: max(metric.failing_above_bytes, default=0))
        if worst.failing_above_bytes:
            sentences.append(
                f"{allocator}: serving is not monotonic; {worst.smallest_bytes:,} bytes serve, "
                f"{worst.failing_above_bytes[-1]:,} do not."
            )
        unserved = next((metric for metric in metrics_of if metric.smallest_bytes is None), None)
        if unserved and unserved.between_bytes:
            low, high = unserved.between_bytes
            sentences.append(
                f"{allocator}: the smallest heap has from {low:,} to {high:,} bytes; "
                "--exhaustive searches for it, and takes long."
            )
        elif unserved and unserved.looked_up_to_bytes:
            sentences.append(
                f"{allocator}: no heap that was tried serves all requests, "
                f"up to {unserved.looked_up_to_bytes:,} bytes."
            )
    return sentences
