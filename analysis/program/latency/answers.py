"""The answers of the pends: what they waited for, and the worst."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from analysis.program.parts import Hidden
from analysis.program.places import Place, Places
from simulator.latency import Answer

ENTRY = "entry"
_NOTHING = f"{ENTRY}:0"
_MASKS = ("primask", "faultmask", "basepri")
_WORDS = {
    "primask": "PRIMASK",
    "faultmask": "FAULTMASK",
    "disabled": "the line was disabled in the NVIC",
    "flash": "flash busy",
    "instruction": "instruction in progress",
    ENTRY: "entry alone",
}


@dataclass(frozen=True)
class Held:
    """A part of a wait in words: the handler's `exception`, or where the mask was `raised`; None
    where that is not known, or there is none. `kind` is what holds: `basepri 0x50`, `exception`.
    """

    cause: str
    cycles: int
    exception: int | None
    raised: Place | None
    kind: Hidden[str]

    def __str__(self) -> str:
        return f"{self.cause}, set at {self.raised}" if self.raised else self.cause

    @classmethod
    def of(cls, text: str, places: Places) -> Held:
        """That of `primask 0x08000198:104`, `basepri 0x50 0x080005dc:13`, `exception 15:200`."""
        words, _, cycles = text.rpartition(":")
        kind, *more = words.split(" ")
        cause, exception, raised = _WORDS.get(kind, kind), None, None
        if kind == "exception":
            exception = int(more[0])
            cause = f"handler of {places.exception(exception)}"
        elif kind in _MASKS and more[-1] != "?":
            address = int(more[-1], 16)
            raised = replace(places.place(address), lock=places.lock(address))
        if kind == "basepri":
            kind = f"basepri {int(more[0], 16):#04x}"
            cause = kind.replace("basepri", "BASEPRI")
        return cls(cause, int(cycles), exception, raised, kind)


def held(answer: Answer, places: Places) -> tuple[Held, ...]:
    """What the first of the pends waited for, in order."""
    return tuple(Held.of(text, places) for text in (answer.waits or _NOTHING).split(";"))


def main(parts: Sequence[Held]) -> Held:
    """The longest part of a wait, its own entry aside."""
    others = [part for part in parts if part.kind != ENTRY]
    return max(others or parts, key=lambda part: part.cycles)


def worst_kinds(answers: Iterable[Answer], most: int) -> list[Answer]:
    """The longest waits, longest first, one of each kind: of one kind are waits for the same at the
    same places, in the same order.
    """
    kinds: dict[object, Answer] = {}
    for answer in sorted(answers, key=lambda answer: (-answer.cycles, answer.first_pended)):
        parts = re.sub(r":[0-9]+", "", answer.waits or _NOTHING).split(";")
        held = [part for part in parts if part != "instruction"]
        kinds.setdefault((*held, answer.exception if len(held) == 1 else 0), answer)
    return list(kinds.values())[:most]
