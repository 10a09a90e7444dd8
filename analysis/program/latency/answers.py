"""The answers of the pends: their distribution, what they waited for, and the worst."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from analysis.program.clock import Clock
from analysis.program.places import Place, Places
from simulator.latency import Answers

ENTRY = "entry"
ENTRY_ALONE = "entry alone"


@dataclass(frozen=True)
class Wait:
    """A part of a wait. `cause` is a word of the simulator, `exception` the handler's number.

    `raised` is where the mask was set; None where that is not known, or where there is no mask.
    """

    cause: str
    cycles: int
    exception: int | None = None
    level: int | None = None
    raised: int | None = None


@dataclass(frozen=True)
class Answered:
    """Neighbouring pends, all taken in the same cycle; the first of them waited longest."""

    first: int
    last: int
    pends: int
    taken: int
    pc: int
    exception: int
    return_pc: int | None
    waits: tuple[Wait, ...]

    @property
    def cycles(self) -> int:
        return self.taken - self.first

    def ns(self, clock: Clock) -> float:
        """How long it waited, by the clocks of the run."""
        return float(clock.between_ns(self.first, self.taken))

    @property
    def main(self) -> Wait:
        """The longest part of the wait, its own entry aside."""
        others = [wait for wait in self.waits if wait.cause != ENTRY]
        return max(others or self.waits, key=lambda wait: wait.cycles)

    @property
    def kind(self) -> tuple[object, ...]:
        """Equal for waits of one origin: the same causes in the same order, at the same places."""
        held = tuple((w.cause, w.exception, w.raised) for w in self.waits if w.cause != "instruction")
        return (*held, self.exception if len(held) == 1 else 0)


def answered(rows: pl.DataFrame) -> list[Answered]:
    """The rows of simulator.latency.Answers that were taken."""
    return [_answered(row) for row in rows.filter(outcome="taken").iter_rows(named=True)]


def _answered(row: dict[str, Any]) -> Answered:
    waits = tuple(_wait(word) for word in str(row["waits"] or "").split(";") if word)
    return Answered(
        first=row["first_pended"],
        last=row["last_pended"],
        **{name: row[name] for name in ("pends", "taken", "pc", "exception", "return_pc")},
        waits=waits or (Wait(ENTRY, 0),),
    )


def _wait(text: str) -> Wait:
    """`primask 0x08000198:104`, `basepri 0x50 0x080005dc:13`, `exception 15:200`, `entry:12`."""
    words, _, cycles = text.rpartition(":")
    cause, *more = words.split(" ")
    if cause == "exception":
        return Wait(cause, int(cycles), exception=int(more[0]))
    level = int(more[0], 16) if cause == "basepri" else None
    place = more[-1] if cause in ("primask", "faultmask", "basepri") else "?"
    return Wait(cause, int(cycles), level=level, raised=None if place == "?" else int(place, 16))


def latencies(
    answers: list[Answered], every: int | None, clock: Clock
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]]:
    """The latency of each pend, in cycles and in ns. Two arrays of equal length."""
    cycles, ns = [], []
    for row in answers:
        pended = np.arange(row.first, row.last + 1, every or 1, dtype=np.int64)
        cycles.append(row.taken - pended)
        ns.append(clock.between_ns(pended, np.full_like(pended, row.taken)))
    if not cycles:
        return np.array([], dtype=np.int64), np.array([])
    return np.concatenate(cycles), np.concatenate(ns)


def worst_kinds(answers: list[Answered], most: int) -> list[Answered]:
    """The longest waits, one of each kind, longest first."""
    kinds: dict[tuple[object, ...], Answered] = {}
    for row in sorted(answers, key=lambda answer: (-answer.cycles, answer.first)):
        kinds.setdefault(row.kind, row)
    return list(kinds.values())[:most]


@dataclass(frozen=True)
class Cause:
    """A cause: how many pends waited most for it, and the longest wait among them."""

    cause: str
    raised: Place | None
    pends: int
    worst_cycles: int


def causes(answers: list[Answered], places: Places) -> tuple[Cause, ...]:
    """The causes that pends waited for most, the worst first."""
    groups: dict[tuple[str, int | None], list[Answered]] = {}
    for row in answers:
        groups.setdefault((words(row.main, places), row.main.raised), []).append(row)
    rows = [
        Cause(
            cause,
            None if raised is None else places.raised(raised),
            sum(answer.pends for answer in of_cause),
            max(answer.cycles for answer in of_cause),
        )
        for (cause, raised), of_cause in groups.items()
    ]
    return tuple(sorted(rows, key=lambda row: (-row.worst_cycles, row.cause)))


@dataclass(frozen=True)
class Held:
    """A part of a wait in words, and where the mask was set; None where that is not known."""

    cause: str
    cycles: int
    exception: int | None
    raised: Place | None

    def __str__(self) -> str:
        return f"{self.cause}, set at {self.raised}" if self.raised else self.cause

    @classmethod
    def of(cls, wait: Wait, places: Places) -> Held:
        """A wait, with its place."""
        raised = None if wait.raised is None else places.raised(wait.raised)
        return cls(words(wait, places), wait.cycles, wait.exception, raised)


def words(wait: Wait, places: Places) -> str:
    """The wait in words, without its place."""
    if wait.cause == "exception" and wait.exception is not None:
        return f"handler of {places.exception(wait.exception)}"
    if wait.cause == "basepri":
        return f"BASEPRI {wait.level:#04x}"
    return {
        "primask": "PRIMASK",
        "faultmask": "FAULTMASK",
        "disabled": "the line was disabled in the NVIC",
        "flash": "flash busy",
        "instruction": "instruction in progress",
        ENTRY: ENTRY_ALONE,
    }[wait.cause]


def lost(answers: Answers) -> dict[str, int]:
    """Pends that were not taken, by outcome."""
    rows = answers.rows.filter(pl.col("outcome") != "taken")
    return {
        str(name): int(rows.filter(outcome=name)["pends"].sum()) for name in rows["outcome"].unique().sort()
    }
