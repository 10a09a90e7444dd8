"""What judging comes to: checks of a subject, its judgement, and the report of all subjects."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from analysis.judge.rows import Row

if TYPE_CHECKING:
    from analysis.compare.settings import Change
    from analysis.compare.values import Ranges

State = Literal["as good", "better", "worse", "cannot say", "not judged"]
"""`cannot say` is a failure to judge what was asked; `not judged` is none."""
Cycles = int | Literal["open", "none"]
"""The cycles of a row in a baseline; open where it had not ended, none where it had no bound."""

MARKS: Mapping[State, str] = {
    "worse": "✗",
    "cannot say": "?",
    "better": "+",
    "as good": "✓",
    "not judged": "·",
}


def exit_status(states: Iterable[State]) -> int:
    """0 as good, 1 worse, 2 cannot say; worse counts before the last."""
    states = set(states)
    return 1 if "worse" in states else 2 if "cannot say" in states else 0


@dataclass(frozen=True)
class Check:
    """A limit, a row of a program's baseline, or a quantity of a run.

    `named` are rows or operations, the first of `changed`. `finding` is what of it was seen
    (docs/how-to/ci.md), empty if the state says all. `held_to` is the limit as given.
    `before` is what the baseline has of a row, and `now` is the row; None where nothing of it was
    seen.
    """

    name: str
    state: State
    sentence: str
    named: tuple[str, ...] = ()
    changed: int = 0
    finding: str = ""
    held_to: str = ""
    before: Cycles | None = None
    now: Row | None = None

    @property
    def more(self) -> list[str]:
        """The lines below its sentence."""
        rest = self.changed - len(self.named) if self.named else 0
        return [*self.named, *([f"and {rest:,} more"] if rest > 0 else [])]


@dataclass(frozen=True)
class Judgement:
    """All checks of a program, of a run, or of runs of equal settings, which are repetitions.

    `refusal` is the sentence why it cannot be said; empty if it can. `changes` are what the sources
    or tools decided otherwise than in the baseline. `placements` has the baseline's range and the
    run's of each worst case, where both were placed. `rows` are all that was measured of a program.
    """

    name: str
    checks: tuple[Check, ...] = ()
    refusal: str = ""
    folders: tuple[str, ...] = ()
    changes: tuple[Change, ...] = ()
    notes: tuple[str, ...] = ()
    placements: tuple[Ranges, ...] = ()
    rows: tuple[Row, ...] = ()

    @property
    def state(self) -> State:
        """The whole of it in one word."""
        states: list[State] = [check.state for check in self.checks]
        if self.refusal:
            states.append("cannot say")
        status = exit_status(states)
        if status:
            return "worse" if status == 1 else "cannot say"
        return "better" if "better" in states else "as good"


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
        return exit_status(subject.state for subject in self.subjects) if self.subjects else 2

    @property
    def verdict(self) -> str:
        """One line: the whole of it, and how many of what."""
        findings = [check.finding or check.state for check in self.checks]
        counts = _counts(findings)
        if len(self.subjects) > 1:
            counts = f"Runs: {_counts([subject.state for subject in self.subjects])}"
        return f"{self._words} {counts}." if counts else self._words

    @property
    def _words(self) -> str:
        worse = [check for check in self.checks if check.state == "worse"]
        if any(check.finding == "refuted" for check in worse):
            return "A run took longer than a bound."
        if worse:
            only_limits = all(check.finding == "above" for check in worse)
            return "Above a limit." if only_limits else "Worse than the baseline."
        if self.exit_status:
            return "Cannot say."
        if not self.judges:
            return "Not judged."
        return "As good as the baseline." if self.baseline else "Within the limits."


def _counts(words: list[str]) -> str:
    states: list[str] = [*MARKS]
    order = sorted(dict.fromkeys(words), key=lambda word: states.index(word) if word in states else 0)
    return ", ".join(f"{words.count(word):,} {word}" for word in order)
