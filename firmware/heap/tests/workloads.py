"""What an allocator does with a scenario on this machine, operation by operation.

python -m firmware.heap.tests.workloads prints the table of probes in heap/README.md.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import NamedTuple

from base import heap_size
from firmware.build import catalogue, host_heap
from scenarios import catalogue as scenarios
from scenarios.trace import FREE, of_steps

DEPTHS, TRIALS = 256, 3
COUNTING = [name for name, row in catalogue.own().items() if "counts_probes" in row.promises]


class Row(NamedTuple):
    """As the firmware's OP record of the same operation, less its cycles."""

    seq: int
    kind: str
    size: int
    probes: int
    live: int
    bytes_in_use: int


def rows(allocator: str, scenario: str) -> list[Row]:
    """Raises TailscopeError."""
    chosen = scenarios.load(scenario)
    operations = of_steps(scenario, chosen.generator.steps()).operations
    with tempfile.TemporaryDirectory() as folder:
        file = host_heap.write(operations, Path(folder) / "operations")
        program = host_heap.build(allocator, heap_size.DEFAULT_BYTES)
        replayed = host_heap.run(program, file, heap_size.DEFAULT_BYTES)
    usable: dict[int, int] = {}
    sizes: dict[int, int] = {}
    result = []
    outcomes = zip(
        operations.tolist(),
        replayed.status.tolist(),
        replayed.probes.tolist(),
        replayed.usable.tolist(),
        strict=True,
    )
    for seq, ((kind, slot, size, _), status, probes, bytes_) in enumerate(outcomes):
        if kind == FREE:
            letter = "F" if usable.pop(slot, None) is not None else "N"
            size = sizes[slot]
        else:
            letter = {0: "A", host_heap.SKIPPED: "S"}.get(status, "O")
            if letter == "A":
                usable[slot] = bytes_
            if slot not in usable or letter == "A":
                sizes[slot] = size
        result.append(Row(seq, letter, size, probes, len(usable), sum(usable.values())))
    return result


def stress_figures(stress: list[Row]) -> tuple[int, int, int]:
    """Median, p99 and worst probes of the allocations, by nearest rank."""
    probes = sorted(row.probes for row in stress if row.kind == "A")
    median, p99 = (probes[-(-len(probes) * percent // 100) - 1] for percent in (50, 99))
    return median, p99, probes[-1]


def frag_probes(frag: list[Row]) -> list[int]:
    """Probes of the measured allocations: three for each depth from 1."""
    return [row.probes for row in frag if (row.kind, row.size) == ("A", 120)]


def table() -> str:
    """One row for each allocator that counts its probes."""
    head = (
        "| allocator | mem_stress: served | median | p99 | worst | mem_frag: depth 1 | depth 64 | depth 256 |"
    )
    lines = [head, "|---|---|---|---|---|---|---|---|"]
    for name in COUNTING:
        stress, frag = rows(name, "mem_stress"), frag_probes(rows(name, "mem_frag"))
        served = sum(row.kind == "A" for row in stress)
        by_depth = [max(frag[(depth - 1) * TRIALS : depth * TRIALS]) for depth in (1, 64, DEPTHS)]
        lines.append(f"| {' | '.join(map(str, (name, served, *stress_figures(stress), *by_depth)))} |")
    return "\n".join(lines)


if __name__ == "__main__":
    print(table())
