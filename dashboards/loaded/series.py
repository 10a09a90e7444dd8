"""A run beside others: the name that tells it apart, its looks, and whom its lock holds off."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import NamedTuple

from analysis.compare.boards import board_of
from base.run_folder.manifest import Manifest
from dashboards.caveats import CONTROL, LOCKS
from dashboards.formatting import samplerate, spoken
from dashboards.loaded.runs import LoadedRun

INK = "var(--ink)"
MUTED = "var(--muted)"
GRID = "var(--rule)"
PAPER = "var(--paper)"

SHADES = tuple(f"var(--palette-{place})" for place in range(8))
"""Also for what is no run, such as two parts of a bar."""

MEANT_DASH, MEANT_DOT = "6px,4px", "2px,3px"
"""Dashes of lines that mean something by them, other than whose they are."""

_DASHES = ("solid", "dash", "dot", "dashdot", "longdash", "longdashdot")
_SYMBOLS = ("circle", "square", "diamond", "triangle-up", "cross", "x", "star")

# The bench was made to compare these two, so they come first and keep their looks.
_FIRST = ("seglist", "tlsf")


class Style(NamedTuple):
    """`entry` is the run's place in the picker, from 0."""

    entry: int

    @property
    def colour(self) -> str:
        return SHADES[self.entry % len(SHADES)]

    @property
    def dash(self) -> str:
        return _DASHES[self.entry % len(_DASHES)]

    @property
    def symbol(self) -> str:
        return _SYMBOLS[self.entry % len(_SYMBOLS)]


def assign_styles(names: Iterable[str]) -> dict[str, Style]:
    """A style for each name: seglist and TLSF first, the others in alphabetical order."""
    ordered = sorted(set(names), key=lambda name: (name not in _FIRST, name))
    return {name: Style(entry) for entry, name in enumerate(ordered)}


MOST_CHARACTERS = 120
"""Of a name. run.json has the whole of it, and so has the run's own page."""


@dataclass(frozen=True)
class Series:
    """`name` is plain text and unique in its scenario. It has the verdict in it unless complete."""

    run: LoadedRun
    name: str
    style: Style

    @property
    def label(self) -> str:
        """The name for Plotly, whose texts are a subset of HTML."""
        return escape(self.name, quote=False)


Members = Sequence[Series]
"""The runs that a figure, a table or a page shows beside each other."""


def by_scenario(runs: Sequence[LoadedRun]) -> dict[str, list[Series]]:
    """The runs by scenario, in the order of a reader's questions; runs in alphabetical order.

    Runs of the same name in several scenarios are one entry of the picker, and look alike.
    """
    groups: dict[str, list[LoadedRun]] = {}
    for run in sorted(runs, key=_place):
        groups.setdefault(run.manifest.scenario, []).append(run)
    named = {scenario: _names(group) for scenario, group in groups.items()}
    styles = assign_styles(name for names in named.values() for name, _ in names)
    return {
        scenario: [
            Series(run, name + doubt, styles[name])
            for run, (name, doubt) in zip(group, named[scenario], strict=True)
        ]
        for scenario, group in groups.items()
    }


_QUESTIONS = ("mem_frag", "mem_stress", "worst", "sizes", "latency_sweep", "kernel_masking", "two_tasks")
"""How bad can it get, how bad is it in use, on purpose, by size, by phase, beside the kernel."""


def _place(run: LoadedRun) -> tuple[object, ...]:
    scenario = run.manifest.scenario
    asked_first = _QUESTIONS.index(scenario) if scenario in _QUESTIONS else len(_QUESTIONS)
    return asked_first, scenario, run.configuration, run.id


def _names(runs: Sequence[LoadedRun]) -> list[tuple[str, str]]:
    """Each run's configuration, with the options in which it differs from others of the same; only
    where they are the same too, with its id. Beside it the verdict of a run that is not complete,
    which is no part of its identity.
    """
    options: dict[str, list[dict[str, str]]] = {}
    for run in runs:
        options.setdefault(run.configuration, []).append(_options(run.manifest))
    names = []
    for run in runs:
        name = run.configuration
        own = _options(run.manifest)
        words = [_spoken(option, own[option]) for option in apart(own, options[name])]
        names.append(_short(f"{name} ({', '.join(words)})" if words else name))
    counts = Counter(names)
    return [
        (name if counts[name] == 1 else f"{name} {run.id}", verdict_suffix(run))
        for run, name in zip(runs, names, strict=True)
    ]


def apart(options: Mapping[str, str], among: Sequence[Mapping[str, str]]) -> list[str]:
    """The names of the options that are not the same `among` several."""
    return [name for name in options if len({other.get(name) for other in among}) > 1]


def _short(name: str) -> str:
    """The name as far as a table and a legend have room for it."""
    return name if len(name) <= MOST_CHARACTERS else f"{name[: MOST_CHARACTERS - 1]}…"


def _options(manifest: Manifest) -> dict[str, str]:
    """The options of `./lab scenario`, beside the allocator and its configuration."""
    options = {
        "board": manifest.board,
        "seed": manifest.seed,
        **manifest.parameters,
        "stimulus": manifest.stimulus.mode,
        "period": manifest.stimulus.period_ticks,
        "samplerate": manifest.samplerate_hz,
        "records": manifest.records,
    }
    return {name: str(value) for name, value in options.items()}


def _spoken(name: str, value: str) -> str:
    """An option as a reader says it, such as `desk`, `seed 2`, `24 MS/s`; of some the value says
    what it is of.
    """
    if name == "samplerate":
        return samplerate(int(value))
    if value == "None":
        return f"no {name}"
    return value if name in ("board", "stimulus") else f"{name} {value}"


def verdict_suffix(run: LoadedRun) -> str:
    """` (truncated)` or ` (inconclusive)`; empty for a complete run."""
    return "" if run.manifest.complete else f" ({run.manifest.verdict})"


def counter_of(manifest: Manifest) -> str:
    """What counted the cycles of a run: DWT, or a timer where the core has none."""
    return board.counter if (board := board_of(manifest)) else "DWT"


def spares_interrupts(series: Series) -> bool:
    """True if the lock holds off tasks only."""
    return series.run.manifest.locking == "scheduler"


def caveats(series: Members) -> str:
    """A sentence for each lock among `series` other than the usual mask in BASEPRI."""
    sentences = []
    for locking, sentence in LOCKS.items():
        names = [spoken(member.name) for member in series if member.run.manifest.locking == locking]
        if names:
            whose = " and ".join(names) if len(names) < 3 else f"{len(names)} of these {len(series)} runs"
            sentences.append(sentence.format(names=whose))
    return " ".join(sentences)


def about_control(series: Members) -> str:
    """What the control interrupt shows; empty where none of the runs had one."""
    return CONTROL if any(member.run.manifest.stimulus.control_period_ticks for member in series) else ""
