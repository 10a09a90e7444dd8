"""Numbers that know what they are of, and how they are held to a limit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NoReturn, Self

from pydantic import BaseModel, ConfigDict, Field

from tailscope._errors import Error

__tracebackhide__ = True  # pytest shows the line of the test

_NS_PER_US = 1000
NOTHING = "there was no such interval"


class Row(BaseModel):
    """A row of a document that the program prints. What it has no field for is left out."""

    model_config = ConfigDict(frozen=True, extra="ignore")


class Place(Row):
    """A place in the code. `file` and `line` are None where the program does not tell them."""

    function: str
    file: str | None
    line: int | None
    address: str

    def __str__(self) -> str:
        return f"{self.function} ({self.file}:{self.line})" if self.file else self.function


class _OfFigure:
    """A number that knows the figure `of` which it is: a failed assertion tells its story."""

    of: Timed
    real: float

    def __new__(cls, value: float, of: Timed) -> Self:
        made = super().__new__(cls, value)  # type: ignore[call-arg]
        made.of = of
        return made

    def __getnewargs__(self) -> tuple[float, Timed]:
        return self.real, self.of


class Cycles(_OfFigure, int):  # type: ignore[misc]
    """A number of cycles."""


class Nanoseconds(_OfFigure, float):  # type: ignore[misc]
    """A time in ns."""


class Timed(Row):
    """The longest of something: `name` is of what."""

    name: str
    plain_ns: float = Field(alias="ns")

    @property
    def where(self) -> str:
        """The place in words."""
        raise NotImplementedError

    @property
    def ns(self) -> Nanoseconds:
        """How long, in nanoseconds."""
        return Nanoseconds(self.plain_ns, self)

    @property
    def length(self) -> str:
        """`62.56 µs`."""
        return f"{self.plain_ns / _NS_PER_US:,.2f} µs"

    def story(self) -> list[str]:
        """Lines for a reader: the length, the place, and what else is known."""
        return [f"{self.name}: {self.length}", *self._details()]

    def check(self, *, at_most_ns: float) -> None:
        """Raises AssertionError, with the story, if it is longer than the limit."""
        if not self.plain_ns <= at_most_ns:
            self._fail(f"{self.plain_ns:,.2f} ns are more than the {at_most_ns:,} allowed")

    def _fail(self, what: str) -> NoReturn:
        raise AssertionError("\n".join([what, *self.story()]))

    def _details(self) -> list[str]:
        return [f"at {self.where}"]

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name}: {self.length}, {self.where}>"


class Figure(Timed):
    """The same in cycles, too. `begin` and `end` are places, `stack` are the calls at its begin,
    the innermost first.
    """

    plain_cycles: int = Field(alias="cycles")
    begin: Place | None = None
    end: Place | None = None
    stack: tuple[Place, ...] = ()

    @property
    def where(self) -> str:
        """The place where it begins, in words."""
        return str(self.begin) if self.begin else NOTHING

    @property
    def cycles(self) -> Cycles:
        """How long, in cycles of the core."""
        return Cycles(self.plain_cycles, self)

    @property
    def seen(self) -> bool:
        """Whether there was any."""
        return self.where != NOTHING

    @property
    def length(self) -> str:
        """`1,001 cycles (62.56 µs)`."""
        return f"{self.plain_cycles:,} cycles ({super().length})"

    def check(self, *, at_most_cycles: int | None = None, at_most_ns: float | None = None) -> None:
        """Raises AssertionError, with the story, if it is longer than a limit."""
        if not self.seen:
            raise Error(f"{self.name}: {self.where}, so it cannot be said that it is within a limit.")
        if at_most_cycles is None and at_most_ns is None:
            raise Error(f"{self.name}: check() needs a limit, at_most_cycles or at_most_ns.")
        if at_most_cycles is not None and not self.plain_cycles <= at_most_cycles:
            self._fail(f"{self.plain_cycles:,} cycles are more than the {at_most_cycles:,} allowed")
        if at_most_ns is not None:
            super().check(at_most_ns=at_most_ns)


def calls(stack: Sequence[Place]) -> list[str]:
    """Lines for the calls of a stack, the innermost first; none if it is empty."""
    return ["call stack, innermost first:", *(f"    {place}" for place in stack)] if stack else []
