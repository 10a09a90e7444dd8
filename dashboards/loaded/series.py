"""A run beside others: the name that tells it apart, and its looks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from base.run_folder.manifest import Manifest
from dashboards.formatting import samplerate
from dashboards.loaded.palette import Style, assign_styles
from dashboards.loaded.runs import LoadedRun

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


def by_scenario(runs: Sequence[LoadedRun]) -> dict[str, list[Series]]:
    """The runs by scenario; scenarios and runs in alphabetical order.

    Runs of the same name in several scenarios are one entry of the picker, and look alike.
    """
    groups: dict[str, list[LoadedRun]] = {}
    for run in sorted(runs, key=lambda run: (run.manifest.scenario, run.manifest.configuration, run.id)):
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


def _names(runs: Sequence[LoadedRun]) -> list[tuple[str, str]]:
    """Each run's configuration; if that is not unique, with the board; else with what differs.

    What differs are the options of the run; only where they are the same too, its id. Beside it
    the verdict of a run that is not complete, which is no part of its identity.
    """
    plain = [_short(run.manifest.configuration) for run in runs]
    boards = [_short(f"{run.manifest.configuration} on {run.manifest.board}") for run in runs]
    longer = [_short(_with(run.manifest.configuration, _apart(run, runs))) for run in runs]
    ids = [f"{name} {run.id}" for name, run in zip(plain, runs, strict=True)]
    counts = Counter(plain) + Counter(boards) + Counter(longer)
    counts.subtract(name for name, option in zip(plain, longer, strict=True) if name == option)
    return [
        (next((name for name in names if counts[name] == 1), id_), verdict_suffix(run))
        for run, id_, *names in zip(runs, ids, plain, boards, longer, strict=True)
    ]


def _short(name: str) -> str:
    """The name as far as a table and a legend have room for it."""
    return name if len(name) <= MOST_CHARACTERS else f"{name[: MOST_CHARACTERS - 1]}…"


def _apart(run: LoadedRun, runs: Sequence[LoadedRun]) -> list[str]:
    """`desk`, `seed 2`, `24 MS/s`: the options in which runs of the same configuration differ."""
    alike = [
        _options(one.manifest) for one in runs if one.manifest.configuration == run.manifest.configuration
    ]
    return [
        _spoken(name, value)
        for name, value in _options(run.manifest).items()
        if len({told.get(name) for told in alike}) > 1
    ]


def _options(manifest: Manifest) -> dict[str, str]:
    """What `./lab scenario` was asked for, beside the allocator and its configuration."""
    told = {
        "board": manifest.board,
        "seed": manifest.seed,
        **manifest.parameters,
        "stimulus": manifest.stimulus.mode,
        "period": manifest.stimulus.period_ticks,
        "samplerate": manifest.samplerate_hz,
        "records": manifest.records,
    }
    return {name: str(value) for name, value in told.items()}


def _with(configuration: str, apart: Sequence[str]) -> str:
    return f"{configuration} ({', '.join(apart)})" if apart else configuration


def _spoken(name: str, value: str) -> str:
    """An option as a reader says it; of some the value says what it is of."""
    if name == "samplerate":
        return samplerate(int(value))
    return value if name in ("board", "stimulus") else f"{name} {value}"


def verdict_suffix(run: LoadedRun) -> str:
    """` (truncated)` or ` (inconclusive)`; empty for a complete run."""
    return "" if run.manifest.complete else f" ({run.manifest.verdict})"
