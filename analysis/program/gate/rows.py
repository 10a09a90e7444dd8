"""What a gate holds: of each function, the longest of each kind."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

FROM = "from"
"""The setting that says from when on figures count."""


@dataclass(frozen=True)
class Row:
    """The longest of a kind in a function, in cycles; `ns` is the longest time of any of them.

    `open` says that it had not ended when the run did: it lasts at least so long. `place` is where
    it was, in words. It is known to `step_cycles`: where an interrupt was pended at each tenth
    cycle only, the longest may be up to nine cycles longer. `why_not` says why nobody knows how
    long it can be: then it lasts at least so long, too. Empty if that is known. A limit holds what
    is `named_only` if it names just that: a priority that no interrupt has.
    """

    function: str
    kind: str
    cycles: int
    ns: float
    place: str
    open: bool = False
    step_cycles: int = 1
    why_not: str = ""
    named_only: bool = False

    @property
    def name(self) -> str:
        """`update_table: primask`."""
        return f"{self.function}: {self.kind}"


@dataclass(frozen=True)
class Words:
    """How a command tells of its rows: of one in `{}`, of one that is there no more, of none."""

    longest: str = "The longest is {}"
    before: str = "It took {:,} cycles in the baseline"
    gone: str = "was not seen now"
    none: str = "was seen"


@dataclass(frozen=True)
class Measured:
    """What a command found in a program, and the settings that it must have equal to be compared.

    `kinds` are the words that a limit may name. `rows` has one of each function and kind, the
    longest first. `together` are what several of them make one after another: limits hold them, and
    no baseline, since what follows on what is often chance. `refusal` is the sentence why this is
    not all of it, and `polls` one on a program that waits for what never comes; empty if there is
    none. `priority_bits` are those of the chip. `wrong` has the name of each that refutes what was
    said of it, and a sentence; that fails, whatever it is held to.
    """

    command: str
    program: str
    settings: Mapping[str, str]
    kinds: tuple[str, ...]
    rows: tuple[Row, ...] = field(default=())
    together: tuple[Row, ...] = field(default=())
    refusal: str = ""
    polls: str = ""
    priority_bits: int = 4
    wrong: tuple[tuple[str, str], ...] = field(default=())
    words: Words = field(default=Words())


def longest(rows: Iterable[Row]) -> tuple[Row, ...]:
    """Of each function and kind the row with the most cycles, with the longest time of any; one of
    which that is not known counts as longer.
    """
    longest_of: dict[tuple[str, str], Row] = {}
    for row in rows:
        key = (row.function, row.kind)
        other = longest_of.get(key, row)
        is_longer = (bool(row.why_not), row.cycles) > (bool(other.why_not), other.cycles)
        longest_of[key] = replace(row if is_longer else other, ns=max(row.ns, other.ns))
    return tuple(sorted(longest_of.values(), key=lambda row: (-row.cycles, row.function, row.kind)))
