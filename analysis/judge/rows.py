"""What is held to limits and baselines: of each function, or of a run, the longest of each kind."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from base.microseconds import microseconds

FROM = "from"
"""The setting that says from when on figures count."""
Unit = Literal["cycles", "ns"]


@dataclass(frozen=True)
class Row:
    """The longest of a kind in a function, in cycles; `ns` is the longest time of any of them.

    Of a run `function` is empty, and `unit` names the only one in which it is measured. `place` is
    where it was, in words. `open` says that it had not ended when the run did: it lasts at least so
    long. It is measured to `step_cycles`: where an interrupt was pended at each tenth cycle only,
    the longest may be up to nine cycles longer. `why_not` says why nobody can tell how long it can
    be: then it lasts at least so long, too. A limit is not broken within `budget`, the error of the
    instruments in the row's unit; None where nobody can tell that. A limit holds what is
    `named_only` if it names just that: a priority that no interrupt has.
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
    unit: Unit | None = None
    budget: float | None = 0.0

    @property
    def name(self) -> str:
        """`update_table: primask`."""
        return f"{self.function}: {self.kind}" if self.function else self.kind

    @property
    def length(self) -> str:
        """`at least 1,001 cycles (62.56 µs)`."""
        time = microseconds(self.ns)
        cycles = f"{self.cycles:,} cycles"
        words = {"ns": time, "cycles": cycles}.get(self.unit or "", f"{cycles} ({time})")
        return f"at least {words}" if self.open or self.why_not else words


@dataclass(frozen=True)
class Words:
    """How a command tells of its rows: of a row in `{}`, of one that is there no more, of none."""

    longest: str = "The longest is {}"
    before: str = "It took {:,} cycles in the baseline"
    gone: str = "was not seen now"
    none: str = "was seen"


@dataclass(frozen=True)
class Subject:
    """What a command measured in a program, and the settings that must be equal to be compared.

    `rows` has one of each function and kind, the longest first. `together` are what several of them
    make one after another: limits hold them, and no baseline, since what follows on what is often
    chance. `refusal` is the sentence why this is not all of it, and `polls` one on a program that
    waits for what never comes; empty if there is none. `priority_bits` are those of the chip.
    `wrong` has the name of each that refutes what was said of it, and a sentence; that fails,
    whatever it is held to. `made_by` names the tools whose versions may change cycles.
    """

    command: str
    name: str
    settings: Mapping[str, str]
    rows: tuple[Row, ...] = ()
    together: tuple[Row, ...] = ()
    refusal: str = ""
    polls: str = ""
    priority_bits: int = 4
    wrong: tuple[tuple[str, str], ...] = ()
    words: Words = field(default=Words())
    made_by: Mapping[str, str] = field(default_factory=dict)


def longest(rows: Iterable[Row]) -> tuple[Row, ...]:
    """Of each function and kind the row with the most cycles, with the longest time of any; one
    without a bound counts as longer.
    """
    longest_of: dict[tuple[str, str], Row] = {}
    for row in rows:
        key = (row.function, row.kind)
        other = longest_of.get(key, row)
        is_longer = (bool(row.why_not), row.cycles) > (bool(other.why_not), other.cycles)
        longest_of[key] = replace(row if is_longer else other, ns=max(row.ns, other.ns))
    return tuple(sorted(longest_of.values(), key=lambda row: (-row.cycles, row.function, row.kind)))
