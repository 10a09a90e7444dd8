"""The cycles of a run with its code at other places in the flash (docs/reference/placements.md).

Outcomes, probes and instructions are the same at each of them.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import ClassVar, TypeVar

import polars as pl

from base.processes import signals
from base.run_folder.records import OperationRecord
from firmware.build.image import FirmwareImage
from firmware.build.placement import placed, placement
from scenarios.plan import Plan
from studies.reproduce.board import BoardRun
from studies.reproduce.remade import MadeFigure, Measure, over_placements

Key = TypeVar("Key", bound=Hashable)
Ran = TypeVar("Ran")

_CYCLES = ("critical_cycles", "operation_cycles")


@dataclass(frozen=True)
class PlacedCycles:
    """The run to make at each placement below `count` but the first, which is the run itself.

    `processes` share the work, and change nothing.
    """

    SOURCES: ClassVar[tuple[str, ...]] = (*BoardRun.SOURCES, "studies/reproduce/placed.py")

    run: BoardRun
    count: int
    processes: int = field(default=1, repr=False, compare=False)

    def __str__(self) -> str:
        return f"{self.run}, {self.count} placements"

    def measure(self) -> pl.DataFrame:
        """A row for each operation, in order: `seq`, `kind`, and lists of
        `critical_cycles` and `operation_cycles`, an item for each placement.

        Raises TailscopeError, and ValueError if a run does not come to its end, or operations end
        otherwise at another placement.
        """
        plan, built = self.run.plan(), self.run.built()
        with ThreadPoolExecutor(self.processes, "placement") as at_a_time:
            try:
                runs = [*at_a_time.map(lambda number: self._at(number, plan, built), range(1, self.count))]
            finally:
                at_a_time.shutdown(cancel_futures=True)
        first = runs[0]
        for one in runs:
            _check_same(self.run, first, one)
        lists = [pl.concat_list(one[name] for one in runs).alias(name) for name in _CYCLES]
        return first.select("seq", "kind").with_columns(lists)

    def _at(self, number: int, plan: Plan, built: FirmwareImage) -> pl.DataFrame:
        signals.check()
        done = self.run.run(placed(built, placement(number)), plan)
        found = done.records.all(OperationRecord)
        names = ("seq", "kind", *_CYCLES)
        return pl.DataFrame({name: [getattr(one, name) for one in found] for name in names})


def at_placements(measure: Measure, run: BoardRun, count: int, processes: int = 1) -> list[pl.DataFrame]:
    """The operations of `run`, as BoardRun.measure() has them, at each placement below `count`,
    with the cycles that they have there. Raises TailscopeError, and ValueError.
    """
    first = measure(run)
    if count == 1:
        return [first]
    others = measure(PlacedCycles(run, count, processes))
    _check_same(run, first, others)
    return [
        first,
        *(
            first.with_columns(others[name].list.get(number) for name in _CYCLES)
            for number in range(count - 1)
        ),
    ]


def _check_same(run: BoardRun, first: pl.DataFrame, other: pl.DataFrame) -> None:
    if not first.select("seq", "kind").equals(other.select("seq", "kind")):
        raise ValueError(f"{run} comes out otherwise at another placement.")


def figures_at(
    runs: Iterable[Ran], figures: Callable[[Ran], Mapping[Key, MadeFigure]]
) -> dict[Key, MadeFigure]:
    """What `figures` makes of what ran at a placement, over the placements in `runs`."""
    found = [figures(run) for run in runs]
    return {key: over_placements([one[key] for one in found]) for key in found[0]}
