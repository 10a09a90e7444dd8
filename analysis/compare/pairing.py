"""Which run of one side belongs to which of the other."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from analysis.compare.found import SideRuns, Stored
from base.run_folder.alike import Options, latest

PairedBy = Literal["given", "options", "scenario"]
Side = Literal["a", "b"]


@dataclass(frozen=True)
class Pair:
    """Two runs to compare, and what made them a pair."""

    a: Stored
    b: Stored
    by: PairedBy


@dataclass(frozen=True)
class Pairing:
    """`older` counts the runs of each side that a later one with the same options stands for."""

    pairs: tuple[Pair, ...]
    only_a: tuple[Stored, ...]
    only_b: tuple[Stored, ...]
    older: dict[Side, int]


def pair(a: SideRuns, b: SideRuns) -> Pairing:
    """Pairs the runs of two sides.

    Two runs that the user named belong together. Otherwise it takes equal options; of what is left,
    the only run of a scenario on either side belongs to the only one on the other.
    """
    if a.single and b.single:
        return Pairing((Pair(a.runs[0], b.runs[0], "given"),), (), (), {"a": 0, "b": 0})
    ours, theirs = _latest(a), _latest(b)
    pairs = [Pair(run, theirs[options], "options") for options, run in ours.items() if options in theirs]
    left_a = [run for options, run in ours.items() if options not in theirs]
    left_b = [run for options, run in theirs.items() if options not in ours]
    loose = list(_only_ones(left_a, left_b))
    taken = {one.folder for found in loose for one in (found.a, found.b)}
    return Pairing(
        (*pairs, *loose),
        tuple(run for run in left_a if run.folder not in taken),
        tuple(run for run in left_b if run.folder not in taken),
        {"a": len(a.runs) - len(ours), "b": len(b.runs) - len(theirs)},
    )


def _latest(side: SideRuns) -> dict[Options, Stored]:
    runs = latest(side.runs, lambda run: Options.of(run.manifest), lambda run: run.name)
    return {Options.of(run.manifest): run for run in runs}


def _only_ones(left_a: Sequence[Stored], left_b: Sequence[Stored]) -> Iterable[Pair]:
    for run in left_a:
        scenario = run.manifest.scenario
        ours = [one for one in left_a if one.manifest.scenario == scenario]
        theirs = [one for one in left_b if one.manifest.scenario == scenario]
        if len(ours) == len(theirs) == 1:
            yield Pair(run, theirs[0], "scenario")
