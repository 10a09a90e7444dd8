"""The tables of the thesis that can be made again: those of its synthetic traces."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TypeAlias

import numpy as np
import polars as pl

from scenarios.generators.worst import CONSTRUCTIONS
from studies.reproduce import board
from studies.reproduce.board import BoardRun, allocations, frees
from studies.reproduce.crate import Footprints
from studies.reproduce.empty import NOTHING, FixedCost, fixed_cost
from studies.reproduce.heaps import HeapStudy, able
from studies.reproduce.placed import at_placements, figures_at
from studies.reproduce.published import PublishedTable, source
from studies.reproduce.remade import (
    Budget,
    Figures,
    MadeFigure,
    Measure,
    Place,
    Remade,
    Settings,
    over_placements,
    over_seeds,
    present,
    settings,
)

TRACES = {
    "Small": "lifetimes_small",
    "Large": "lifetimes_large",
    "Random": "lifetimes_random",
    "Typical": "lifetimes_typical",
}
HEAP_BYTES = 86_064
_HEAP_COLUMNS = {
    "used": "used_bytes",
    "F %": "fragmentation_percent",
    "SBMM": "sbbm_bytes",
    "Cost Metric": "cost_metric_bytes",
    "used there": "used_there_bytes",
    "F % there": "fragmentation_there_percent",
    "SBMM there": "sbbm_there_bytes",
}
THESIS_KNOBS: Mapping[str, Settings] = {
    "ublox_buddy": settings(REMAINDER_FIRST=1),
    "half_fit_cstm": settings(HDR=8),
    "half_tree": settings(HDR=4),
}
"""The thesis's formats. Which header its first fit and best fit have, it does not say."""
_FORMATS: Mapping[str, Mapping[str, Settings] | None] = {"here": THESIS_KNOBS, "our own format": None}


@dataclass(frozen=True)
class _Timing:
    """A way to time: what the thesis leaves open, and what is subtracted or compared."""

    art: bool = True
    optimization: str = "2"
    net: bool = True
    formats: Mapping[str, Settings] | None = field(default_factory=lambda: THESIS_KNOBS)
    """None: our own formats, of those that the thesis has otherwise."""
    further: bool = False
    """Allocators that the thesis does not have, too."""

    def knobs(self, allocator: str) -> Settings:
        return (self.formats or {}).get(allocator, ())

    def has(self, allocator: str, known: Container[str]) -> bool:
        return (self.further or allocator in known) and (
            self.formats is not None or allocator in THESIS_KNOBS
        )

    def run(self, allocator: str, scenario: str) -> BoardRun:
        return BoardRun(
            *(allocator, scenario, self.art),
            knobs=self.knobs(allocator),
            optimization=self.optimization,
        )

    def runs(self, measure: Measure, budget: Budget, allocator: str, scenario: str) -> list[pl.DataFrame]:
        """The run at each placement."""
        count = budget.placements(_has(allocator))
        return at_placements(measure, self.run(allocator, scenario), count, budget.processes)

    def constructed(
        self, measure: Measure, budget: Budget, allocator: str, target: str, more: Settings = ()
    ) -> list[pl.DataFrame]:
        """The one measured operation of a construction, at each placement; `more` knobs turned."""
        knobs, count = (*self.knobs(allocator), *more), budget.placements(_has(allocator))
        work = construction(allocator, target, knobs, self.art, self.optimization)
        return at_placements(measure, work, count, budget.processes)


def _has(allocator: str) -> bool:
    """True if the thesis has it."""
    return allocator in source("thesis").names.values()


_TIMINGS = {
    "net": _Timing(further=True),
    "net with ART off": _Timing(art=False),
    "net with -Os": _Timing(optimization="s"),
    "whole call": _Timing(net=False),
    "net in our own format": _Timing(formats=None),
}
_JUDGED = ("net", "net with ART off", "net with -Os")
"""The thesis states neither its flash nor its compiler's options."""
_STEP_BYTES = 8
_ONE_POLICY = ("best_fit", "avl")
_GRANULE_BYTES = 48
_REFERENCE = "Buddy"
_SEARCHES = "half_fit_cstm"
_SUMMARISED = {"TLSF (Cont.)": "TLSF"}
"""The name in table 14, where it is another."""


def average_operation(table: PublishedTable, measure: Measure, budget: Budget) -> Remade:
    """thesis-6: half the sum of an allocation's mean and of a free's, on the board."""
    (part,) = table.part
    variants: dict[str, Figures] = {}
    for name, timing in _TIMINGS.items():
        timed = {trace: _timed(measure, budget, scenario, timing) for trace, scenario in TRACES.items()}
        variants[name] = {
            (part.title, row, trace): found["average operation"]
            for trace, rows in timed.items()
            for row, found in rows.items()
        }
    witnesses = _instructions(measure, budget)
    return Remade(variants, _timed_from(measure, budget), _refused(measure, budget), _JUDGED, witnesses)


def performance(table: PublishedTable, measure: Measure, budget: Budget) -> Remade:
    """thesis-b-time: means and maxima of allocations and frees, and the change to Buddy."""
    variants: dict[str, Figures] = {}
    for name, timing in _TIMINGS.items():
        figures: dict[Place, MadeFigure] = {}
        for part in table.part:
            rows = _timed(measure, budget, TRACES[part.title], timing)
            reference = rows[_REFERENCE]["average operation"].value
            for row, found in rows.items():
                found = {**found, "change %": _change(found["average operation"], reference)}
                figures |= {(part.title, row, column): found[column] for column in part.columns}
        variants[name] = figures
    witnesses = _instructions(measure, budget)
    return Remade(variants, _timed_from(measure, budget), _refused(measure, budget), _JUDGED, witnesses)


def _change(average: MadeFigure, reference: float) -> MadeFigure:
    """In percent of the reference's median."""

    def change(value: float) -> float:
        return 100 * (value / reference - 1)

    return replace(
        average,
        value=change(average.value),
        resolution=100 / reference,
        least=None if average.least is None else change(average.least),
        most=None if average.most is None else change(average.most),
    )


def _instructions(measure: Measure, budget: Budget) -> dict[str, MadeFigure]:
    """Those of an average operation's critical section on Small, less an empty one's."""
    scenario = TRACES["Small"]
    empty = fixed_cost(measure, budget, scenario, "instructions", art=True).operation
    witnesses = {}
    for row, allocator in source("thesis").names.items():
        run = measure(_TIMINGS["net"].run(allocator, scenario))
        means = [float(part["instructions"].to_numpy().mean()) for part in (allocations(run), frees(run))]
        witnesses[f"instructions of {row}"] = MadeFigure(sum(means) / 2 - empty, run.height, 1)
    return witnesses


def worst(table: PublishedTable, measure: Measure, budget: Budget) -> Remade:
    """thesis-7: the worst that was found of each, constructed or on a synthetic trace."""
    own, thresholds = table.part
    variants: dict[str, Figures] = {}
    for name, timing in _TIMINGS.items():
        figures: dict[Place, MadeFigure] = {}
        fixed = _fixed(measure, budget, timing, TRACES["Small"])
        for row, allocator in _timed_rows(budget, timing):
            runs = [timing.constructed(measure, budget, allocator, target) for target in CONSTRUCTIONS]
            runs += [timing.runs(measure, budget, allocator, scenario) for scenario in TRACES.values()]
            # The same image ran all of them, so at each placement they belong together.
            worst_ = figures_at(zip(*runs, strict=True), partial(_worst_of, fixed=fixed))
            figures |= {(own.title, row, column): found for column, found in worst_.items()}
        for row in thresholds.rows if timing.formats is not None else ():
            threshold = settings(SEARCH_THRESHOLD=int(row.removeprefix("threshold ")))
            found = timing.constructed(measure, budget, _SEARCHES, "list", threshold)
            figures[thresholds.title, row, "allocation"] = over_placements(
                [_worst_of([run], fixed)["allocation"] for run in found]
            )
        variants[name] = figures
    made_from = f"the constructions of the scenario worst, and {_timed_from(measure, budget)}"
    return Remade(variants, made_from, (), _JUDGED)


def _worst_of(runs: Iterable[pl.DataFrame], fixed: FixedCost) -> dict[str, MadeFigure]:
    """The longest allocation and the longest free of some runs, less the fixed cost."""
    every = pl.concat(runs, how="vertical_relaxed")
    parts = (("allocation", allocations, fixed.allocation), ("free", frees, fixed.free))
    found = {column: (part_of(every)["operation_cycles"], cost) for column, part_of, cost in parts}
    return {
        column: MadeFigure(max(cycles) - cost, len(cycles), 1)
        for column, (cycles, cost) in found.items()
        if len(cycles)
    }


def fragmentation(table: PublishedTable, measure: Measure, budget: Budget) -> Remade:
    """thesis-12: F in the large heap and in the smallest."""
    large, smallest = (part.title for part in table.part)
    columns = {large: "F %", smallest: "F % there"}

    def figures(needed: _Needed) -> Figures:
        return {
            (title, row, trace): found[column]
            for trace, name in TRACES.items()
            for row, found in needed(name).items()
            for title, column in columns.items()
            if column in found
        }

    return Remade(_in_formats(measure, budget, figures), _studied(budget), _one_policy(measure, budget))


def cost_metric(table: PublishedTable, measure: Measure, budget: Budget) -> Remade:
    """thesis-13: the smallest heap that serves, and as a share of Buddy's with the same seed."""
    whole, share = (part.title for part in table.part)
    variants: dict[str, dict[Place, MadeFigure]] = {}
    for variant, knobs in _FORMATS.items():
        figures = variants[variant] = {}
        for trace, name in TRACES.items():
            studies = dict(_studies(measure, budget, name, knobs))
            buddy = studies[_REFERENCE]["cost_metric_bytes"]
            for row, study in studies.items():
                bytes_ = study["cost_metric_bytes"]
                shares = (
                    (bytes_ * 100 / buddy.head(study.height)).to_list()
                    if bytes_.null_count() == 0
                    else [None]
                )
                one = {
                    (whole, row, trace): over_seeds(bytes_.to_list(), _STEP_BYTES),
                    (share, row, trace): over_seeds(shares, 0.1),
                }
                figures |= present(one)
    return Remade(variants, _studied(budget))


def heaps(table: PublishedTable, measure: Measure, budget: Budget) -> Remade:
    """thesis-b-heap: every figure of fragmentation, and the peak of live memory."""
    peak, *parts = table.part

    def figures(needed: _Needed) -> Figures:
        return {
            (part.title, row, column): found[column]
            for part in parts
            for row, found in needed(TRACES[part.title]).items()
            for column in part.columns
            if column in found
        }

    variants = _in_formats(measure, budget, figures)
    live: dict[Place, MadeFigure | None] = {}
    for trace, name in TRACES.items():
        _, study = next(iter(_studies(measure, budget, name, THESIS_KNOBS)))
        live[peak.title, trace, peak.columns[0]] = over_seeds(study["peak_live_bytes"].to_list(), 1)
    first = next(iter(variants))
    variants[first] = {**variants[first], **present(live)}
    return Remade(variants, _studied(budget), tuple(_constants(table, variants[first])))


def suitability(table: PublishedTable, measure: Measure, budget: Budget) -> Remade:
    """thesis-14: the figures behind the words."""
    (part,) = table.part
    timing = _TIMINGS["net"]
    fixed = _fixed(measure, budget, timing, TRACES["Small"])
    timed = [_timed(measure, budget, name, timing) for name in TRACES.values()]
    studied = [dict(_studies(measure, budget, name, THESIS_KNOBS)) for name in TRACES.values()]
    figures: dict[Place, MadeFigure] = {}
    for row, allocator in _rows(budget, board.able()):
        if row == allocator:
            continue
        mine = _SUMMARISED.get(row, row)
        means = [rows[row]["average operation"] for rows in timed]
        average = over_seeds([one.value for one in means], 1)
        runs = [timing.constructed(measure, budget, allocator, one) for one in CONSTRUCTIONS]
        worst_ = figures_at(zip(*runs, strict=True), partial(_worst_of, fixed=fixed))
        shares = [share for study in studied for share in study[row]["fragmentation_there_percent"].to_list()]
        spare = (one[row]["cost_metric_bytes"] - one[row]["used_there_bytes"] for one in studied)
        beside = measure(Footprints(allocator))["static_ram"][0]
        overheads = [beside + bytes_ for one in spare for bytes_ in one.to_list()]
        found = {
            "average operation": average and replace(average, placements=means[0].placements),
            "worst allocation": replace(worst_["allocation"], n=len(runs)),
            "F % there": over_seeds(shares, 0.01),
            "overhead in bytes": over_seeds(overheads, _STEP_BYTES),
        }
        figures |= present({(part.title, mine, column): one for column, one in found.items()})
    made_from = (
        "thesis-6, thesis-7 and thesis-b-heap: averages of the four traces, in brackets those of the least "
        "and the greatest, and the worst construction, in cycles; F in the smallest heap; Cost Metric less "
        "used there, and static RAM; TLSF is Conte's"
    )
    return Remade({"net": figures}, made_from)


_Needed: TypeAlias = Callable[[str], dict[str, dict[str, MadeFigure]]]
"""Of a scenario by row, then by column: what heap studies found."""


def _in_formats(
    measure: Measure, budget: Budget, figures: Callable[[_Needed], Figures]
) -> dict[str, Figures]:
    """The figures with the thesis's formats, and with ours where these differ."""
    return {variant: figures(partial(_needed, measure, budget, knobs)) for variant, knobs in _FORMATS.items()}


def _constants(table: PublishedTable, figures: Figures) -> Iterable[str]:
    """Sentences on the published figures of a row and part that every seed gives."""
    for part in table.part:
        for row in part.rows:
            equal = [
                f"{column} {found.value:,.0f}"
                for column in part.columns
                if (found := figures.get((part.title, row, column)))
                and found.constant
                and found.value == part.printed(row, column)
            ]
            if equal:
                yield f"{row} on {part.title}, equal with every seed: {', '.join(equal)}."


def _one_policy(measure: Measure, budget: Budget) -> tuple[str, ...]:
    """Sentences on how often best_fit and avl, one policy, give the same figures.

    What parts them is avl's larger smallest block, 40 bytes against 24. A granule of 48 bytes
    leaves nothing between the two.
    """
    columns = ("used_bytes", "fragmentation_percent", "sbbm_bytes", "ratio_1", "ratio_2", "ratio_3")
    told = []
    for granule in (0, _GRANULE_BYTES):
        counts = {}
        for trace, name in TRACES.items():
            best, avl = (
                measure(
                    HeapStudy(
                        *(one, name, budget.seeds, HEAP_BYTES),
                        granule=granule,
                        searches=False,
                        processes=budget.processes,
                    )
                ).select(columns)
                for one in _ONE_POLICY
            )
            counts[trace] = sum(one == other for one, other in zip(best.rows(), avl.rows(), strict=True))
        told.append(", ".join(f"{trace} {count}" for trace, count in counts.items()))
    return (
        f"best_fit and avl are one policy. Of {len(budget.seeds)} seeds they give equal figures in the "
        f"large heap with: {told[0]}. Where they part, a remainder of 24 or 32 bytes is a block for "
        f"best_fit and none for avl. With sizes raised so that every block is a multiple of "
        f"{_GRANULE_BYTES} bytes, none is left, and they are equal with: {told[1]}.",
    )


def construction(
    allocator: str, target: str, knobs: Settings = (), art: bool = True, optimization: str = "2"
) -> BoardRun:
    """The run of a construction: one of its operations is measured."""
    return BoardRun(
        *(allocator, "worst", art),
        parameters=settings(target=target),
        knobs=knobs,
        optimization=optimization,
    )


def _timed(
    measure: Measure, budget: Budget, scenario: str, timing: _Timing
) -> dict[str, dict[str, MadeFigure]]:
    """The cycles of calls, by row, then by column."""
    rows: dict[str, dict[str, MadeFigure]] = {}
    fixed = _fixed(measure, budget, timing, scenario)
    for row, allocator in _timed_rows(budget, timing):
        runs = timing.runs(measure, budget, allocator, scenario)
        rows[row] = figures_at(runs, partial(_of_trace, fixed=fixed))
    return rows


def _of_trace(run: pl.DataFrame, fixed: FixedCost) -> dict[str, MadeFigure]:
    taken = allocations(run)["operation_cycles"].to_numpy() - fixed.allocation
    given = frees(run)["operation_cycles"].to_numpy() - fixed.free
    means = float(np.mean(taken)), float(np.mean(given))
    return {
        "average allocation": MadeFigure(means[0], len(taken), 1),
        "average free": MadeFigure(means[1], len(given), 1),
        "worst allocation": MadeFigure(float(taken.max()), len(taken), 1),
        "worst free": MadeFigure(float(given.max()), len(given), 1),
        "average operation": MadeFigure(sum(means) / 2, len(taken) + len(given), 1),
    }


def _timed_rows(budget: Budget, timing: _Timing) -> list[tuple[str, str]]:
    """The rows of _rows() that are timed so."""
    known = set(source("thesis").names.values())
    return [(row, one) for row, one in _rows(budget, board.able()) if timing.has(one, known)]


def _fixed(measure: Measure, budget: Budget, timing: _Timing, scenario: str) -> FixedCost:
    if not timing.net:
        return NOTHING
    return fixed_cost(measure, budget, scenario, "operation_cycles", timing.art, timing.optimization)


def _refused(measure: Measure, budget: Budget) -> tuple[str, ...]:
    """A sentence on those that did not serve everything: their means are of less work."""
    counts = {
        f"{allocator} on {trace}": int(
            (measure(_TIMINGS["net"].run(allocator, name))["kind"] == "O").sum(),
        )
        for trace, name in TRACES.items()
        for _, allocator in _rows(budget, board.able())
    }
    told = [f"{who} {count:,}" for who, count in counts.items() if count]
    return (f"Requests that were refused, of 2,500: {', '.join(told)}.",) if told else ()


def _needed(
    measure: Measure, budget: Budget, knobs: Mapping[str, Settings] | None, scenario: str
) -> dict[str, dict[str, MadeFigure]]:
    """The results of a heap study over the seeds, by row, then by column."""
    rows: dict[str, dict[str, MadeFigure]] = {}
    for row, study in _studies(measure, budget, scenario, knobs):
        percent = 100 / int(study["peak_live_bytes"].to_numpy().max())
        steps = {"Cost Metric": _STEP_BYTES, "F %": percent, "F % there": percent}
        found = {
            column: over_seeds(study[key].to_list(), steps.get(column, 1))
            for column, key in _HEAP_COLUMNS.items()
        }
        rows[row] = {column: one for column, one in found.items() if one is not None}
    return rows


def _studies(
    measure: Measure, budget: Budget, scenario: str, knobs: Mapping[str, Settings] | None
) -> Iterable[tuple[str, pl.DataFrame]]:
    """The studies of every allocator with these knobs; without knobs, of those with a format."""
    for row, allocator in _rows(budget, able(HEAP_BYTES)):
        if knobs is None and allocator not in THESIS_KNOBS:
            continue
        seeds = budget.further_seeds if row == allocator else budget.seeds
        work = HeapStudy(
            *(allocator, scenario, seeds, HEAP_BYTES),
            knobs=(knobs or {}).get(allocator, ()),
            processes=budget.processes,
        )
        yield row, measure(work)


def _rows(budget: Budget, able_ones: Iterable[str]) -> list[tuple[str, str]]:
    """Pairs for each allocator: its name in the thesis, or its own; and its own."""
    known = {here: row for row, here in source("thesis").names.items()}
    return [(known.get(name, name), name) for name in budget.allocators(known, able_ones)]


def _timed_from(measure: Measure, budget: Budget) -> str:
    costs = fixed_cost(measure, budget, TRACES["Small"], "operation_cycles", art=True)
    return (
        f"lifetimes_*, seed 1; ART on and -O2 if nothing else is said; in the thesis's formats; net: the "
        f"whole call less that of an empty section, {costs.allocation:.0f} cycles of an allocation and "
        f"{costs.free:.0f} of a free (ART on); {board.BOARD}"
    )


def _studied(budget: Budget) -> str:
    return (
        f"lifetimes_*, seeds 1 to {budget.seeds[-1]} (allocators that the thesis does not have: to "
        f"{budget.further_seeds[-1]}), replayed on the PC in a heap of "
        f"{HEAP_BYTES:,} bytes and in the smallest; in the thesis's formats: ublox_buddy with "
        "REMAINDER_FIRST=1, half_fit_cstm with HDR=8, half_tree with HDR=4"
    )
