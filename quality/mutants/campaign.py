"""A campaign: mutants are drawn and tried, and those that nobody noticed are told."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from base.paths import ROOT
from quality.mutants import harmless, trial
from quality.mutants.drawing import Mutant, drawn
from quality.mutants.trial import MutantError

# The code that turns edges and records into numbers and a verdict; and whose tests must notice.
_MUTATED = (
    "capture/reading",
    "capture/instruments",
    "capture/joining",
    "capture/verdict",
    "capture/summary",
    "base/metrology",
)
_FILES = ("base/run_folder/extract.py",)
_TESTED = (*_MUTATED, "base/run_folder", "capture/tests")


@dataclass(frozen=True)
class Outcome:
    """What became of a mutant: killed, survived, or harmless. `why` of a harmless one."""

    mutant: Mutant
    fate: str
    why: str | None = None

    def as_json(self) -> dict[str, Any]:
        """All but the code of the whole file."""
        told = {key: value for key, value in asdict(self.mutant).items() if key != "code"}
        return {**told, "fate": self.fate, "why": self.why}


@dataclass(frozen=True)
class Report:
    """The outcomes, in the order in which the mutants were drawn."""

    seed: int
    outcomes: tuple[Outcome, ...]

    @property
    def sound(self) -> bool:
        """Whether every mutant was noticed or is harmless."""
        return not self.survivors

    @property
    def survivors(self) -> list[Outcome]:
        """The mutants that no test noticed, and that nobody called harmless."""
        return [outcome for outcome in self.outcomes if outcome.fate == "survived"]

    @property
    def by_file(self) -> dict[str, dict[str, int]]:
        """How many mutants each file had, and how many met each fate."""
        files = sorted({outcome.mutant.file for outcome in self.outcomes})
        return {file: _counts([o for o in self.outcomes if o.mutant.file == file]) for file in files}

    @property
    def total(self) -> dict[str, int]:
        """The same for all of them."""
        return _counts(self.outcomes)

    def as_json(self) -> dict[str, Any]:
        """What `./lab mutants --json` prints."""
        return {
            "seed": self.seed,
            **self.total,
            "by_file": self.by_file,
            "survivors": [outcome.as_json() for outcome in self.survivors],
        }


def _counts(outcomes: Sequence[Outcome]) -> dict[str, int]:
    fates = Counter(outcome.fate for outcome in outcomes)
    return {"mutants": len(outcomes), **{fate: fates[fate] for fate in ("killed", "harmless", "survived")}}


def files() -> list[str]:
    """The files that are mutated where none is named."""
    found = [path for room in _MUTATED for path in sorted((ROOT / room).glob("*.py"))]
    return [*(str(path.relative_to(ROOT)) for path in found if path.name != "__init__.py"), *_FILES]


def run(
    named: Sequence[str], n: int, seed: int, jobs: int, tell: Callable[[int], None] = lambda _: None
) -> Report:
    """Draws `n` mutants of the files `named`, or of files(), and tries each.

    Raises MutantError for numbers that make no sense, a file that is not there, and tests that fail
    without a mutant.
    """
    for option, number in (("n", n), ("jobs", jobs)):
        if number < 1:
            raise MutantError(f"--{option} {number}: give 1 or more.")
    known = harmless.read()
    every = files()
    for file in named:
        if file not in every:
            raise MutantError(f"{file} is not mutated here: name files such as {every[0]}.")
    chosen = drawn(ROOT, named or every, n, seed)
    fates = trial.fates(ROOT, _TESTED, chosen, jobs, tell)
    return Report(seed, tuple(_outcome(*pair, known) for pair in zip(chosen, fates, strict=True)))


def _outcome(mutant: Mutant, fate: str, known: Sequence[harmless.Entry]) -> Outcome:
    why = harmless.reason(mutant, known) if fate == "survived" else None
    return Outcome(mutant, "harmless" if why else fate, why)
