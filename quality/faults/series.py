"""A series: many single faults, each planted, decoded, judged and summed up in memory."""

from __future__ import annotations

import multiprocessing
import traceback
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from typing import Any, Literal, get_args

from analysis import outcomes
from base.files.errors import TailscopeError, near_miss
from base.run_folder.manifest import Manifest, Verdict
from capture.acquisition.source import Taken
from capture.store import judge
from capture.summary.summary import summarise_run
from quality.faults.headlines import Change, changes
from quality.faults.planting import PAIR, Fault, FaultError, Healthy

Fate = Literal["detected", "harmless", "undetected_changed", "crashed"]
FATES: tuple[Fate, ...] = get_args(Fate)


@dataclass(frozen=True)
class Outcome:
    """The outcome of one planted fault.

    `planted` says in words what was done to the run named `run`. `verdict` and `reasons` are what
    the bench made of it; None where the run was refused or the judge crashed. `changes` are the
    headlines that changed by more than their budget. `error` is the traceback of a crash.
    """

    fault: Fault
    run: str
    planted: str
    fate: Fate
    verdict: Verdict | None = None
    reasons: tuple[str, ...] = ()
    changes: tuple[Change, ...] = ()
    error: str | None = None

    @property
    def sound(self) -> bool:
        """True if the bench said nothing wrong, and did not crash."""
        return self.fate in ("detected", "harmless")

    def as_json(self) -> dict[str, Any]:
        """All of it, in plain values."""
        return {**asdict(self), "fault": str(self.fault), "kind": self.fault.kind}


@dataclass(frozen=True)
class Report:
    """The outcomes of a series over the runs with these names, in the order of their faults."""

    seed: int
    runs: tuple[str, ...]
    outcomes: tuple[Outcome, ...]

    @property
    def sound(self) -> bool:
        """True if nothing passed undetected, and nothing crashed."""
        return all(outcome.sound for outcome in self.outcomes)

    @property
    def total(self) -> dict[str, int]:
        """The number of planted faults, and of each fate."""
        return _counts(self.outcomes)

    @property
    def by_kind(self) -> dict[str, dict[str, int]]:
        """The same for each kind, in the order of the series."""
        kinds = dict.fromkeys(outcome.fault.kind for outcome in self.outcomes)
        return {kind: _counts(o for o in self.outcomes if o.fault.kind == kind) for kind in kinds}

    def says(self) -> str:
        """The outcome in a sentence."""
        total = self.total
        return (
            f"Of {total['planted']:,} faults planted in complete runs (seed {self.seed}), the verdict found "
            f"{total['detected']:,}; {total['harmless']:,} changed no headline, "
            f"{total['undetected_changed']:,} passed with a changed one, and {total['crashed']:,} crashed it."
        )

    def of(self, fate: Fate) -> list[Outcome]:
        """The outcomes with this fate."""
        return [outcome for outcome in self.outcomes if outcome.fate == fate]

    def as_json(self) -> dict[str, Any]:
        """The document that `./lab dev faults --json` prints."""
        return {
            **outcomes.heading("faults", self.sound, self.says()),
            "seed": self.seed,
            "runs": list(self.runs),
            **self.total,
            "by_kind": self.by_kind,
            "undetected": [outcome.as_json() for outcome in self.of("undetected_changed")],
            "crashes": [outcome.as_json() for outcome in self.of("crashed")],
        }


def _counts(outcomes: Iterable[Outcome]) -> dict[str, int]:
    fates = Counter(outcome.fate for outcome in outcomes)
    return {"planted": fates.total(), **{fate: fates[fate] for fate in FATES}}


def run(
    runs: Sequence[Healthy],
    n: int,
    seed: int,
    jobs: int = 1,
    tell: Callable[[int], None] = lambda _: None,
    pairs: int = 0,
) -> Report:
    """Plants `n` single faults in `runs`: each kind as often as the next, and each run in its turn.
    Then it plants `pairs` double ones.

    `jobs` is how many processes share the work; the report does not depend on it. `tell` hears how
    many faults are done.
    """
    faults = [*_faults(runs, n), *(Fault(PAIR, number) for number in range(pairs))]
    outcomes = []
    for outcome in _outcomes(runs, faults, seed, jobs):
        outcomes.append(outcome)
        tell(len(outcomes))
    return Report(seed, tuple(run.name for run in runs), tuple(outcomes))


def replay(runs: Sequence[Healthy], fault: Fault, seed: int) -> Outcome:
    """Plants one fault of a series over the same runs again. Raises
    FaultError for no such kind.
    """
    kinds = [*kinds_of(runs), PAIR]
    if fault.kind not in kinds:
        raise FaultError(
            f"No fault of kind {fault.kind} can be planted in these runs.{near_miss(fault.kind, kinds)}"
        )
    return _outcome(runs, fault, seed)


def kinds_of(runs: Sequence[Healthy]) -> list[str]:
    """The kinds that can be planted in one of the runs or more."""
    return list(dict.fromkeys(kind for run in runs for kind in run.kinds))


def _faults(runs: Sequence[Healthy], n: int) -> list[Fault]:
    kinds = kinds_of(runs)
    return sorted(
        (Fault(kinds[number % len(kinds)], number // len(kinds)) for number in range(n)),
        key=lambda fault: kinds.index(fault.kind),
    )


def _outcomes(runs: Sequence[Healthy], faults: list[Fault], seed: int, jobs: int) -> Iterator[Outcome]:
    if jobs == 1:
        yield from (_outcome(runs, fault, seed) for fault in faults)
        return
    # A fork of a process in which polars has threads hangs.
    spawn = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(jobs, spawn, _Worker.begin, (tuple(runs), seed)) as pool:
        yield from pool.map(_Worker.outcome, faults, chunksize=4)


class _Worker:
    """The state that a process of the pool keeps from one fault to the next."""

    runs: tuple[Healthy, ...] = ()
    seed = 0

    @classmethod
    def begin(cls, runs: tuple[Healthy, ...], seed: int) -> None:
        cls.runs, cls.seed = runs, seed

    @classmethod
    def outcome(cls, fault: Fault) -> Outcome:
        return _outcome(cls.runs, fault, cls.seed)


def _outcome(runs: Sequence[Healthy], fault: Fault, seed: int) -> Outcome:
    able = [run for run in runs if fault.kind == PAIR or fault.kind in run.kinds]
    run = able[fault.number % len(able)]
    stored, words = fault.plant(run, seed)
    try:
        manifest = _judged(stored)
    except Exception:
        # Whatever the judge raises is what the series is there to find.
        return Outcome(fault, run.name, words, "crashed", error=traceback.format_exc())
    if isinstance(manifest, TailscopeError):
        return Outcome(fault, run.name, words, "detected", reasons=(str(manifest),))
    changed = changes(run.manifest, manifest)
    fate: Fate = "detected" if not manifest.complete else "undetected_changed" if changed else "harmless"
    return Outcome(fault, run.name, words, fate, manifest.verdict, tuple(manifest.reasons), changed)


def _judged(stored: Taken) -> Manifest | TailscopeError:
    """run.json of a run; or the sentence of a run that is refused, and so has no numbers."""
    try:
        return summarise_run(*judge(*stored))
    except TailscopeError as error:
        return error
