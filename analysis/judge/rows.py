"""What is held to limits and baselines: of each function, or of a run, the longest of each kind."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal

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
    def named(self) -> str:
        """Its name, and where it was."""
        return f"{self.name}, {self.place}" if self.place else self.name

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


if TYPE_CHECKING:
    from analysis.compare.settings import Change

State = Literal["as good", "better", "worse", "cannot say", "not judged"]
"""`cannot say` is a failure to judge what was asked; `not judged` is none."""
Cycles = int | Literal["open", "none"]
"""The cycles of a row in a baseline; open where it had not ended, none where it had no bound."""

NAMED = 10
"""So many rows or operations of a check are named."""
MARKS: Mapping[State, str] = {
    "worse": "✗",
    "cannot say": "?",
    "better": "+",
    "as good": "✓",
    "not judged": "·",
}
"""The gravest first; what is not judged counts for nothing."""


@dataclass(frozen=True)
class Check:
    """A limit, a row of a program's baseline, or a quantity of a run.

    `named` are rows or operations. `finding` is what of it was seen
    (docs/how-to/ci.md), empty if the state says all. `held_to` is the limit as given.
    `before` is what the baseline has of a row, and `now` is the row; None where nothing of it was
    seen.
    """

    name: str
    state: State
    sentence: str
    named: tuple[str, ...] = ()
    finding: str = ""
    held_to: str = ""
    before: Cycles | None = None
    now: Row | None = None

    @property
    def more(self) -> list[str]:
        """The lines below its sentence."""
        rest = len(self.named) - NAMED
        return [*self.named[:NAMED], *([f"and {rest:,} more"] if rest > 0 else [])]


@dataclass(frozen=True)
class Judgement:
    """All checks of a program, of a run, or of runs of equal settings, which are repetitions.

    `refusal` is the sentence why it cannot be said; empty if it can. `changes` are what the sources
    or tools decided otherwise than in the baseline. `rows` are all that was measured of a program.
    """

    name: str
    checks: tuple[Check, ...] = ()
    refusal: str = ""
    folders: tuple[str, ...] = ()
    changes: tuple[Change, ...] = ()
    notes: tuple[str, ...] = ()
    rows: tuple[Row, ...] = ()

    @property
    def state(self) -> State:
        """The whole of it in one word."""
        of_refusal = "cannot say" if self.refusal else "as good"
        states = {*(check.state for check in self.checks), of_refusal}
        return next(state for state in MARKS if state in states)


@dataclass(frozen=True)
class Report:
    """All subjects. `baseline` is its path; None without one. `notes` are of no single subject."""

    command: str
    baseline: str | None
    subjects: tuple[Judgement, ...]
    notes: tuple[str, ...] = ()

    @property
    def checks(self) -> list[Check]:
        """Those of all subjects."""
        return [check for subject in self.subjects for check in subject.checks]

    @property
    def judges(self) -> bool:
        """Whether anything was held to something."""
        return bool(self.checks) or self.baseline is not None

    @property
    def exit_status(self) -> int:
        """0 as good, 1 worse, 2 cannot say, also of nothing; worse counts before the last."""
        states = [subject.state for subject in self.subjects] or ["cannot say"]
        return 1 if "worse" in states else 2 if "cannot say" in states else 0

    @property
    def verdict(self) -> str:
        """One line: the whole of it, and how many of what."""
        words = [check.finding or check.state for check in self.checks]
        if len(self.subjects) > 1:
            words = [subject.state for subject in self.subjects]
        counts = ", ".join(f"{count:,} {word}" for word, count in sorted(Counter(words).items()))
        return f"{self._words} {counts}." if counts else self._words

    @property
    def _words(self) -> str:
        worse = {check.finding for check in self.checks if check.state == "worse"}
        if "refuted" in worse:
            return "A run took longer than a bound."
        if worse:
            return "Above a limit." if worse == {"above"} else "Worse than the baseline."
        if self.exit_status:
            return "Cannot say."
        if not self.judges:
            return "Not judged."
        return "As good as the baseline." if self.baseline else "Within the limits."
