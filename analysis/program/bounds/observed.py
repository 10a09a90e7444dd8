"""How often a run went round the loops that nothing in the code limits.

What a run saw is no bound: the next one may go round more often. A figure that rests on it is an
estimate, and is told so wherever it is shown.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from typing import Annotated

import polars as pl
from pydantic import Field

from analysis.bounds.rounds import Unlimited
from analysis.program.masks.measure import MaskReport
from analysis.program.parts import Address, Hidden
from simulator.masks import MOST_MARKS, run_marks

_TRIAL = 16
"""A part of the run shows how busy the loops are: one in so many of its cycles."""
_MOST_ROWS = 2_000_000
"""A loop that would be noted more often in the whole run is counted in that part alone."""


@dataclass(frozen=True)
class CountedLoop:
    """A loop that nothing limits: in the run's first `cycles` it was entered so often, and each
    time its head was passed `passes` times at the most. Then `taken` passes are presumed.
    """

    function: str
    place: str
    address: Address
    passes: Annotated[int, Field(serialization_alias="seen_passes")]
    entries: int
    taken: Annotated[int, Field(serialization_alias="taken_passes")]
    cycles: Annotated[int, Field(serialization_alias="until_cycle")]
    of_cycles: Hidden[int]
    loop: Hidden[Unlimited]

    def words(self) -> str:
        """What was presumed of it, and why, in a sentence."""
        within = "" if self.cycles == self.of_cycles else f"'s first {self.cycles:,} cycles"
        return (
            f"The loop at {self.place} in {self.function}: its head was passed at most "
            f"{self.passes:,} times in a row in the run{within}, and {self.taken:,} are taken."
        )


def counted(masks: MaskReport, loops: Sequence[Unlimited], margin: float) -> list[CountedLoop]:
    """Each of the loops that the run came to, with the greatest count times `margin`.

    It is measured by running the program again. Raises SimulatorError.
    """
    whole = masks.cycles
    trial = min(max(whole // _TRIAL, 1), whole)
    first = {loop.head: rows for loop, rows in _marked(masks, loops, trial)}
    calm = [loop for loop in loops if len(first[loop.head]) * _TRIAL <= _MOST_ROWS]
    full = {loop.head: rows for loop, rows in _marked(masks, calm, masks.subject.until)}
    counts = []
    for loop in loops:
        passes, entries = _greatest(loop, full.get(loop.head, first[loop.head]))
        if entries:
            cycles = whole if loop.head in full else trial
            names = (loop.body.name, loop.place, loop.head)
            taken = ceil(passes * margin)
            counts.append(CountedLoop(*names, passes, entries, taken, cycles, whole, loop))
    return counts


def _marked(
    masks: MaskReport, loops: Sequence[Unlimited], until: int | str
) -> Iterator[tuple[Unlimited, pl.DataFrame]]:
    """The passages of the marks of each loop, as simulator.masks.Passages.rows."""
    subject = masks.subject
    for some in _batches(loops):
        marks = {address for loop in some for address in _marks(loop)}
        rows = run_marks(subject.user, marks, until, subject.words).rows
        for loop in some:
            yield loop, rows.filter(pl.col("address").is_in(sorted(_marks(loop))))


def _batches(loops: Iterable[Unlimited]) -> Iterator[list[Unlimited]]:
    """The loops, in groups of which each has no more marks than a run takes."""
    batch: list[Unlimited] = []
    marks: set[int] = set()
    for loop in loops:
        own = _marks(loop)
        if batch and len(marks | own) > MOST_MARKS:
            yield batch
            batch, marks = [], set()
        batch.append(loop)
        marks |= own
    if batch:
        yield batch


def _marks(loop: Unlimited) -> set[int]:
    """The head, and where the blocks begin and end that lead to it."""
    return {loop.head, *_firsts(loop), *_lasts(loop)}


def _before(loop: Unlimited) -> Iterator[int]:
    for address, block in loop.body.blocks.items():
        if any(target == loop.head for target, _ in block.after):
            yield address


def _firsts(loop: Unlimited) -> set[int]:
    return set(_before(loop))


def _lasts(loop: Unlimited) -> Mapping[int, int]:
    """The last instructions of the blocks inside that lead to the head, with the block of each."""
    return {
        loop.body.blocks[address].last.address: address for address in _before(loop) if address in loop.inside
    }


def _greatest(loop: Unlimited, rows: pl.DataFrame) -> tuple[int, int]:
    """How often the head is passed each time at the most, and how often the loop is entered.

    The head is passed on a further lap if what came right before it is the end of a block inside,
    which leads there; or its beginning, if that end is an instruction that was skipped. Else the
    loop is entered anew. Laps of one time have one stack pointer, in one task and one handler.
    """
    lasts = sorted(_lasts(loop))
    firsts = sorted(_firsts(loop) & loop.inside)
    before = pl.col("address").shift(1).over("exception", "task")
    went = pl.col("next_pc").shift(1).over("exception", "task")
    lap = pl.when(before.is_in(lasts)).then(went == loop.head).otherwise(before.is_in(firsts))
    heads = (
        rows.sort("cycle", maintain_order=True)
        .with_columns(pl.col("task").fill_null(0))
        .with_columns(lap=lap.fill_null(False))
        .filter(pl.col("address") == loop.head)
        .with_columns(time=(~pl.col("lap")).cum_sum().over("exception", "task", "sp"))
        .group_by("exception", "task", "sp", "time")
        .len()
    )
    if heads.is_empty():
        return 0, 0
    return int(heads["len"].max()), heads.height  # type: ignore[arg-type]
