"""A series: many single faults, each planted in a healthy run, decoded, judged and summed up in
memory. Faults are drawn from a seed and can be named.

Where no run folder is given, healthy runs are made on the virtual board.
"""

from __future__ import annotations

import multiprocessing
import tempfile
import time
import tomllib
import traceback
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property, partial
from itertools import groupby, islice
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np

from analysis import outcomes
from base.files.errors import TailscopeError, near_miss
from base.run_folder.manifest import Manifest, Verdict
from base.tell import Tell
from capture.acquisition.sigrok import Sigrok
from capture.acquisition.source import RunRequest, Taken
from capture.acquisition.stored import read_stored
from capture.conduct import run as conduct
from capture.store import judge
from capture.summary.summary import summarise_run
from firmware.build import boards, fit
from firmware.build import image as firmware
from quality.faults import records, wire
from quality.faults.headlines import Change, changes
from scenarios import catalogue
from simulator import build as simulator

Planted = tuple[Taken, str]


class FaultError(TailscopeError):
    """Faults cannot be planted as was asked; the message says why."""


@dataclass(frozen=True)
class Healthy:
    """A run whose verdict is complete: what a fault is compared with.

    `name` is what a report calls it. `manifest` is what its run.json says.
    """

    name: str
    stored: Taken
    manifest: Manifest

    @cached_property
    def kinds(self) -> Mapping[str, Callable[[np.random.Generator], Planted]]:
        """The kinds of faults that can be planted in it, by name."""
        kinds = records.kinds(self.stored.seen.serial_bytes)
        return self._kinds_on_wire | {name: partial(self._in_records, kind) for name, kind in kinds}

    @property
    def _kinds_on_wire(self) -> dict[str, Callable[[np.random.Generator], Planted]]:
        return {name: partial(self._on_wire, kind) for name, kind in wire.kinds(self.stored.seen.edges)}

    def pair(self, random: np.random.Generator) -> Planted:
        """The run with two faults in it, and where and how large each is.

        One is of any kind, the other of the wire: damaged records name no kinds.
        """
        first, first_words = self.kinds[str(random.choice(list(self.kinds)))](random)
        kinds = replace(self, stored=first)._kinds_on_wire
        second, words = kinds[str(random.choice(list(kinds)))](random)
        return second, f"{first_words}; {words}"

    def _on_wire(self, kind: wire.Kind, random: np.random.Generator) -> Planted:
        edges, words = kind(self.stored.seen.edges, random)
        return self.stored._replace(seen=replace(self.stored.seen, edges=edges)), words

    def _in_records(self, kind: records.Kind, random: np.random.Generator) -> Planted:
        serial_bytes, words = kind(self.stored.seen.serial_bytes, random)
        seen = replace(self.stored.seen, serial_bytes=serial_bytes)
        return self.stored._replace(seen=seen), words


def healthy(name: str, stored: Taken) -> Healthy:
    """Judges a run. Raises FaultError where it is not complete."""
    manifest = summarise_run(*judge(*stored))
    if not manifest.complete:
        raise FaultError(
            f"{name} is {manifest.verdict} before any fault is planted ({' '.join(manifest.reasons)}); "
            "give runs that are complete."
        )
    return Healthy(name, stored, manifest)


def read_healthy(folder: Path) -> Healthy:
    """Reads and judges the run in `folder`.

    Raises TailscopeError where a file is missing or damaged, and FaultError where the run is not
    complete.
    """
    return healthy(folder.resolve().name, read_stored(folder))


PAIR = "pair"
"""The kind of a double fault: one of any kind, and one of the wire."""


@dataclass(frozen=True, order=True)
class Fault:
    """A fault by its name: the `number`-th of its kind. Seed and runs tell the rest."""

    kind: str
    number: int

    def __str__(self) -> str:
        return f"{self.kind}:{self.number}"

    @classmethod
    def named(cls, word: str) -> Fault:
        """Reads KIND:NUMBER. Raises FaultError."""
        kind, separator, number = word.rpartition(":")
        if not separator or not (number.isascii() and number.isdigit()):
            raise FaultError(f"--replay {word}: give KIND:NUMBER, such as shifted_edge.STIM:3.")
        return cls(kind, int(number))

    def plant(self, run: Healthy, seed: int) -> Planted:
        """The run with this fault in it, and where and how
        large it is. Equal calls give equal faults.
        """
        random = np.random.default_rng((seed, zlib.crc32(self.kind.encode()), self.number))
        return run.pair(random) if self.kind == PAIR else run.kinds[self.kind](random)


_AT_LEAST_S = 2.0


@dataclass(frozen=True)
class Recipe:
    """A run of `scenario`, small, since a fault costs as much time as the run has edges."""

    scenario: str
    samplerate_hz: int
    parameters: Mapping[str, str | int] = field(default_factory=dict)
    stimulus: str | None = None
    records: str = "uart"
    allocator: str = "seglist"
    heap_bytes: int | None = None
    locking: str | None = None
    board: str = boards.DEFAULT
    bench_board: str = "virtual"

    def __str__(self) -> str:
        words = [f"{self.scenario} on {self.allocator} at {self.samplerate_hz // 1_000_000} MS/s"]
        words += [f"lock {self.locking}"] if self.locking else []
        words += [f"stimulus {self.stimulus}"] if self.stimulus else []
        words += [] if self.board == boards.DEFAULT else [self.board]
        words += ["records by RTT"] if self.records == "rtt" else []
        return ", ".join(words)


_ROWS = tomllib.loads(Path(__file__).with_name("recipes.toml").read_text(encoding="utf-8"))["recipe"]
RECIPES = tuple(Recipe(**row) for row in _ROWS)


def make(runs: Path, progress: Callable[[str], None] = lambda _: None) -> list[Healthy]:
    """Makes the run of each recipe in the folder `runs`, in order.

    Raises TailscopeError where a run cannot be made, and FaultError where one is not complete.
    """
    simulator.build()
    made = []
    for recipe in RECIPES:
        progress(f"making a run: {recipe}")
        image_of = partial(firmware.build, recipe.allocator, locking=recipe.locking, board=recipe.board)
        plan = catalogue.load(
            recipe.scenario, recipe.parameters, stimulus=recipe.stimulus, heap_bytes=recipe.heap_bytes
        ).compile(fit.place(boards.board(recipe.board)))
        request = RunRequest(
            plan,
            image_of(extras=plan.extras, heap_bytes=recipe.heap_bytes),
            recipe.bench_board,
            recipe.samplerate_hz,
            runs=runs,
            # A debugger reads more slowly than the serial line sends.
            duration_s=_AT_LEAST_S if recipe.records == "rtt" else None,
            records=recipe.records,
        )
        made.append(replace(read_healthy(conduct(Sigrok(request)).folder), name=str(recipe)))
    return made


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


def run_series(
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
    kinds = kinds_of(runs)
    faults = [Fault(kinds[number % len(kinds)], number // len(kinds)) for number in range(n)]
    faults.sort(key=lambda fault: kinds.index(fault.kind))
    faults += (Fault(PAIR, number) for number in range(pairs))
    outcomes = []
    made: Iterator[Outcome]
    with ExitStack() as opened:
        if jobs == 1:
            made = (_outcome(runs, fault, seed) for fault in faults)
        else:
            # A fork of a process in which polars has threads hangs.
            spawn = multiprocessing.get_context("spawn")
            pool = ProcessPoolExecutor(jobs, spawn, _Worker.begin, (tuple(runs), seed))
            made = opened.enter_context(pool).map(_Worker.outcome, faults, chunksize=4)
        for outcome in made:
            outcomes.append(outcome)
            tell(len(outcomes))
    return Report(seed, tuple(run.name for run in runs), tuple(outcomes))


def replay_fault(runs: Sequence[Healthy], fault: Fault, seed: int) -> Outcome:
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
        manifest = summarise_run(*judge(*stored))
    except TailscopeError as error:
        # A run that is refused has no numbers.
        return Outcome(fault, run.name, words, "detected", reasons=(str(error),))
    except Exception:
        # Whatever the judge raises is what the series is there to find.
        return Outcome(fault, run.name, words, "crashed", error=traceback.format_exc())
    changed = changes(run.manifest, manifest)
    fate: Fate = "detected" if not manifest.complete else "undetected_changed" if changed else "harmless"
    return Outcome(fault, run.name, words, fate, manifest.verdict, tuple(manifest.reasons), changed)


# A word on progress now and then is enough.
_TELL_EVERY = 10


def run(
    folders: Sequence[Path], n: int, pairs: int, seed: int, jobs: int, tell: Tell = lambda _: None
) -> Report:
    """A series over the runs in `folders`; without any, over small ones that are made for it.
    `tell` hears what is under way. Raises TailscopeError.
    """
    with _runs(folders, tell) as runs:
        began_s = time.monotonic()

        def told(done: int) -> None:
            if done % _TELL_EVERY == 0:
                left_s = (time.monotonic() - began_s) / done * (n + pairs - done)
                tell(f"{done:,} of {n + pairs:,} faults planted, about {left_s:,.0f} s left")

        return run_series(runs, n, seed, jobs, told, pairs)


def replay(folders: Sequence[Path], name: str, seed: int, tell: Tell = lambda _: None) -> Outcome:
    """One fault of such a series again, by its name KIND:NUMBER. Raises FaultError."""
    fault = Fault.named(name)
    with _runs(folders, tell) as runs:
        return replay_fault(runs, fault, seed)


@contextmanager
def _runs(folders: Sequence[Path], tell: Tell) -> Iterator[list[Healthy]]:
    if folders:
        yield [read_healthy(folder) for folder in folders]
        return
    with tempfile.TemporaryDirectory(prefix="tailscope-faults-") as made:
        yield make(Path(made), tell)


_SHOWN_OF_A_KIND = 2


def as_text(report: Report | Outcome) -> str:
    """A series as its table by kind, and the first of each kind that passed or crashed in full; or
    one outcome in full.
    """
    if isinstance(report, Outcome):
        return _in_full(report)
    counts = {**report.by_kind, "total": report.total}
    wide = max(map(len, counts))
    heads = [fate.replace("_", " ") for fate in ("planted", *FATES)]
    lines = [" ".join([" " * wide, *heads])]
    for kind, row in counts.items():
        cells = (f"{n:{len(head)},}" for head, n in zip(heads, row.values(), strict=True))
        lines.append(" ".join([f"{kind:{wide}}", *cells]))
    unsound = [outcome for outcome in report.outcomes if not outcome.sound]
    for _, of_kind in groupby(unsound, key=lambda outcome: outcome.fault.kind):
        lines += [f"\n{_in_full(outcome)}" for outcome in islice(of_kind, _SHOWN_OF_A_KIND)]
    return "\n".join(lines)


def _in_full(outcome: Outcome) -> str:
    lines = [f"{outcome.fault} in {outcome.run}: {outcome.planted}", f"fate: {outcome.fate}"]
    if outcome.verdict:
        lines.append(f"verdict: {outcome.verdict}")
    lines += [f"reason: {reason}" for reason in outcome.reasons]
    lines += [f"changed: {change}" for change in outcome.changes]
    lines += [outcome.error] if outcome.error else []
    return "\n".join(lines)
