"""What the program says of a measurement beside its baseline: the judgement in its document."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator

from tailscope._errors import Error

__tracebackhide__ = True  # pytest shows the line of the test

NONE = "there is no baseline of it: `pytest --tailscope-update` writes one"
_ROWS = ("equal", "longer", "shorter", "new")
"""What is found of a row that was seen; all else is of limits, or has vanished."""


@dataclass(frozen=True)
class Before:
    """What the program says of one figure beside its baseline.

    `cycles` are those of the baseline, None if it has none; `where` is the function, or says why
    there are none. `refusal` is the sentence why it cannot be said.
    """

    cycles: int | None
    where: str
    worse: bool = False
    refusal: str = ""


class Now(BaseModel):
    """What was measured of a row now."""

    function: str | None = None
    kind: str | None = None
    cycles: int = 0
    open: bool = False


class Check(BaseModel):
    """A row of the baseline, or a limit in it. `before` are the cycles of the baseline, None where
    it has none; `named` says what is the matter in more words.
    """

    name: str
    finding: str
    state: str
    sentence: str
    named: tuple[str, ...]
    before: Annotated[int | None, BeforeValidator(lambda cycles: cycles if type(cycles) is int else None)]
    now: Annotated[Now, BeforeValidator(lambda row: row or {})]

    @property
    def sentences(self) -> tuple[str, ...]:
        """What is the matter, in full."""
        return (f"{self.name}: {self.sentence}", *self.named)

    @property
    def of_row(self) -> bool:
        """True of a measured row, false of a limit."""
        return self.finding in _ROWS

    def fails(self, more_cycles: int) -> bool:
        """Whether it is worse, and not only longer by so many cycles: nobody knows how much longer
        one is that has not ended.
        """
        more = self.now.cycles - (self.before or 0)
        excused = self.of_row and not self.now.open and more <= more_cycles
        return self.state == "worse" and not excused


class Judgement:
    """All that the program says of its baseline. After an update there is nothing to say."""

    def __init__(self, document: dict[str, Any]) -> None:
        self._updated = "updated" in document
        self._verdict = document.get("verdict", "")
        (subject,) = document.get("subjects") or [{"checks": [], "refusal": "", "notes": []}]
        self._checks = [Check(**check) for check in subject["checks"]]
        refused = [subject["refusal"]]
        refused += [" ".join(check.sentences) for check in self._checks if check.state == "cannot say"]
        notes = subject["notes"] if any(refused) else ()
        self.refusal = " ".join(filter(None, (*refused, *notes)))
        """Why it cannot be said that the program is as good; empty if it can."""

    def of(self, kind: str | None, function: str | None, cycles: int) -> Before:
        """What it says of a figure of so many cycles; of a kind and function, if they are given."""
        if self._updated:
            return Before(cycles, function or "the same")
        rows = [check for check in self._checks if check.of_row and check.now.kind == kind]
        if not rows:
            return Before(None, "", refusal=self.refusal)
        row = max(rows, key=lambda row: (row.now.cycles == cycles, row.now.function == function))
        worse = row.state == "worse"
        where = row.now.function or "" if row.before is not None else "new" if worse else "had not ended"
        return Before(row.before, where, worse, self.refusal)

    def check(self, more_cycles: int, story: Callable[[Check], list[str]]) -> None:
        """Raises AssertionError, with a story each, if anything is worse by more than so many
        cycles, and Error where that cannot be said.
        """
        failures = [check for check in self._checks if check.fails(more_cycles)]
        lines = [line for each in failures for line in (*each.sentences, *map("    {}".format, story(each)))]
        if lines:
            raise AssertionError("\n".join([self._verdict, *lines]))
        if self.refusal:
            raise Error(self.refusal)


def check(judgement: Judgement | None, more_cycles: int, story: Callable[[Check], list[str]]) -> None:
    """The same; AssertionError if there is no baseline."""
    if judgement is None:
        raise AssertionError(NONE)
    judgement.check(more_cycles, story)


def judgement_of(document: dict[str, Any]) -> Judgement | None:
    """That of a document; None if nothing was judged."""
    judgement = document.get("judgement")
    return None if judgement is None else Judgement(judgement)
