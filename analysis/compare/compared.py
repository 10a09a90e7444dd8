"""Two runs beside each other: settings, operations, worst cases, distributions.

See docs/how-to/compare.md.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Literal

import polars as pl
from polars.testing import assert_frame_equal

from analysis.compare import operations as by_operation
from analysis.compare import pairing as of_run
from analysis.compare import settings
from analysis.compare.operations import COLUMNS, Operations
from analysis.compare.pairing import Pair, Pairing, Run, SideRuns, find, pair
from analysis.compare.settings import Change
from analysis.compare.values import Ranges, of_worst_cases
from analysis.compare.worst import Distribution, Worst, allowed, distributions, worst_cases
from base.files.errors import TailscopeError
from base.run_folder.quantities import QUANTITIES

Status = Literal["equal", "not worse", "worse", "cannot say"]
Way = Literal["exact", "budgets"]


@dataclass(frozen=True, eq=False)
class Compared:
    """Two runs, A and B, and what came of comparing them.

    `way` is `exact` where both are of the virtual board, captured at one samplerate: then each
    difference counts. Otherwise differences up to the error budgets mean nothing. `operations` is
    None where the runs did not run the same operations. `placements` is empty unless the images of
    both were linked several times.
    """

    pair: Pair
    a: Run
    b: Run
    way: Way
    settings: tuple[Change, ...]
    operations: Operations | None
    worst: tuple[Worst, ...]
    distributions: tuple[Distribution, ...]
    placements: tuple[Ranges, ...]

    @cached_property
    def doubts(self) -> tuple[str, ...]:
        """Sentences on why nothing can be said of B against A; empty where something can."""
        return tuple(
            sentence
            for run in (self.a, self.b)
            for sentence in (_not_complete(run), run.contradiction)
            if sentence
        ) + tuple(
            f"{worst.words}: a run does not tell how wrong it may be; ./lab redecode it."
            for worst in self.worst
            if worst.finding == "not told" and worst.budget is None
        )

    @cached_property
    def same(self) -> bool:
        """True if the tables of both runs are the same in all that both tell."""
        return all(
            _equal(ours, theirs)
            for ours, theirs in (
                (self.a.operations, self.b.operations),
                (self.a.interrupts, self.b.interrupts),
            )
        )

    @cached_property
    def notes(self) -> tuple[str, ...]:
        """Sentences on what must be known beside the figures."""
        return tuple(_notes(self))

    @property
    def status(self) -> Status:
        if any(worst.finding == "worse" for worst in self.worst) and not self._unbelieved:
            return "worse"
        if self.doubts or all(worst.finding == "not told" for worst in self.worst):
            return "cannot say"
        return "equal" if self._equal else "not worse"

    @property
    def _unbelieved(self) -> bool:
        """True if one of the runs may not be believed at all."""
        return any(_not_complete(run) or run.contradiction for run in (self.a, self.b))

    @property
    def _equal(self) -> bool:
        if self.operations is None:
            return False
        if self.way == "exact":
            return self.same
        return not (
            self.operations.changed
            or any(worst.finding not in ("equal", "within the budgets") for worst in self.worst)
            or any(distribution.beyond for distribution in self.distributions)
        )


def compare_pair(pair: Pair) -> Compared:
    """Reads and compares two runs. Raises TailscopeError where a table of one cannot be read."""
    a, b = of_run.read(pair.a), of_run.read(pair.b)
    exact = a.manifest.exact and b.manifest.exact and a.manifest.samplerate_hz == b.manifest.samplerate_hz
    same = of_run.same_operations(a, b)
    worst = worst_cases(a, b, exact, by_operation.join(a, b) if same else None)
    return Compared(
        pair=pair,
        a=a,
        b=b,
        way="exact" if exact else "budgets",
        settings=settings.changes(a.manifest, b.manifest),
        operations=by_operation.compare(a, b, {} if exact else _allowed(a, b)) if same else None,
        worst=worst,
        distributions=distributions(a, b, exact),
        placements=of_worst_cases(worst, a.ranges, b.ranges),
    )


def _allowed(a: Run, b: Run) -> dict[str, float]:
    """The difference that the budgets allow, by column that is compared by operation.

    The whole operation on the wire is a width as the critical section is; it has no budget of its
    own, so it gets that of the quantity on the wire with the largest.
    """
    by_column: dict[str, float] = {}
    for quantity in QUANTITIES:
        if quantity.table == "operations" and (budget := allowed(a, b, quantity)) is not None:
            by_column[quantity.column] = max(budget, by_column.get(quantity.column, 0.0))
    by_column["wire_operation_ns"] = by_column.get("wire_critical_ns", 0.0)
    return {column.name: by_column.get(column.name, 0.0) for column in COLUMNS}


def _not_complete(run: Run) -> str | None:
    manifest = run.manifest
    if manifest.complete:
        return None
    return " ".join([f"{run.stored.folder}: is {manifest.verdict}.", *manifest.reasons])


def _equal(ours: pl.DataFrame, theirs: pl.DataFrame) -> bool:
    names = [name for name in ours.columns if name in theirs.columns and _both_tell(ours[name], theirs[name])]
    try:
        assert_frame_equal(ours.select(names), theirs.select(names), check_exact=True)
    except AssertionError:
        return False
    return True


def _both_tell(ours: pl.Series, theirs: pl.Series) -> bool:
    return ours.count() > 0 and theirs.count() > 0


def _notes(compared: Compared) -> Iterator[str]:
    a, b = compared.a.manifest, compared.b.manifest
    if compared.operations is None:
        yield (
            "The runs did not run the same operations, so no operation has its like in the other run: worst "
            "cases and distributions are compared, and no single operation."
        )
    if compared.way == "budgets" and a.exact and b.exact:
        yield "The runs were sampled at different rates, so the wire is compared within the error budgets."
    yield from (ranges.sentence() for ranges in compared.placements if ranges.smaller)
    yield from (_hidden(distribution) for distribution in compared.distributions if distribution.hidden)
    for worst in compared.worst:
        if worst.a is None or worst.b is None:
            run = "A" if worst.a is None else "B"
            yield f"Not compared, since run {run} has no sample of it: {worst.words}."
    if (
        compared.operations
        and compared.status != "equal"
        and all(change.tool for change in compared.settings)
    ):
        yield _nothing_changed(compared.way)


def _hidden(distribution: Distribution) -> str:
    return (
        f"{distribution.quantity.words}: the difference lies within what {distribution.undecided:,} "
        "undecided interrupts may do, of which the wire does not tell what they hit."
    )


def _nothing_changed(way: Way) -> str:
    """The sentence on two runs that differ although the same code ran on the same settings."""
    same = "Firmware, operations and settings are the same"
    if way == "exact":
        return (
            f"{same}, and a virtual board repeats itself: so the virtual board is another one, or what "
            "counts and decodes."
        )
    return f"{same}: so the board or the bench differs, or chance does; `./lab twin` looks for a cause."


@dataclass(frozen=True, eq=False)
class Comparison:
    """What came out. `unreadable` are sentences on runs that should have been compared."""

    a: SideRuns
    b: SideRuns
    pairing: Pairing
    compared: tuple[Compared, ...]
    unreadable: tuple[str, ...]

    @property
    def left_out(self) -> tuple[str, ...]:
        """Sentences on runs that are no matter here."""
        return tuple(dict.fromkeys((*self.a.left_out, *self.b.left_out)))

    @property
    def status(self) -> Status:
        """The worst of all pairs. A run that could not be read leaves nothing equal."""
        statuses = {comparison.status for comparison in self.compared}
        if "worse" in statuses:
            return "worse"
        if "cannot say" in statuses or self.unreadable or not statuses:
            return "cannot say"
        return "not worse" if "not worse" in statuses else "equal"


def compare(a: Path, b: Path, tell: Callable[[str], None] = lambda _: None) -> Comparison:
    """Compares the runs of two folders.

    `tell` hears what is going on. Raises TailscopeError where a side holds no run. A run that
    cannot be read in a folder of runs raises nothing: `unreadable` tells of it.
    """
    ours, theirs = find(a), find(b)
    pairing = pair(ours, theirs)
    compared: list[Compared] = []
    unreadable = [*ours.broken, *theirs.broken]
    for number, match in enumerate(pairing.pairs, 1):
        manifest = match.b.manifest
        tell(f"{number} of {len(pairing.pairs)}: {manifest.scenario}, {manifest.configuration}")
        try:
            compared.append(compare_pair(match))
        except TailscopeError as error:
            if match.by == "given":
                raise
            unreadable.append(str(error))
    return Comparison(ours, theirs, pairing, tuple(compared), tuple(dict.fromkeys(unreadable)))
