"""A series: many faults, each planted in a healthy run, decoded, judged and summed up in memory.
Faults are drawn from a seed and can be named.

Where no run folder is given, healthy runs are made on the virtual board.
"""

from __future__ import annotations

import tempfile
import tomllib
import traceback
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property, partial
from itertools import groupby, islice
from pathlib import Path
from typing import Any, Literal, NamedTuple, get_args

import numpy as np

from base.files.errors import TailscopeError, near_miss
from base.run_folder.manifest import Manifest, Verdict
from base.tell import Tell
from base.text_table import TextTable, printed
from capture.acquisition.sigrok import Sigrok
from capture.acquisition.source import RunRequest, Taken
from capture.acquisition.stored import read_stored
from capture.conduct import judge
from capture.conduct import run as conduct
from capture.summary.summary import summarise_run
from firmware.build import boards, fit
from firmware.build import image as firmware
from quality.faults import records, wire
from quality.faults.headlines import Change, changes
from quality.faults.wire import Random
from scenarios import catalogue

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
    def kinds(self) -> Mapping[str, Callable[[Random], Planted]]:
        """The kinds of faults that can be planted in it, by name."""
        seen = self.stored.seen
        return {
            name: partial(self._planted, part, kind)
            for part, kinds in (
                ("edges", wire.kinds(seen.edges)),
                ("serial_bytes", records.kinds(seen.serial_bytes)),
            )
            for name, kind in kinds
        }

    def pair(self, random: Random) -> Planted:
        """The run with two faults in it: one of any kind, the other of the wire, as damaged records
        name no kinds.
        """
        first, first_words = self.kinds[str(random.choice([*self.kinds]))](random)
        kinds = [kind for _, kind in wire.kinds(first.seen.edges)]
        kind = kinds[random.integers(len(kinds))]
        second, words = replace(self, stored=first)._planted("edges", kind, random)
        return second, f"{first_words}; {words}"

    def _planted(self, part: str, kind: Callable[[Any, Random], tuple[Any, str]], random: Random) -> Planted:
        seen = self.stored.seen
        damaged, words = kind(getattr(seen, part), random)
        return self.stored._replace(seen=replace(seen, **{part: damaged})), words


def healthy(name: str, stored: Taken) -> Healthy:
    """Judges a run. Raises FaultError where it is not complete."""
    manifest = summarise_run(*judge(*stored))
    if not manifest.complete:
        raise FaultError(
            f"{name} is {manifest.verdict} before any fault is planted ({' '.join(manifest.reasons)}); "
            "give runs that are complete."
        )
    return Healthy(name, stored, manifest)


PAIR = "pair"
"""The kind of a double fault: one of any kind, and one of the wire."""


class Fault(NamedTuple):
    """A fault by its name: the `number`-th of its kind. Seed and runs tell the rest."""

    kind: str
    number: int

    def __str__(self) -> str:
        return f"{self.kind}:{self.number}"

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

    name: str
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


_ROWS = tomllib.loads(Path(__file__).with_name("recipes.toml").read_text(encoding="utf-8"))["recipe"]
RECIPES = tuple(Recipe(**row) for row in _ROWS)


Fate = Literal["detected", "harmless", "undetected_changed", "crashed"]
FATES: tuple[Fate, ...] = get_args(Fate)
_SHOWN_OF_A_KIND = 2


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
    reasons: Sequence[str] = ()
    changes: Sequence[Change] = ()
    error: str | None = None

    @property
    def sound(self) -> bool:
        """True if the bench said nothing wrong, and did not crash."""
        return self.fate in ("detected", "harmless")

    def as_json(self) -> dict[str, Any]:
        """All of it, in plain values."""
        return {**asdict(self), "fault": str(self.fault), "kind": self.fault.kind}

    def as_text(self) -> str:
        """All of it, a line each."""
        lines = [f"{self.fault} in {self.run}: {self.planted}", f"fate: {self.fate}"]
        lines += [f"verdict: {self.verdict}"] if self.verdict else []
        lines += [f"reason: {reason}" for reason in self.reasons]
        lines += [f"changed: {change}" for change in self.changes]
        lines += [self.error] if self.error else []
        return "\n".join(lines)


@dataclass(frozen=True)
class Report:
    """The outcomes of a series over the runs with these names, in the order of their faults."""

    seed: int
    runs: Sequence[str]
    outcomes: Sequence[Outcome]

    @property
    def sound(self) -> bool:
        """True if nothing passed undetected, and nothing crashed."""
        return all(outcome.sound for outcome in self.outcomes)

    def as_json(self) -> dict[str, Any]:
        """The document that `./lab dev faults --json` prints."""
        total, by_kind = _counts(self.outcomes), _by_kind(self.outcomes)
        says = (
            f"Of {total['planted']:,} faults planted in complete runs (seed {self.seed}), the verdict found "
            f"{total['detected']:,}; {total['harmless']:,} changed no headline, "
            f"{total['undetected_changed']:,} passed with a changed one, and {total['crashed']:,} crashed it."
        )
        of_fate = {fate: [o.as_json() for o in self.outcomes if o.fate == fate] for fate in FATES}
        return {
            "sound": self.sound,
            "says": says,
            "seed": self.seed,
            "runs": self.runs,
            **total,
            "by_kind": by_kind,
            "undetected": of_fate["undetected_changed"],
            "crashes": of_fate["crashed"],
        }

    def as_text(self) -> str:
        """The table by kind, and the first of each kind that passed or crashed in full."""
        counts = {**_by_kind(self.outcomes), "total": _counts(self.outcomes)}
        rows = [[kind, *(f"{number:,}" for number in row.values())] for kind, row in counts.items()]
        heads = ("kind", "planted", *(fate.replace("_", " ") for fate in FATES))
        unsound = [outcome for outcome in self.outcomes if not outcome.sound]
        by_kind = groupby(unsound, key=lambda outcome: outcome.fault.kind)
        shown = [outcome for _, of_kind in by_kind for outcome in islice(of_kind, _SHOWN_OF_A_KIND)]
        table = TextTable("", heads, rows, range(1, len(heads)))
        return printed([table, *(f"\n{outcome.as_text()}" for outcome in shown)])


def _counts(outcomes: Iterable[Outcome]) -> dict[str, int]:
    fates = Counter(outcome.fate for outcome in outcomes)
    return {"planted": fates.total(), **{fate: fates[fate] for fate in FATES}}


def _by_kind(outcomes: Iterable[Outcome]) -> dict[str, dict[str, int]]:
    """The counts of each kind; its outcomes stand together."""
    return {kind: _counts(own) for kind, own in groupby(outcomes, key=lambda outcome: outcome.fault.kind)}


def run_series(
    runs: Sequence[Healthy], n: int, seed: int, tell: Tell = lambda _: None, pairs: int = 0
) -> Report:
    """Plants `n` faults in `runs`: each kind as often as the next, and each run in its turn. Then
    come `pairs` double ones. `tell` hears how many are done.
    """
    kinds = kinds_of(runs)
    faults = [Fault(kinds[number % len(kinds)], number // len(kinds)) for number in range(n)]
    faults.sort(key=lambda fault: kinds.index(fault.kind))
    faults += (Fault(PAIR, number) for number in range(pairs))
    outcomes = []
    for number, fault in enumerate(faults, 1):
        tell(f"{number:,} of {len(faults):,}: {fault}")
        outcomes.append(outcome_of(runs, fault, seed))
    return Report(seed, [run.name for run in runs], outcomes)


def kinds_of(runs: Sequence[Healthy]) -> list[str]:
    """The kinds that can be planted in one of the runs or more."""
    return list(dict.fromkeys(kind for run in runs for kind in run.kinds))


def outcome_of(runs: Sequence[Healthy], fault: Fault, seed: int) -> Outcome:
    """Plants one fault of a series over these runs, and judges what comes of it."""
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
    return Outcome(fault, run.name, words, fate, manifest.verdict, manifest.reasons, changed)


def run(folders: Sequence[Path], n: int, seed: int, tell: Tell = lambda _: None, pairs: int = 0) -> Report:
    """A series over the runs in `folders`; without any, over small ones that are made for it.
    `tell` hears what is under way.

    Raises TailscopeError where a file is missing or damaged, and FaultError where a run is not
    complete.
    """
    with _runs(folders, tell) as runs:
        return run_series(runs, n, seed, tell, pairs)


def replay(folders: Sequence[Path], name: str, seed: int, tell: Tell = lambda _: None) -> Outcome:
    """One fault of such a series again, by its name KIND:NUMBER. Raises FaultError."""
    kind, _, number = name.rpartition(":")
    with _runs(folders, tell) as runs:
        kinds = [*kinds_of(runs), PAIR]
        if kind not in kinds or not (number.isascii() and number.isdigit()):
            raise FaultError(
                f"--replay {name}: give KIND:NUMBER, such as shifted_edge.STIM:3.{near_miss(kind, kinds)}"
            )
        return outcome_of(runs, Fault(kind, int(number)), seed)


@contextmanager
def _runs(folders: Sequence[Path], tell: Tell) -> Iterator[list[Healthy]]:
    if folders:
        yield [healthy(folder.resolve().name, read_stored(folder)) for folder in folders]
        return
    with tempfile.TemporaryDirectory(prefix="tailscope-faults-") as folder:
        made = []
        for recipe in RECIPES:
            tell(f"making a run: {recipe.name}")
            plan = catalogue.load(
                recipe.scenario, recipe.parameters, stimulus=recipe.stimulus, heap_bytes=recipe.heap_bytes
            ).compile(fit.place(boards.board(recipe.board)))
            image = firmware.build(
                recipe.allocator,
                locking=recipe.locking,
                board=recipe.board,
                extras=plan.extras,
                heap_bytes=recipe.heap_bytes,
            )
            request = RunRequest(
                plan,
                image,
                recipe.bench_board,
                recipe.samplerate_hz,
                runs=Path(folder),
                # A debugger reads more slowly than the serial line sends.
                duration_s=_AT_LEAST_S if recipe.records == "rtt" else None,
                records=recipe.records,
            )
            made.append(healthy(recipe.name, read_stored(conduct(Sigrok(request)).folder)))
        yield made
