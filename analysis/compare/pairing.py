"""The runs of each side, and which run of one side belongs to which of the other."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import polars as pl

from analysis.errors import CompareError
from base.files.errors import TailscopeError
from base.metrology.summaries import Summary
from base.run_folder import folder as names
from base.run_folder.alike import began, latest, options_of
from base.run_folder.manifest import Manifest, read_manifest
from base.run_folder.quantities import QUANTITIES, Quantity
from base.run_folder.tables import INTERRUPTS, OPERATIONS, read_interrupts, read_operations

_RUNS = "runs"
_OF_A_RUN = (names.MANIFEST, names.IMAGE, names.EDGE_STREAM, names.EDGES)


@dataclass(frozen=True)
class Stored:
    """A run folder and its run.json. The tables are not read yet."""

    folder: Path
    manifest: Manifest

    @property
    def name(self) -> str:
        """The folder's own name, also where it was given as `.`."""
        return self.folder.resolve().name


@dataclass(frozen=True)
class SideRuns:
    """One side. `single`: the user named a run, not a folder of them.

    `broken` are sentences on runs that cannot be read, `left_out` on those that are no matter here.
    """

    path: Path
    single: bool
    runs: tuple[Stored, ...]
    broken: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()


def find(path: Path) -> SideRuns:
    """Reads run.json of the run in `path`, or of each run directly below it or its runs/.

    Raises TailscopeError where `path` is no folder, holds no run, or is a run that cannot be read.
    """
    if not path.is_dir():
        raise CompareError(f"{path}: is no folder; name a run folder, or a folder of runs.")
    if any((path / name).exists() for name in _OF_A_RUN):
        return SideRuns(path, True, (_read(path),))
    folders = _below(path) or _below(path / _RUNS)
    if not folders:
        raise CompareError(f"{path}: holds no run, nor does its {_RUNS}/; name a folder that does.")
    runs, broken, left_out = list[Stored](), list[str](), list[str]()
    unreadable = dict[Path, str]()
    for folder in folders:
        if names.is_observed(folder):
            left_out.append(f"{folder}: is a run from the wire alone (./lab observe), without operations.")
            continue
        try:
            runs.append(_read(folder))
        except TailscopeError as error:
            unreadable[folder] = str(error)
    for folder, sentence in unreadable.items():
        # A later run of the scenario, allocator and board that the name of the folder tells.
        name, since = names.RunName.of(folder), began(folder.resolve().name)
        if name and any(names.RunName.of(run.folder) == name and began(run.name) > since for run in runs):
            left_out.append(f"{sentence} A later run of the same scenario and allocator is there.")
        else:
            broken.append(sentence)
    return SideRuns(path, False, tuple(runs), tuple(broken), tuple(left_out))


def _below(path: Path) -> list[Path]:
    """The run folders directly below, in order of start."""
    return sorted(
        {file.parent for name in _OF_A_RUN for file in path.glob(f"*/{name}")},
        key=lambda folder: (began(folder.resolve().name), folder),
    )


def _read(folder: Path) -> Stored:
    if not (folder / names.MANIFEST).exists() and not names.is_observed(folder):
        raise CompareError(names.no_manifest(folder))
    return Stored(folder, read_manifest(folder / names.MANIFEST))


PairedBy = Literal["given", "options", "scenario"]


@dataclass(frozen=True)
class Pair:
    """Two runs to compare, and what made them a pair."""

    a: Stored
    b: Stored
    by: PairedBy


@dataclass(frozen=True)
class Pairing:
    """`older` counts the runs that a later one with the same options stands for."""

    pairs: tuple[Pair, ...]
    only_a: tuple[Stored, ...]
    only_b: tuple[Stored, ...]
    older: int


def pair(a: SideRuns, b: SideRuns) -> Pairing:
    """Pairs the runs of two sides.

    Two runs that the user named belong together. Otherwise it takes equal options; of what is left,
    the only run of a scenario and board on either side belongs to the only one on the other. Raises
    CompareError where the user named runs of two boards.
    """
    if a.single and b.single:
        ours, theirs = a.runs[0], b.runs[0]
        boards = [run.manifest.board_folder for run in (ours, theirs)]
        if boards[0] != boards[1]:
            raise CompareError(
                f"A is of {boards[0]} and B of {boards[1]}, and no run is better than one of another board: "
                "set them side by side, in cycles and in µs, with ./lab compare --by board "
                f"{ours.folder} {theirs.folder}."
            )
        return Pairing((Pair(ours, theirs, "given"),), (), (), 0)
    left_a, left_b = by_options(a.runs), by_options(b.runs)
    older = len(a.runs) + len(b.runs) - len(left_a) - len(left_b)
    pairs = [Pair(left_a.pop(key), left_b.pop(key), "options") for key in [*left_a] if key in left_b]
    ours_alone, theirs_alone = _alone(left_a.values()), _alone(left_b.values())
    pairs += [
        Pair(run, theirs_alone[matter], "scenario")
        for matter, run in ours_alone.items()
        if matter in theirs_alone
    ]
    taken = {run.folder for match in pairs for run in (match.a, match.b)}
    only_a, only_b = (
        tuple(run for run in left.values() if run.folder not in taken) for left in (left_a, left_b)
    )
    return Pairing(tuple(pairs), only_a, only_b, older)


def by_options(runs: Iterable[Stored]) -> dict[str, Stored]:
    """Of runs with equal options the one that began last, in order of start."""
    chosen = latest(runs, lambda run: options_of(run.manifest), lambda run: run.name)
    return {options_of(run.manifest): run for run in chosen}


def _alone(runs: Collection[Stored]) -> dict[tuple[str, str], Stored]:
    """Those that are the only one of their scenario and board."""
    matters = [(run.manifest.scenario, run.manifest.board_folder) for run in runs]
    return {matter: run for matter, run in zip(matters, runs, strict=True) if matters.count(matter) == 1}


# A run that is compared: its tables read, its samples and its greatest values at hand.


@dataclass(frozen=True, eq=False)
class Run(Stored):
    """`operations` and `interrupts` have the columns of docs/reference/operations.md."""

    operations: pl.DataFrame
    interrupts: pl.DataFrame

    def samples(self, quantity: Quantity) -> pl.DataFrame:
        """The rows that have the quantity."""
        return quantity.samples(self.operations, self.interrupts)

    def summary(self, quantity: Quantity) -> Summary:
        """The statistics of all samples of the quantity."""
        from base.metrology.quantiles import summarise

        samples = self.samples(quantity)
        return summarise(samples[quantity.column].to_numpy(), quantity.still_open(samples))

    def budget(self, quantity: Quantity) -> float | None:
        """A value is true to plus or minus this, in the quantity's unit; None if nobody knows."""
        budget = self.manifest.error_budget.get(quantity.key)
        return budget.total.of(quantity.unit) if budget else None

    @property
    def contradiction(self) -> str | None:
        """A sentence if the tables are not those that run.json sums up."""
        for quantity in QUANTITIES:
            summary = self.manifest.statistics.get(quantity.key)
            series = self.samples(quantity)[quantity.column]
            if summary is not None and (summary.n, summary.max) != (len(series), series.max()):
                return (
                    f"{self.folder}: run.json and the tables do not tell the same of "
                    f"{quantity.key}; ./lab redecode it."
                )
        return None


def read(stored: Stored) -> Run:
    """Reads the tables of a run; they are empty where a run that is not complete has none.

    Raises RunError.
    """
    folder, complete = stored.folder, stored.manifest.complete
    operations, interrupts = folder / names.OPERATIONS, folder / names.INTERRUPTS
    return Run(
        folder,
        stored.manifest,
        read_operations(operations) if complete or operations.exists() else pl.DataFrame(schema=OPERATIONS),
        read_interrupts(interrupts) if complete or interrupts.exists() else pl.DataFrame(schema=INTERRUPTS),
    )
