"""The cost of a longest way, and its parts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from analysis.bounds.caches import Kept
from analysis.bounds.flow import Body, Node, Solved
from analysis.bounds.graph import Instruction
from analysis.bounds.state import Masks


@dataclass(frozen=True)
class Price:
    """The most cycles of a way, and the path that takes them; or why no bound is known."""

    cycles: int = 0
    path: tuple[Step | Walk | Into | Again, ...] = field(default=(), compare=False)
    why_not: frozenset[str] = frozenset()

    def and_then(self, other: Price) -> Price:
        """The two ways, one behind the other."""
        return Price(self.cycles + other.cycles, (*self.path, *other.path), self.why_not | other.why_not)


NOTHING = Price()


class Step(NamedTuple):
    """Cycles of a path outside its blocks: an instruction by itself, the way to and from a call, or
    what it takes to come to the instruction.

    `passes` is 0 for a way, whose instruction is passed elsewhere.
    """

    body: Body
    code: Instruction
    cycles: int
    passes: int

    def price(self) -> Price:
        return Price(self.cycles, (self,))


class Walk(NamedTuple):
    """A path through blocks of one function, as longest.Trace has it, that takes so many cycles."""

    part: Part
    trace: tuple[Any, ...]
    cycles: int


class Into(NamedTuple):
    """A path through what the instruction `code` of a function calls."""

    body: Body
    code: Instruction
    entry: int
    price: Price

    def priced(self) -> Price:
        return Price(self.price.cycles, (self,), self.price.why_not)


class Again(NamedTuple):
    """A path that is gone so often."""

    price: Price
    times: int

    def priced(self) -> Price:
        return Price(self.times * self.price.cycles, (self,), self.price.why_not)


@dataclass
class Part:
    """The blocks of a function in which a mask is set, with the ways between them."""

    solved: Solved
    cached: Kept
    timed: Solved
    """What holds in all laps: its cycles are those of each."""
    successors: dict[Node, list[tuple[Node, int]]] = field(default_factory=dict)
    cost: dict[Node, int] = field(default_factory=dict)
    calls: dict[tuple[Node, Node], Price] = field(default_factory=dict)
    why_not: dict[Node, set[str]] = field(default_factory=dict)


def most(prices: dict[Any, Price], key: Any, price: Price) -> None:
    if key not in prices or dearer(price, prices[key]):
        prices[key] = price


def least(prices: dict[Any, Price], other: Mapping[Any, Price], more: Price) -> None:
    for key, price in prices.items():
        if key in other:
            prices[key] = min(price, other[key].and_then(more), key=dearness)


def dearness(price: Price) -> tuple[bool, int]:
    return bool(price.why_not), price.cycles


def dearer(price: Price, other: Price) -> bool:
    return dearness(price) > dearness(other)


# The ways of a function while something is held off: from where, to where, at what price.


class Mark(NamedTuple):
    """Where a mask is set or cleared: the instruction, and the call of the function that holds it,
    if that comes back with the mask as it left it; else 0.
    """

    address: int
    call: int = 0

    def called_from(self, call: int) -> Mark:
        return self if self.call else Mark(self.address, call)


@dataclass(frozen=True)
class Section:
    """From where interrupts are held off to where they are not, in the function `owner`.

    `end` is None if the function returns with the mask set and nothing calls it.
    """

    kind: str
    level: int
    owner: str
    begin: Mark
    end: Mark | None
    price: Price


@dataclass
class Segments:
    """The ways of a function under masks of one kind."""

    through: dict[Masks, Price] = field(default_factory=dict)
    heads: dict[Mark, Price] = field(default_factory=dict)
    tails: dict[tuple[Mark, Masks], Price] = field(default_factory=dict)
    sections: dict[tuple[Mark, Mark | None], tuple[int, Price]] = field(default_factory=dict)
    """Each with its level."""

    def limit(self, other: Segments, more: Price) -> None:
        """Keeps the less of each way and the same of `other`, which costs so much more."""
        for mine, theirs in (
            (self.through, other.through),
            (self.heads, other.heads),
            (self.tails, other.tails),
        ):
            least(mine, theirs, more)
        for key, (level, price) in self.sections.items():
            if key in other.sections:
                limited = other.sections[key][1].and_then(more)
                self.sections[key] = (level, min(price, limited, key=dearness))


@dataclass(frozen=True)
class Source:
    node: Node
    begin: Mark | None
    """None for the function's entry."""
    before: Price


@dataclass(frozen=True)
class Sink:
    node: Node
    end: Mark | None
    """None for the function's return."""
    masks: Masks
    after: Price
