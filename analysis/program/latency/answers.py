"""The answers of the pends: what they waited for, and the worst."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from analysis.program.clock import Clock
from analysis.program.places import Place, Places
from simulator.latency import Answer

ENTRY = "entry"
ENTRY_ALONE = "entry alone"
_WORDS = {
    "primask": "PRIMASK",
    "faultmask": "FAULTMASK",
    "disabled": "the line was disabled in the NVIC",
    "flash": "flash busy",
    "instruction": "instruction in progress",
    ENTRY: ENTRY_ALONE,
}


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

    @classmethod
    def of(cls, text: str) -> Wait:
        """That of `primask 0x08000198:104`, `basepri 0x50 0x080005dc:13`, `exception 15:200`."""
        words, _, cycles = text.rpartition(":")
        cause, *more = words.split(" ")
        if cause == "exception":
            return cls(cause, int(cycles), exception=int(more[0]))
        level = int(more[0], 16) if cause == "basepri" else None
        place = more[-1] if cause in ("primask", "faultmask", "basepri") else "?"
        return cls(cause, int(cycles), level=level, raised=None if place == "?" else int(place, 16))


@dataclass(frozen=True)
class Answered:
    """Neighbouring pends, all taken in the same cycle; the first of them waited longest."""

    answer: Answer
    waits: tuple[Wait, ...]

    @property
    def first(self) -> int:
        """The cycle in which the first was pended."""
        return self.answer.first_pended

    @property
    def cycles(self) -> int:
        """How long the first waited."""
        return self.answer.taken - self.first

    def ns(self, clock: Clock) -> float:
        """The same by the clocks of the run."""
        return clock.between_ns(self.first, self.answer.taken)

    @property
    def main(self) -> Wait:
        """The longest part of the wait, its own entry aside."""
        others = [wait for wait in self.waits if wait.cause != ENTRY]
        return max(others or self.waits, key=lambda wait: wait.cycles)

    @property
    def kind(self) -> tuple[object, ...]:
        """Equal for waits of one origin: the same causes in the same order, at the same places."""
        held = tuple((w.cause, w.exception, w.raised) for w in self.waits if w.cause != "instruction")
        return (*held, self.answer.exception if len(held) == 1 else 0)


def answered(answers: Iterable[Answer]) -> list[Answered]:
    """Those that were taken."""
    taken = (answer for answer in answers if answer.outcome == "taken")
    nothing = (Wait(ENTRY, 0),)
    return [
        Answered(answer, tuple(map(Wait.of, filter(None, (answer.waits or "").split(";")))) or nothing)
        for answer in taken
    ]


def worst_kinds(answers: Iterable[Answered], most: int) -> list[Answered]:
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


def causes(answers: Sequence[Answered], places: Places) -> tuple[Cause, ...]:
    """The causes that pends waited for most, the worst first."""
    groups: dict[tuple[str, int | None], list[Answered]] = {}
    for row in answers:
        groups.setdefault((words(row.main, places), row.main.raised), []).append(row)
    rows = (
        Cause(
            cause,
            None if raised is None else places.raised(raised),
            sum(row.answer.pends for row in of_cause),
            max(row.cycles for row in of_cause),
        )
        for (cause, raised), of_cause in groups.items()
    )
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
    if wait.exception is not None:
        return f"handler of {places.exception(wait.exception)}"
    return _WORDS.get(wait.cause) or f"BASEPRI {wait.level:#04x}"
