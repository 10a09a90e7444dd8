"""Limits of a kind, or of one function's: `basepri=1200`, `handler:on_tim2=2us`."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from analysis.errors import GateError
from analysis.limits import MOST_SHOWN, NS, by_name
from analysis.program.gate.rows import Row
from base.files.errors import near_miss
from simulator.interrupts import priority_of

ANY = "any"
"""Of all that holds interrupts off, each by itself."""
_APART = ("priority", "scheduler")
"""Kinds that are made of several sections, or hold no interrupt off."""
_LEVELS = ("priority", "basepri")
_NUMBER = re.compile(r"0[xX][0-9a-fA-F]{1,2}|[0-9]{1,3}")
_EXAMPLE = "a number of cycles, or a time such as 2us"
_VALUE = re.compile(r"([0-9]{1,12}(?:\.[0-9]{1,6})?) ?(cycles|ns|us|µs|ms)?")


@dataclass(frozen=True)
class Limit:
    """Nothing of `kind`, in `function` if that is not empty, may be longer than `value`.

    `value` is in ns if `in_ns`, else in cycles; `text` is the limit as it was given.
    """

    name: str
    kind: str
    function: str
    value: float
    in_ns: bool
    text: str

    def holds_for(self, row: Row) -> bool:
        """Whether the limit is one of this row."""
        first = row.kind.partition(" ")[0]
        of_kind = self.kind == first or (self.kind == ANY and first not in _APART)
        named = self.kind == row.kind or (of_kind and not row.named_only)
        return named and self.function in ("", row.function)

    def length(self, row: Row) -> float:
        """The row's length in the limit's unit."""
        return row.ns if self.in_ns else row.cycles

    def most(self, row: Row) -> float:
        """As length(), of what may lie between two pends."""
        unseen = (row.step_cycles - 1) * (row.ns / row.cycles if self.in_ns and row.cycles else 1)
        return self.length(row) + unseen


def parse_words(words: Sequence[str], kinds: Sequence[str]) -> dict[str, str]:
    """The words of `--limit`, checked, by what they limit. Raises GateError."""
    example = f"{kinds[0] if kinds else ANY}=1200"
    return by_name(words, lambda name, text: parse(name, text, kinds), "a kind", example)


def parse_all(limits: Mapping[str, str], kinds: Sequence[str], bits: int = 4) -> list[Limit]:
    """Each limit of these words. Raises GateError."""
    return [parse(name, text, kinds, bits) for name, text in limits.items()]


def parse(name: str, text: str, kinds: Sequence[str], bits: int = 4) -> Limit:
    """The limit of `basepri` and `1200`; of a chip whose priorities have so many bits. Raises
    GateError.
    """
    match = _VALUE.fullmatch(text)
    if match is None:
        raise GateError(f"{text[:MOST_SHOWN]!r} is no limit of {name[:MOST_SHOWN]}: give {_EXAMPLE}.")
    kind, function = _kind(name, kinds)
    first, _, number = kind.partition(" ")
    if first in _LEVELS and _NUMBER.fullmatch(number):
        kind = f"{first} {priority_of(int(number, 16 if number[:2].lower() == '0x' else 10), bits):#04x}"
    in_ns = match[2] in NS
    return Limit(name, kind, function, float(match[1]) * NS.get(match[2], 1.0), in_ns, text)


def _kind(name: str, kinds: Sequence[str]) -> tuple[str, str]:
    """Kind and function of `handler:on_tim2`; a section's own name may have a colon."""
    by_folded = {kind.casefold(): kind for kind in (*kinds, ANY)}
    for word, function in ((name, ""), name.split(":", 1) if ":" in name else (name, "")):
        first = word.partition(" ")[0]
        known = by_folded.get(word.casefold())
        if known or first in by_folded:
            return known or word, function
    words = ", ".join((*kinds, ANY))
    near = near_miss(name.partition(":")[0], (*kinds, ANY))
    raise GateError(f"--limit {name[:MOST_SHOWN]}: there is no such kind; give one of {words}.{near}")
