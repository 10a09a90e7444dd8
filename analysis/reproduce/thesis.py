"""The tables of the thesis that can be made again: those of its synthetic traces."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import polars as pl

from analysis.reproduce.board import BoardRun, allocations, frees
from analysis.reproduce.heaps import HeapStudy, able
from analysis.reproduce.published import PublishedTable, source
from analysis.reproduce.remade import Budget, Figures, Found, Measure, Place, Remade, over_seeds, present
from firmware import build as firmware
from firmware import catalogue as allocators
from scenarios import catalogue as scenarios

TRACES = {
    "Small": "lifetimes_small",
    "Large": "lifetimes_large",
    "Random": "lifetimes_random",
    "Typical": "lifetimes_typical",
}
HEAP_BYTES = 86_064
_ART = {"ART off": False, "ART on": True}
_BOARD = "virtual Nucleo-F401RE, 84 MHz, no stimulus, a heap of 65,536 bytes"
_HEAP_COLUMNS = {
    "used": "used_bytes",
    "F %": "fragmentation_percent",
    "SBMM": "sbbm_bytes",
    "Cost Metric": "cost_metric_bytes",
    "used there": "used_there_bytes",
    "F % there": "fragmentation_there_percent",
    "SBMM there": "sbbm_there_bytes",
}
_STEP_BYTES = 8
_ONE_POLICY = ("best_fit", "avl")
_GRANULE_BYTES = 48
_REFERENCE = "Buddy"


def traces(table: PublishedTable, _measure: Measure, _budget: Budget) -> Remade:
    """thesis-1: the parameters of the scenarios."""
    (part,) = table.part
    keys = ("size_min_bytes", "size_max_bytes", "ttl_max")
    figures = {
        (part.title, row, column): Found(scenarios.load(name).parameters[key], 1, 1)
        for row, name in TRACES.items()
        for column, key in zip(part.columns, keys, strict=True)
    }
    return Remade({"here": figures}, "the parameters of the scenarios lifetimes_*")


def average_operation(table: PublishedTable, measure: Measure, budget: Budget) -> Remade:
    """thesis-6: half the sum of an allocation's mean and of a free's, on the board."""
    (part,) = table.part
    variants: dict[str, Figures] = {}
    for art, on in _ART.items():
        timed = {trace: _timed(measure, budget, name, on) for trace, name in TRACES.items()}
        variants[art] = {
            (part.title, row, trace): found["average operation"]
            for trace, rows in timed.items()
            for row, found in rows.items()
        }
    return Remade(variants, _made_from("lifetimes_*"), _refused(measure, budget))


def performance(table: PublishedTable, measure: Measure, budget: Budget) -> Remade:
    """thesis-b-time: means and maxima of allocations and frees, and the change to Buddy."""
    variants: dict[str, Figures] = {}
    for art, on in _ART.items():
        figures: dict[Place, Found] = {}
        for part in table.part:
            rows = _timed(measure, budget, TRACES[part.title], on)
            reference = rows[_REFERENCE]["average operation"].value
            for row, found in rows.items():
                average = found["average operation"]
                change = 100 * (average.value / reference - 1)
                found = {**found, "change %": Found(change, average.n, 100 / reference)}
                figures |= {(part.title, row, column): found[column] for column in part.columns}
        variants[art] = figures
    return Remade(variants, _made_from("lifetimes_*"), _refused(measure, budget))


def fragmentation(table: PublishedTable, measure: Measure, budget: Budget) -> Remade:
    """thesis-12: F in the large heap and in the smallest."""
    large, smallest = (part.title for part in table.part)
    columns = {large: "F %", smallest: "F % there"}
    figures = {
        (title, row, trace): found[column]
        for trace, name in TRACES.items()
        for row, found in _needed(measure, budget, name).items()
        for title, column in columns.items()
        if column in found
    }
    return Remade({"here": figures}, _studied(budget), _one_policy(measure, budget))


def cost_metric(table: PublishedTable, measure: Measure, budget: Budget) -> Remade:
    """thesis-13: the smallest heap that serves, and as a share of Buddy's with the same seed."""
    whole, share = (part.title for part in table.part)
    figures: dict[Place, Found] = {}
    for trace, name in TRACES.items():
        studies = dict(_studies(measure, budget, name))
        buddy = studies[_REFERENCE]["cost_metric_bytes"]
        for row, study in studies.items():
            bytes_ = study["cost_metric_bytes"]
            shares = (bytes_ * 100 / buddy).to_list() if bytes_.null_count() == 0 else [None]
            one = {
                (whole, row, trace): over_seeds(bytes_.to_list(), _STEP_BYTES),
                (share, row, trace): over_seeds(shares, 0.1),
            }
            figures |= present(one)
    return Remade({"here": figures}, _studied(budget))


def heaps(table: PublishedTable, measure: Measure, budget: Budget) -> Remade:
    """thesis-b-heap: every figure of fragmentation, and the peak of live memory."""
    peak, *parts = table.part
    figures: dict[Place, Found] = {}
    for part in parts:
        rows = _needed(measure, budget, TRACES[part.title])
        figures |= {
            (part.title, row, column): found[column]
            for row, found in rows.items()
            for column in part.columns
            if column in found
        }
    for trace, name in TRACES.items():
        _, study = next(iter(_studies(measure, budget, name)))
        live = over_seeds(study["peak_live_bytes"].to_list(), 1)
        figures |= present({(peak.title, trace, peak.columns[0]): live})
    return Remade({"here": figures}, _studied(budget), (*_constants(table, figures),))


def _constants(table: PublishedTable, figures: Figures) -> Iterable[str]:
    """Of a row and a part the published figures that every seed gives."""
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
    """How often best_fit and avl, which are one policy, give the same figures in the large heap.

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


def _timed(measure: Measure, budget: Budget, scenario: str, art: bool) -> dict[str, dict[str, Found]]:
    """By row, then by column: the cycles of whole calls."""
    rows: dict[str, dict[str, Found]] = {}
    for row, allocator in _rows(budget, _on_the_board()):
        run = measure(BoardRun(allocator, scenario, art))
        taken, given = (part["operation_cycles"].to_numpy() for part in (allocations(run), frees(run)))
        means = float(np.mean(taken)), float(np.mean(given))
        rows[row] = {
            "average allocation": Found(means[0], len(taken), 1),
            "average free": Found(means[1], len(given), 1),
            "worst allocation": Found(int(taken.max()), len(taken), 1),
            "worst free": Found(int(given.max()), len(given), 1),
            "average operation": Found(sum(means) / 2, len(taken) + len(given), 1),
        }
    return rows


def _refused(measure: Measure, budget: Budget) -> tuple[str, ...]:
    """A sentence on those that did not serve everything: their means are of less work."""
    counts = {
        f"{allocator} on {trace}": int(
            (measure(BoardRun(allocator, name))["kind"] == "O").sum(),
        )
        for trace, name in TRACES.items()
        for _, allocator in _rows(budget, _on_the_board())
    }
    told = [f"{who} {count:,}" for who, count in counts.items() if count]
    return (f"Requests that were refused, of 2,500: {', '.join(told)}.",) if told else ()


def _needed(measure: Measure, budget: Budget, scenario: str) -> dict[str, dict[str, Found]]:
    """By row, then by column: what a heap study found over the seeds."""
    rows: dict[str, dict[str, Found]] = {}
    for row, study in _studies(measure, budget, scenario):
        percent = 100 / int(study["peak_live_bytes"].to_numpy().max())
        steps = {"Cost Metric": _STEP_BYTES, "F %": percent, "F % there": percent}
        found = {
            column: over_seeds(study[key].to_list(), steps.get(column, 1))
            for column, key in _HEAP_COLUMNS.items()
        }
        rows[row] = {column: one for column, one in found.items() if one is not None}
    return rows


def _studies(measure: Measure, budget: Budget, scenario: str) -> Iterable[tuple[str, pl.DataFrame]]:
    for row, allocator in _rows(budget, able(HEAP_BYTES)):
        work = HeapStudy(allocator, scenario, budget.seeds, HEAP_BYTES, processes=budget.processes)
        yield row, measure(work)


def _rows(budget: Budget, able_ones: Iterable[str]) -> list[tuple[str, str]]:
    """Of each allocator its name in the thesis, or its own, and its own."""
    known = {here: row for row, here in source("thesis").names.items()}
    return [(known.get(name, name), name) for name in budget.allocators(known, able_ones)]


def _on_the_board() -> tuple[str, ...]:
    rows = allocators.allocators()
    return tuple(name for name in firmware.allocators() if "frees" in rows[name].promises)


def _made_from(scenario: str) -> str:
    return f"{scenario}, seed 1; whole calls; {_BOARD}"


def _studied(budget: Budget) -> str:
    return (
        f"lifetimes_*, seeds {budget.seeds[0]} to {budget.seeds[-1]}, replayed on the PC in a heap of "
        f"{HEAP_BYTES:,} bytes and in the smallest"
    )
