"""The tables of the article: its two workloads on the board that it used, here a virtual one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import polars as pl

from base.metrology.quantiles import nearest_rank
from firmware.build import catalogue as allocators
from scenarios.generators.sizes import FRAGMENTED, FRESH
from studies.reproduce import board
from studies.reproduce.board import BoardRun, allocations
from studies.reproduce.crate import Footprints
from studies.reproduce.empty import NOTHING, fixed_cost
from studies.reproduce.placed import at_placements, figures_at
from studies.reproduce.published import PublishedTable, Source, source
from studies.reproduce.remade import Budget, Figures, MadeFigure, Measure, Place, Remade

_BOARD = f"{board.BOARD}; ART off"


@dataclass(frozen=True)
class _Timing:
    """A way to time: what the article leaves open, and what is subtracted."""

    window: str = "operation_cycles"
    art: bool = False
    optimization: str = "2"
    net: bool = False
    further: bool = False
    """Allocators that the article does not have, too."""

    def runs(self, measure: Measure, budget: Budget, allocator: str, scenario: str) -> list[pl.DataFrame]:
        """The run at each placement, with its cycles in the column `cycles`."""
        run = BoardRun(allocator, scenario, self.art, optimization=self.optimization)
        cost = NOTHING
        if self.net:
            cost = fixed_cost(measure, budget, scenario, self.window, self.art, self.optimization)
        count = budget.placements(allocator in source("article").names.values())
        return [
            one.with_columns(cycles=pl.col(self.window) - cost.allocation)
            for one in at_placements(measure, run, count, budget.processes)
        ]


_TIMINGS = {
    "whole call": _Timing(further=True),
    "critical section": _Timing(window="critical_cycles", further=True),
    "net": _Timing(net=True),
    "whole call with ART on": _Timing(art=True),
    "whole call with -Os": _Timing(optimization="s"),
    "whole call with -O3": _Timing(optimization="3"),
}
_JUDGED = tuple(name for name, timing in _TIMINGS.items() if timing.window == "operation_cycles")
"""The article does not state its flash, nor its compiler's options."""
_STRESS, _FRAG, _SIZES = "mem_stress", "mem_frag", "sizes"
_DEPTHS, _DEEP, _SHALLOW = 256, 252, 17
_MOST_PROBES = 8
_RULES: Mapping[str, Callable[[int], int]] = {"seglist": lambda depth: depth + 3, "tlsf": lambda _: 2}
"""Probes by depth."""


def by_size(table: PublishedTable, measure: Measure, budget: Budget) -> Remade:
    """article-intro: what a block costs behind fragments, over what it costs on a fresh heap."""
    (part,) = table.part
    known = {"heap_4": "FreeRTOS", "seglist": "VaiOS, SEGLIST", "tlsf": "VaiOS, TLSF"}
    figures: dict[Place, MadeFigure] = {}
    for allocator in budget.allocators(known, board.able()):
        row, count = known.get(allocator, allocator), budget.placements(allocator in known)
        runs = at_placements(measure, BoardRun(allocator, _SIZES), count, budget.processes)
        found = figures_at(map(allocations, runs), partial(_ratios, columns=part.columns))
        figures |= {(part.title, row, column): one for column, one in found.items()}
    return Remade({"here": figures}, f"sizes; whole calls, mean behind 256 fragments / mean fresh; {_BOARD}")


def _ratios(run: pl.DataFrame, columns: Sequence[str]) -> dict[str, MadeFigure]:
    """Mean cycles behind fragments over those on a fresh heap, by the size that a column names."""
    ratios = {}
    for column in columns:
        of_size = run if column == "all sizes" else run.filter(pl.col("size") == int(column.split()[0]))
        fresh, behind = (
            of_size.filter(pl.col("label") == label)["operation_cycles"].to_numpy()
            for label in (FRESH, FRAGMENTED)
        )
        if len(fresh) and len(behind):
            ratio = float(behind.mean() / fresh.mean())
            ratios[column] = MadeFigure(ratio, len(fresh) + len(behind), 0.01)
    return ratios


def search_under_stress(table: PublishedTable, measure: Measure, budget: Budget) -> Remade:
    """article-8: counts of operations, and the probes of the allocations."""
    counts, probes = (part.title for part in table.part)
    figures: dict[Place, MadeFigure] = {}
    for row, allocator in _rows(budget, counting=True):
        run = measure(BoardRun(allocator, _STRESS))
        for column, kind in (("allocations", "A"), ("frees", "F"), ("out of memory", "O")):
            figures[counts, row, column] = MadeFigure(
                run.filter(pl.col("kind") == kind).height, run.height, 1
            )
        figures |= {
            (probes, row, column): found
            for column, found in _quantiles(
                allocations(run)["probes"], {"median": 50, "p99": 99, "worst": 100}
            )
        }
    return Remade({"here": figures}, f"mem_stress, seed 0x1234abcd; {_BOARD}", _uncounted(budget))


def cycles_under_stress(table: PublishedTable, measure: Measure, budget: Budget) -> Remade:
    """article-9: median and p99 of the cycles of an allocation, and the first one."""
    (part,) = (part.title for part in table.part)
    variants: dict[str, Figures] = {}
    for variant, timing in _TIMINGS.items():
        figures: dict[Place, MadeFigure] = {}
        for row, allocator in _timed_rows(budget, timing):
            found = figures_at(timing.runs(measure, budget, allocator, _STRESS), _of_stress)
            figures |= {(part, row, name): one for name, one in found.items()}
        variants[variant] = figures
    witnesses = {
        f"instructions of {row}": found
        for row, allocator in source("article").names.items()
        for _, found in _quantiles(
            allocations(measure(BoardRun(allocator, _STRESS)))["instructions"], {"p99": 99}
        )
    }
    made_from = _timed_from(measure, budget, "mem_stress, seed 0x1234abcd")
    return Remade(variants, made_from, (), _JUDGED, witnesses)


def _of_stress(run: pl.DataFrame) -> dict[str, MadeFigure]:
    cycles = allocations(run)["cycles"]
    quantiles = _quantiles(cycles, {"median": 50, "p99": 99})
    return {**dict(quantiles), "first allocation": MadeFigure(cycles[0], 1, 1)}


def cycles_by_probes(table: PublishedTable, measure: Measure, budget: Budget) -> Remade:
    """article-9-probes: the mean of each bin of probes."""
    (part,) = table.part
    variants: dict[str, Figures] = {}
    for variant, timing in _TIMINGS.items():
        figures: dict[Place, MadeFigure] = {}
        for row, allocator in _timed_rows(budget, timing, counting=True):
            found = figures_at(timing.runs(measure, budget, allocator, _STRESS), _by_probes)
            figures |= {
                (part.title, row, part.columns[probes - 1]): one
                for probes, one in found.items()
                if 1 <= probes <= _MOST_PROBES
            }
        variants[variant] = figures
    notes = (
        *_uncounted(budget),
        f"Bins above {_MOST_PROBES} probes, which some allocators have, are left out.",
    )
    made_from = _timed_from(measure, budget, "mem_stress, seed 0x1234abcd")
    return Remade(variants, made_from, notes if not budget.quick else (), _JUDGED)


def _by_probes(run: pl.DataFrame) -> dict[int, MadeFigure]:
    """The mean of each bin."""
    bins = allocations(run).group_by("probes").agg("cycles")
    return {probes: MadeFigure(float(np.mean(cycles)), len(cycles), 1) for probes, cycles in bins.iter_rows()}


def search_under_fragments(table: PublishedTable, measure: Measure, budget: Budget) -> Remade:
    """article-10: probes at each depth, and at how many the article's rule holds."""
    probes, rule = table.part
    figures: dict[Place, MadeFigure] = {}
    for row, allocator in _rows(budget, counting=True):
        worst = _by_depth(measure(BoardRun(allocator, _FRAG)), "probes", "max")
        for column in probes.columns:
            depth = int(column.removeprefix("depth "))
            figures[probes.title, row, column] = MadeFigure(worst[depth], 3, 1)
        if allocator in _RULES:
            held = sum(worst[depth] == _RULES[allocator](depth) for depth in range(1, _DEPTHS + 1))
            figures[rule.title, row, "depths"] = MadeFigure(held, 3 * _DEPTHS, 1)
    made_from = f"mem_frag, depths 1 to {_DEPTHS}, the most of three trials; {_BOARD}"
    return Remade({"here": figures}, made_from, _uncounted(budget))


def cycles_under_fragments(table: PublishedTable, measure: Measure, budget: Budget) -> Remade:
    """article-10-cycles: the least of three trials, and what one more free block costs."""
    (part,) = table.part
    variants: dict[str, Figures] = {}
    for variant, timing in _TIMINGS.items():
        figures: dict[Place, MadeFigure] = {}
        for row, allocator in _timed_rows(budget, timing):
            found = figures_at(timing.runs(measure, budget, allocator, _FRAG), _along)
            figures |= {(part.title, row, column): one for column, one in found.items()}
        variants[variant] = figures
    made_from = _timed_from(measure, budget, f"mem_frag, the slope from depth {_SHALLOW} to {_DEEP}")
    return Remade(variants, made_from, (), _JUDGED)


def _along(run: pl.DataFrame) -> dict[str, MadeFigure]:
    """The least cycles at the deepest, and the slope up to there."""
    least = _by_depth(run, "cycles", "min")
    slope = (least[_DEEP] - least[_SHALLOW]) / (_DEEP - _SHALLOW)
    return {
        f"depth {_DEEP}": MadeFigure(least[_DEEP], 3, 1),
        "one more block": MadeFigure(slope, 6, 1 / (_DEEP - _SHALLOW)),
    }


def _timed_from(measure: Measure, budget: Budget, scenario: str) -> str:
    cost = fixed_cost(measure, budget, _STRESS, "operation_cycles").allocation
    return (
        f"{scenario}; ART off and -O2 if nothing else is said; net: the whole call less that of an empty "
        f"section, {cost:.0f} cycles (ART off); {board.BOARD}"
    )


def _timed_rows(budget: Budget, timing: _Timing, counting: bool = False) -> list[tuple[str, str]]:
    known = set(source("article").names.values())
    return [pair for pair in _rows(budget, counting) if timing.further or pair[1] in known]


def footprint(table: PublishedTable, measure: Measure, budget: Budget) -> Remade:
    """article-11: flash and static RAM of the whole image and of the index."""
    whole, less = (part.title for part in table.part)
    columns = {
        "flash of the image": "text",
        "static RAM of the image": "bss",
        "static RAM of the backend": "index_bss",
        "flash of the backend": "index_text",
    }
    found = {row: measure(Footprints(allocator)).row(0, named=True) for row, allocator in _rows(budget)}
    figures: dict[Place, MadeFigure] = {
        (whole, row, column): MadeFigure(bytes_[key], 1, 1)
        for row, bytes_ in found.items()
        for column, key in columns.items()
        if bytes_[key] is not None and column in table.part_called(whole).columns
    }
    for column, key in columns.items():
        difference = found["TLSF"][key] - found["SEGLIST"][key]
        figures[less, "TLSF less SEGLIST", column] = MadeFigure(difference, 2, 1)
    return Remade({"here": figures}, "size -A of the images with ART on, -O2, Cortex-M4")


def _rows(budget: Budget, counting: bool = False) -> list[tuple[str, str]]:
    """Pairs for each allocator: its name in the article, or its own; and its own.

    `counting` leaves out those that do not count their probes.
    """
    article: Source = source("article")
    known = {here: row for row, here in article.names.items()}
    rows = allocators.own()
    able = [name for name in board.able() if not counting or "counts_probes" in rows[name].promises]
    return [(known.get(name, name), name) for name in budget.allocators(known, able)]


def _uncounted(budget: Budget) -> tuple[str, ...]:
    if budget.quick:
        return ()
    rows = allocators.own().values()
    names = [row.id for row in rows if "frees" in row.promises and "counts_probes" not in row.promises]
    return (f"These do not count their probes: {', '.join(names)}.",)


def _quantiles(values: pl.Series, percents: dict[str, int]) -> Sequence[tuple[str, MadeFigure]]:
    """The percentiles of `values` by nearest rank, with their names."""
    ordered = np.sort(values.to_numpy())
    return [(name, MadeFigure(nearest_rank(ordered, one), len(ordered), 1)) for name, one in percents.items()]


def _by_depth(run: pl.DataFrame, column: str, statistic: str) -> dict[int, float]:
    """The least or the most of the trials of each depth."""
    grouped = allocations(run).group_by("depth")
    found = grouped.agg(getattr(pl.col(column), statistic)())
    return dict(found.select("depth", column).iter_rows())
