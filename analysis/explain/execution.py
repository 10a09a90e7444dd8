"""What ran during the worst sample: each instruction with its cycles, and totals by function."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from analysis.explain.program import Program
from base.run_folder.explanation import Total


@dataclass(frozen=True)
class Step:
    """An instruction that began at `cycle` and took `cycles`, its stalls included."""

    cycle: int
    cycles: int
    address: int
    function: str
    place: str
    text: str
    source: str


def steps(program: Program, trace: Iterable[dict[str, Any]], start: int, end: int) -> list[Step]:
    """What was executed from cycle `start` to before cycle `end`.

    Of the instruction under way at `start` only the rest counts. The cycles between two
    instructions belong to the first. Entering or leaving an exception is a step of its own.
    """
    entries = [entry for entry in trace if entry["cycle"] < end]
    first = max((n for n, entry in enumerate(entries) if entry["cycle"] <= start), default=0)
    return list(_steps(program, entries[first:], start, end))


def _steps(program: Program, entries: list[dict[str, Any]], start: int, end: int) -> Iterator[Step]:
    following = [*(entry["cycle"] for entry in entries[1:]), end]
    for entry, then in zip(entries, following, strict=True):
        cycle = max(entry["cycle"], start)
        cycles = then - cycle
        if "mode" in entry:
            yield Step(cycle, cycles, 0, "(exception)", "(exception)", f"now in {entry['mode']}", "")
            continue
        address, opcode = int(entry["pc"], 16), int(entry["opcode"], 16)
        function = program.function_at(address)
        name = function.name if function else "(no function)"
        text = program.instruction_text(address, opcode, wide=opcode > 0xFFFF)
        yield Step(cycle, cycles, address, name, program.place(address), text, program.source_line(address))


def by_function(executed: Iterable[Step]) -> list[Total]:
    """Totals by function, the most expensive first. Executions count instructions."""
    return _totals((step.function, "", step.cycles) for step in executed)


def by_instruction(executed: Iterable[Step], most: int = 12) -> list[Total]:
    """Totals of the `most` most expensive instructions, in that order."""
    return _totals((f"{s.place}: {s.text}", s.source, s.cycles) for s in executed)[:most]


def by_line(executed: Iterable[Step], most: int = 12) -> list[Total]:
    """Totals of the `most` most expensive source lines, in that order.

    Executions count instructions. A line's name is the function that it was compiled into.
    """
    return _totals((step.function, step.source, step.cycles) for step in executed if step.source)[:most]


def _totals(rows: Iterable[tuple[str, str, int]]) -> list[Total]:
    counts: dict[tuple[str, str], list[int]] = defaultdict(lambda: [0, 0])
    for name, source, cycles in rows:
        counts[name, source][0] += 1
        counts[name, source][1] += cycles
    totals = [
        Total(name=name, executions=n, cycles=cycles, source=source)
        for (name, source), (n, cycles) in counts.items()
    ]
    return sorted(totals, key=lambda total: (-total.cycles, total.name))
