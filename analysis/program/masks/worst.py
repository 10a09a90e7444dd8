"""The longest interval at each place, with who raised it, who ended it, and what it held off."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import polars as pl

from analysis.errors import MasksError
from analysis.explain.execution import Step, steps
from analysis.explain.program import Program
from analysis.explain.replay import TRACE_MOST
from analysis.program.masks.places import Place, Places
from analysis.program.masks.priorities import Exceptions
from analysis.program.masks.tasks import shown
from simulator import run as simulator
from simulator.program import UserProgram


@dataclass(frozen=True)
class Worst:
    """The longest of `count` intervals of a kind that began and ended at the same places.

    `level` is BASEPRI's value, or the number of the handler's exception. `stack` are the calls at
    its beginning, innermost first; of a handler first itself, then what it interrupted. `held`
    names the exceptions that were enabled then and that it held off. `cycles` do not count
    `asleep_cycles`, in which an interrupt would have woken the core. For `stalled_cycles` of it the
    core waited for its flash, which was programmed or erased. `most_ns` is the longest time of all:
    where the clock changed, another than that of the most cycles may have taken it. If it is still
    open, `end`, `end_cycle`, `cycles`, `ns` and `most_ns` are None. `lock` is the kernel's
    word for the inlined function that raised it; empty if there is none.
    """

    kind: str
    level: int | None
    name: str
    cycles: int | None
    ns: float | None
    begin_cycle: int
    end_cycle: int | None
    asleep_cycles: int
    begin: Place
    end: Place | None
    stack: tuple[Place, ...]
    task: str
    held: tuple[str, ...]
    count: int
    most_ns: float | None
    stalled_cycles: int = 0
    lock: str = ""

    @property
    def holds_interrupts(self) -> bool:
        """Whether it delays interrupts; a locked scheduler holds tasks off, and nothing else."""
        return self.kind != "scheduler"

    @property
    def caller(self) -> Place | None:
        """Who called the function that raised it; None if that is not known."""
        return self.stack[self.stack.index(self.begin) + 1] if self._has_caller else None

    @property
    def _has_caller(self) -> bool:
        return self.begin in self.stack[:-1]

    def as_json(self) -> dict[str, Any]:
        """The document that docs/reference/masks.md describes."""
        return {
            "kind": self.kind,
            "name": self.name,
            "level": self.level,
            "cycles": self.cycles,
            "ns": self.ns,
            "begin_cycle": self.begin_cycle,
            "end_cycle": self.end_cycle,
            "asleep_cycles": self.asleep_cycles,
            "stalled_cycles": self.stalled_cycles,
            "lock": self.lock or None,
            "begin": self.begin.as_json(),
            "end": None if self.end is None else self.end.as_json(),
            "stack": [frame.as_json() for frame in self.stack],
            "task": self.task or None,
            "held": list(self.held),
            "count": self.count,
        }


def worst_by_place(
    table: pl.DataFrame,
    changes: pl.DataFrame,
    places: Places,
    tasks: Mapping[int, str],
    exceptions: Exceptions,
) -> list[Worst]:
    """The longest interval of each kind at each place, the longest of all first; what holds no
    interrupt off comes last.

    A place is where it began, by whom that was called, and where it ended. `table` has the columns
    of intervals.INTERVALS and `ns`.
    """
    worst_by_key: dict[tuple[object, ...], tuple[dict[str, Any], int]] = {}
    for row, count in _by_address(table, changes):
        key = _key(row, places)
        known, counted = worst_by_key.get(key, (row, 0))
        longest = row if _length(row) > _length(known) else known
        times = [candidate["most_ns"] for candidate in (row, known) if candidate["most_ns"] is not None]
        worst_by_key[key] = ({**longest, "most_ns": max(times, default=None)}, counted + count)
    made = [_worst(row, count, places, tasks, exceptions) for row, count in worst_by_key.values()]
    return sorted(made, key=lambda row: (not row.holds_interrupts, -(row.cycles or 0), row.begin_cycle))


def name_of(kind: str, level: int | None, places: Places) -> str:
    """`basepri 0x50`, `handler of SysTick (xPortSysTickHandler)`, `primask`."""
    if kind == "basepri" and level is not None:
        return f"basepri {level:#04x}"
    return f"handler of {places.exception(level)}" if kind == "handler" and level is not None else kind


def _by_address(told: pl.DataFrame, changes: pl.DataFrame) -> list[tuple[dict[str, Any], int]]:
    """The longest interval of each kind, level, addresses and stack; and how many there are."""
    table = changes.with_row_index("begin_row").select(
        pl.col("begin_row").cast(pl.Int64), "pc", "stack", "task"
    )
    ended = changes.with_row_index("end_row").select(
        pl.col("end_row").cast(pl.Int64), end_pc="pc", end_what="what"
    )
    rows = told.join(table, on="begin_row", how="left").join(ended, on="end_row", how="left")
    keys = ["kind", "level", "pc", "stack", "end_pc", "chained"]
    longest = (
        rows.with_columns(count=pl.len().over(keys), most_ns=pl.col("ns").max().over(keys))
        .sort("cycles", "begin_cycle", descending=[True, False], nulls_last=True)
        .unique(keys, keep="first", maintain_order=True)
    )
    return [(row, int(row["count"])) for row in longest.iter_rows(named=True)]


def _key(row: Mapping[str, Any], places: Places) -> tuple[object, ...]:
    stack = _stack(row, places)
    begin = _begin(row, places)
    ended = _end(row, places)
    end = None if ended is None else _where(ended)
    if row["kind"] == "handler":
        return (row["kind"], row["level"], end)
    # What a handler interrupted is chance, and no part of the place.
    calls = [_where(frame) for frame in _from(begin, stack)[:2] if not frame.interrupted]
    return (row["kind"], row["level"], *calls, end)


def _where(place: Place) -> tuple[object, ...]:
    return (place.function, place.file, place.line) if place.file else (place.address,)


def _from(begin: Place, stack: tuple[Place, ...]) -> tuple[Place, ...]:
    return stack[stack.index(begin) :] if begin in stack else stack


def _begin(row: Mapping[str, Any], places: Places) -> Place:
    """The place that raised it; for a handler its first instruction, if the vector table has it."""
    if row["kind"] != "handler":
        return places.place(row["pc"])
    return places.entry(row["level"]) or places.place(row["end_pc"] or row["pc"])


def _end(row: Mapping[str, Any], places: Places) -> Place | None:
    """The place that ended it, None if none did; after a handler, the handler that followed."""
    if row["end_pc"] is None:
        return None
    if row["end_what"] == "reset":
        return Place("(reset)", "", 0, row["end_pc"])
    if row["chained"]:
        begin = _begin(row, places)
        return Place(begin.function, "", 0, begin.address)
    return places.place(row["end_pc"])


def _stack(row: Mapping[str, Any], places: Places) -> tuple[Place, ...]:
    stack = places.stack(row["stack"], row["pc"])
    return (_begin(row, places), *stack) if row["kind"] == "handler" else stack


def _length(row: Mapping[str, Any]) -> int:
    return int(row["cycles"] or 0)


def _worst(
    row: Mapping[str, Any], count: int, places: Places, tasks: Mapping[int, str], exceptions: Exceptions
) -> Worst:
    held = exceptions.held(row["kind"], row["level"], row["begin_row"], row["end_row"])
    task = row["task"]
    return Worst(
        kind=row["kind"],
        level=row["level"],
        name=name_of(row["kind"], row["level"], places),
        cycles=row["cycles"],
        ns=row["ns"],
        begin_cycle=row["begin_cycle"],
        end_cycle=row["end_cycle"],
        asleep_cycles=row["asleep_cycles"],
        begin=_begin(row, places),
        end=_end(row, places),
        stack=_stack(row, places),
        task=shown(tasks, task) if task else "",
        held=tuple(places.exception(exception) for exception in held),
        count=count,
        most_ns=row["most_ns"],
        stalled_cycles=row.get("stalled_cycles") or 0,
        lock="" if row["kind"] == "handler" else places.lock(row["pc"]),
    )


# Each step takes a cycle or more; what is under way as the interval begins is one more.
_MORE_STEPS = 16


def steps_of(program: UserProgram, elf: Program, worst: Worst) -> list[Step]:
    """The steps of an interval that ended. Raises MasksError if a trace cannot keep them."""
    assert worst.end_cycle is not None
    length = worst.end_cycle - worst.begin_cycle
    kept = min(length + _MORE_STEPS, TRACE_MOST)
    trace = simulator.run(program, until=worst.end_cycle, trace_last=kept).trace
    if trace[0]["cycle"] > worst.begin_cycle:
        raise MasksError(
            f"The longest {worst.kind} has more than {TRACE_MOST:,} instructions, the most that a trace "
            "keeps: leave out --explain."
        )
    return steps(elf, trace, worst.begin_cycle, worst.end_cycle)
