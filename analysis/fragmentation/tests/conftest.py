from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol

import numpy as np
import pytest

from analysis.fragmentation.metrics import CostMetric, Search, least_bytes
from firmware.build import host_heap
from firmware.build.host_heap import Replay
from scenarios import catalogue
from scenarios.trace import Operations, Trace, TraceBuilder, of_steps

NO_KNOBS: Mapping[str, int] = {}

HEAP_BYTES = 86_064
"""Of the thesis's large heap."""


def thesis_traces(name: str, seeds: Sequence[int]) -> list[Trace]:
    """One of the thesis's four synthetic traces, for every seed."""
    scenarios = [catalogue.load(f"lifetimes_{name}", seed=seed) for seed in seeds]
    return [
        of_steps(scenario.name, scenario.generator.steps(), seed)
        for scenario, seed in zip(scenarios, seeds, strict=True)
    ]


def random_operations(seed: int, count: int, largest: int, live: int) -> list[tuple[str, int, int]]:
    """Allocations and frees of any live block, as models.figures takes them."""
    random = np.random.default_rng(seed)
    alive: list[int] = []
    operations: list[tuple[str, int, int]] = []
    for name in range(count):
        if alive and (len(alive) == live or random.random() < 0.45):
            operations.append(("f", alive.pop(int(random.integers(len(alive)))), 0))
        else:
            alive.append(name)
            operations.append(("a", name, int(random.integers(1, largest + 1))))
    return operations


def trace_of(operations: list[tuple[str, int, int]]) -> Trace:
    builder = TraceBuilder()
    for kind, name, size in operations:
        if kind == "a":
            builder.allocate(name, size)
        elif kind == "r":
            builder.reallocate(name, size)
        else:
            builder.free(name)
    return builder.trace("of a test")


class Replayed(Protocol):
    """Replays operations on an allocator, in a heap of so many bytes."""

    def __call__(
        self, allocator: str, operations: Operations, heap_bytes: int, knobs: Mapping[str, int] = ...
    ) -> Replay: ...


class Searched(Protocol):
    """The Cost Metric of operations on an allocator, with the bytes beside each of its payloads."""

    def __call__(
        self,
        allocator: str,
        operations: Operations,
        block_overhead_bytes: int,
        knobs: Mapping[str, int] = ...,
    ) -> CostMetric: ...


@pytest.fixture
def replay(tmp_path: Path) -> Replayed:
    def run(
        allocator: str, operations: Operations, heap_bytes: int, knobs: Mapping[str, int] = NO_KNOBS
    ) -> Replay:
        program = host_heap.build(allocator, heap_bytes, knobs)
        return host_heap.run(program, host_heap.write(operations, tmp_path / "operations"), heap_bytes)

    return run


@pytest.fixture
def search(tmp_path: Path) -> Searched:
    def find(
        allocator: str,
        operations: Operations,
        block_overhead_bytes: int,
        knobs: Mapping[str, int] = NO_KNOBS,
    ) -> CostMetric:
        file = host_heap.write(operations, tmp_path / "operations")
        return Search(allocator, knobs, file).find(least_bytes(operations, block_overhead_bytes))

    return find
