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
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from analysis.fragmentation.metrics import CostMetric, Metrics, Search, least_bytes, metrics
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
        return {
            "allocator": self.allocator,
            "trace": self.trace,
            "seed": self.seed,
            "operations": self.operations,
            "heap_bytes": self.heap_bytes,
            **asdict(self.given),
            "static_ram_bytes": self.static_ram_bytes,
            "cost_metric_bytes": self.cost_metric.smallest_bytes,
            "cost_metric_between_bytes": self.cost_metric.between_bytes,
            "looked_up_to_bytes": self.cost_metric.looked_up_to_bytes,
            "failing_above_bytes": list(self.cost_metric.failing_above_bytes),
            "at_cost_metric": None if self.smallest is None else asdict(self.smallest),
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
            return list(self._measured(files, done))

    def _measured(self, files: Sequence[Path], done: Callable[[str], None]) -> Iterator[Row]:
        """Rows share the processes; if there are fewer rows than
        processes, each search is shared.
        """
        pairs = [
            (name, trace, file)
            for name in self.allocators
            for trace, file in zip(self.traces, files, strict=True)
        ]
        within = max(1, self.jobs // len(pairs)) if pairs else 1
        with ThreadPoolExecutor(self.jobs) as pool:
            for row in pool.map(lambda pair: self._measure(pair, within), pairs):
                done(f"{row.trace} on {row.allocator}")
                yield row

    def _measure(self, pair: tuple[str, Trace, Path], jobs: int) -> Row:
        allocator, trace, file = pair
        program = host_heap.build(allocator, self.heap_bytes, self.knobs)
        replay = host_heap.run(program, file, self.heap_bytes)
        metric = CostMetric(None, 0)
        if self.searches:
            search = Search(allocator, self.knobs, file, jobs, self.exhaustive)
            metric = search.find(least_bytes(trace.operations, replay.block_overhead_bytes))
        return Row(
            allocator,
            trace.name,
            trace.seed,
            len(trace.operations),
            self.heap_bytes,
            host_heap.static_ram_bytes(program),
            metrics(trace.operations, replay),
            metric,
            None
            if metric.smallest_bytes is None
            else self._at(allocator, trace, file, metric.smallest_bytes),
        )

    def _at(self, allocator: str, trace: Trace, file: Path, heap_bytes: int) -> Metrics:
        program = host_heap.build(allocator, heap_bytes, self.knobs)
        return metrics(trace.operations, host_heap.run(program, file, heap_bytes))
