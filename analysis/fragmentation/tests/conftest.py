from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from scenarios import catalogue
from scenarios.trace import Trace, TraceBuilder, of_steps

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
