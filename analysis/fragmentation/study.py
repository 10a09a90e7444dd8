"""Replays traces on allocators: one row of figures for each pair."""

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
        """The row as docs/reference/heap-fragmentation.md has it."""
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
            tell(f"building {allocator}")
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
