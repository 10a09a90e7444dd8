"""The ways of a function while something is held off: from where, to where, at what price."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from analysis.bounds.flow import Node
from analysis.bounds.masks import Masks
from analysis.bounds.price import Price, dearness, least


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
