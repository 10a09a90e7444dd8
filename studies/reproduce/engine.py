"""Makes tables again, as their publications' files say: one engine for all of them.

A figure is an expression over the operations of a run, such as `allocations p99`, `allocations
min where depth = 252` or `allocations mean + frees mean / 2`, worked out from left to right; or
over the seeds of a heap study, such as `used_bytes` or `used_bytes max`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from itertools import groupby
from math import log2
from operator import add, sub, truediv
from statistics import fmean, stdev
from typing import Any

import numpy as np
import polars as pl

from base.metrology.quantiles import nearest_rank
from firmware.build import catalogue
from firmware.build.host_heap import HostHeapError
from scenarios.generators.worst import CONSTRUCTIONS
from studies.reproduce import published
from studies.reproduce.beside import (
    Beside,
    Figures,
    MadeFigure,
    Place,
    Remade,
    beside,
    over_placements,
    over_seeds,
    present,
)
from studies.reproduce.kept import Work
from studies.reproduce.measure import (
    BoardRun,
    EmptySection,
    Footprints,
    HeapStudy,
    Levels,
    Spread,
    Text,
    WorstOnThisMachine,
    on_the_board,
    on_this_machine,
)
from studies.reproduce.published import Making, Part, PublishedTable, Source, Way

Measure = Callable[[Work], pl.DataFrame]
Costs = Mapping[str, float]
"""The fixed cost of an allocation and of a free, by kind."""

_PLACEMENTS = 16
"""Heap and rest at each pair of their places in a line of the flash once."""
_BOARD = "virtual Nucleo-F401RE, 84 MHz, no stimulus, a heap of 65,536 bytes"
_PC_BYTES = 8 << 20
_MOST_SEEDS_WITHOUT_SEARCH = 24
_OPERATIONS: Mapping[str, pl.Expr] = {
    "all": pl.lit(True),
    "measured": pl.col("measured"),
    **dict.fromkeys(("allocations", "malloc"), pl.col("measured") & (pl.col("kind") == "A")),
    **dict.fromkeys(("frees", "free"), pl.col("measured") & (pl.col("kind") == "F")),
}
_CALCULATIONS: Mapping[str, Callable[[float, float], float]] = {"+": add, "-": sub, "/": truediv}


@dataclass(frozen=True)
class Budget:
    """The amount to run: 32 seeds of the allocators that a table has, and 8 of every other; cycles
    at 16 placements of the code of the former, and at 1 of the latter.

    `quick` runs only those that a table has, with 4 seeds, at 1 placement. `processes` share the
    work, and change nothing.
    """

    quick: bool = False
    processes: int = 1

    @property
    def seeds(self) -> tuple[int, ...]:
        """The seeds for the allocators that a table has; every other has the first 8."""
        return tuple(range(1, 5 if self.quick else 33))

    def placements(self, of_table: bool = True) -> int:
        """Of the code of an allocator that the table has, or of another."""
        return _PLACEMENTS if of_table and not self.quick else 1


def chosen(words: Sequence[str]) -> tuple[str, ...]:
    """The tables that are named, each once; all without a name. Raises UnknownTableError."""
    for word in words:
        published.find(word)
    return tuple(name for name in published.names() if not words or name in words)


def run(names: Sequence[str], budget: Budget, measure: Measure) -> Iterator[Beside]:
    """Each table as it is done, with what `measure` gives.

    Raises TailscopeError, and Stopped where a signal asks for the end.
    """
    for name in names:
        source, table = published.find(name)
        remade = Bench(source, table, table.making, budget, measure).remade() if table.making else None
        yield beside(source, table, remade)


@dataclass(frozen=True)
class Bench:
    """A table, how it is made, and what measures."""

    source: Source
    table: PublishedTable
    making: Making
    budget: Budget
    measure: Measure

    @property
    def ways(self) -> list[Way]:
        return self.making.way or self.source.way or [Way()]

    def remade(self) -> Remade:
        """The table made again. Raises TailscopeError."""
        variants: dict[str, dict[Place, MadeFigure]] = {}
        for way in self.ways:
            variants[way.name] = {}
            for recipe in self.making.by:
                variants[way.name] |= _RECIPES[recipe](self, way, variants[way.name])
        first = variants[self.ways[0].name]
        facts = _Facts(self)
        return Remade(
            variants,
            self.making.made_from.format_map(facts),
            tuple(words for note in self.making.notes if (words := note.format_map(facts))),
            tuple(way.name for way in self.ways if way.judged),
            self.witnesses(first),
        )

    def witnesses(self, first: Figures) -> dict[str, MadeFigure]:
        """Figures by name that may show the cause of what came out."""
        making, witnesses = self.making, {}
        for name, (part, row, column) in making.witnesses.items():
            witnesses[name] = first[part, row, column]
        if making.instructions:
            way = self.ways[0].model_copy(update={"window": "instructions"})
            scenario = next(iter(making.scenarios.values()))[0]
            for row, allocator in self.source.names.items():
                work = self.board_run(way, allocator, scenario)
                made = self.figures(way, work, {"": making.instructions}, True)
                witnesses[f"instructions of {row}"] = made[""]
        return witnesses

    def allocators(self, able: Iterable[str], further: bool = True) -> list[tuple[str, str]]:
        """Pairs for each: its name in the publication, or its own; and its own. First come the
        table's. One that is called as the publication calls another is left out.
        """
        names = {**{here: row for row, here in self.source.names.items()}, **self.making.names}
        rows = catalogue.own()
        usable = {
            name
            for name in able
            if name not in self.source.names
            and (not self.making.counts_probes or "counts_probes" in rows[name].promises)
        }
        others = sorted(usable - set(names)) if further and not self.budget.quick else []
        return [*((row, name) for name, row in names.items() if name in usable), *((n, n) for n in others)]

    def board_rows(self, way: Way) -> list[tuple[str, str]]:
        """The allocators that run on the board in this way."""
        rows = self.allocators(on_the_board(), way.further)
        return [pair for pair in rows if not way.own_format or pair[1] in self.source.knobs]

    def scenarios(self, part: Part, column: str) -> tuple[str, ...]:
        """The scenarios behind a column; `worst TARGET` is a construction."""
        names = _chosen(self.making.scenarios, column, part.title) or []
        return tuple(name for entry in names for name in _CONSTRUCTIONS.get(entry, (entry,)))

    def groups(self, part: Part) -> Iterator[tuple[tuple[str, ...], list[str]]]:
        """Scenarios, and the columns that they are behind."""
        for names, columns in groupby(part.columns, lambda column: self.scenarios(part, column)):
            if names:
                yield names, list(columns)

    def expressions(self, part: Part, row: str, columns: Iterable[str]) -> dict[str, str]:
        """The expression of each column that has one."""
        texts = {column: _chosen(self.making.figures, column, part.title, row) for column in columns}
        operation = part.title.split(",")[0]
        return {column: text.format(operation=operation) for column, text in texts.items() if text}

    def board_run(self, way: Way, allocator: str, scenario: str, more: Mapping[str, int] = {}) -> BoardRun:
        """The run of a scenario, or of `worst TARGET`."""
        name, _, target = scenario.partition(" ")
        knobs = {} if way.own_format else self.source.knobs.get(allocator, {})
        return BoardRun(
            *(allocator, name, way.art, {"target": target} if target else {}),
            knobs={**knobs, **more},
            optimization=way.optimization,
        )

    def placed(self, count: int, work: Callable[[int], Work]) -> list[pl.DataFrame]:
        """The operations at each placement. Raises ValueError where they end otherwise at one."""
        with ThreadPoolExecutor(self.budget.processes) as threads:
            try:
                frames = list(threads.map(self.measure, map(work, range(count))))
            finally:
                threads.shutdown(cancel_futures=True)
        if any(not frame["kind"].equals(frames[0]["kind"]) for frame in frames):
            raise ValueError(f"{work(0)} comes out otherwise at another placement.")
        return frames

    def costs(self, way: Way, scenario: str) -> Costs:
        """The fixed cost in the unit of the window: the mean on an empty section, and of cycles the
        median of those over placements.
        """
        if not way.net:
            return {"A": 0, "F": 0}
        run = BoardRun("empty_section", scenario, way.art, optimization=way.optimization)
        count = self.budget.placements()
        frames = self.placed(count, lambda number: EmptySection(replace(run, placement=number)))
        means = [frame.group_by("kind").agg(pl.col(way.window).mean()) for frame in frames]
        return dict(pl.concat(means).group_by("kind").agg(pl.col(way.window).median()).iter_rows())

    def figures(
        self,
        way: Way,
        runs: BoardRun | Sequence[BoardRun],
        expressions: Mapping[str, str],
        of_table: bool,
    ) -> dict[str, MadeFigure]:
        """The value of each expression over the operations of one run, or of several of one image.
        Cycles are over the placements of its code.
        """
        works = [runs] if isinstance(runs, BoardRun) else runs
        costs = self.costs(way, self.making.empty or works[0].scenario)
        cost = pl.when(pl.col("kind") == "F").then(costs["F"]).otherwise(costs["A"])
        at_a_place = way.window.endswith("cycles")
        count = self.budget.placements(of_table) if at_a_place else 1
        at_each = [
            self.placed(count, lambda number, work=work: replace(work, placement=number))  # type: ignore[misc]
            for work in works
        ]
        made: list[dict[str, MadeFigure]] = []
        for frames in zip(*at_each, strict=True):
            frame = pl.concat(frames, how="vertical_relaxed").with_columns(value=pl.col(way.window) - cost)
            by_name = {name: self._calculated(frame, name, text) for name, text in expressions.items()}
            made.append(present(by_name))
        if not at_a_place:
            return made[0]
        return {name: over_placements([figures[name] for figures in made]) for name in made[0]}

    def _calculated(self, frame: pl.DataFrame, column: str, expression: str) -> MadeFigure | None:
        """The figure, None where no such operation occurred."""
        first, *rest = re.split(r" ([-+/]) ", expression)
        value, n = _term(frame, first)
        for sign, term in zip(rest[::2], rest[1::2], strict=True):
            other, count = _term(frame, term)
            value = None if value is None or other is None else _CALCULATIONS[sign](value, other)
            n += count
        return None if value is None else MadeFigure(value, n, self.making.resolution.get(column, 1))

    def studies(self, scenario: str, own_format: bool = False) -> dict[str, pl.DataFrame]:
        """The heap study of each allocator, over the seeds."""
        studies = {}
        seeds = self.budget.seeds if self.making.searches else self.budget.seeds[:_MOST_SEEDS_WITHOUT_SEARCH]
        for row, allocator in self.allocators(on_this_machine(self.making.heap_bytes)):
            knobs = self.source.knobs.get(allocator, {})
            if own_format and not knobs:
                continue
            study = self.measure(
                HeapStudy(
                    *(allocator, scenario, seeds if row != allocator else seeds[:8], self.making.heap_bytes),
                    knobs={} if own_format else knobs,
                    searches=self.making.searches,
                    processes=self.budget.processes,
                )
            )
            # Without a search one that refused a request has no place beside the others.
            if self.making.searches or not study["failures"].sum():
                studies[row] = study
        return studies

    def instructions(self, allocator: str, targets: Iterable[str]) -> list[int]:
        """Of each construction on this machine, but of those that the allocator refuses."""
        counts = []
        for target in targets:
            try:
                counts.append(int(self.measure(WorstOnThisMachine(allocator, target))["instructions"][0]))
            except HostHeapError:
                continue
        return counts


def _chosen(table: Mapping[str, object], column: str, title: str, row: str = "") -> Any:
    """What the table has for a column, a row, a title or a word of it, or for all."""
    for name in (column, row, title):
        if name and name in table:
            return table[name]
    return next((entry for name, entry in table.items() if name in title), None)


_CONSTRUCTIONS = {
    "worst all": tuple(f"worst {name}" for name in CONSTRUCTIONS),
    "worst frees": tuple(f"worst {name}" for name, case in CONSTRUCTIONS.items() if case.frees),
    "worst allocations": tuple(f"worst {name}" for name, case in CONSTRUCTIONS.items() if not case.frees),
}


def _term(frame: pl.DataFrame, term: str) -> tuple[float | None, int]:
    """The value of a number, or of a statistic such as `allocations p99 where probes = 3`; and of
    how many samples. None where there is no sample.
    """
    if term.isdigit():
        return int(term), 0
    words, _, where = term.partition(" where ")
    operations, statistic = words.split()
    selected = frame.filter(_OPERATIONS[operations])
    if statistic == "held":
        # At how many depths the rule holds for the most of the trials.
        trials = selected.filter(pl.col("depth") >= 1)
        most = trials.group_by("depth").agg(pl.col("probes").max())
        return most.filter(pl.sql_expr(where)).height, trials.height
    selected = selected.filter(pl.sql_expr(where)) if where else selected
    if statistic == "count":
        return selected.height, frame.height
    return _statistic(statistic, selected["value"].to_list())


_OF_SAMPLES: Mapping[str, Callable[[Sequence[float]], float]] = {
    "mean": fmean,
    "stdev": stdev,
    "max": max,
    "min": min,
}


def _statistic(name: str, samples: Sequence[float]) -> tuple[float | None, int]:
    if not samples:
        return None, 0
    if name == "first":
        return samples[0], 1
    if name.startswith("p"):
        return nearest_rank(np.sort(np.array(samples)), int(name[1:])), len(samples)
    return _OF_SAMPLES[name](samples), len(samples)


def _board(bench: Bench, way: Way, _: Figures) -> Figures:
    """Figures of runs on the board. Of a part whose rows are values of a knob, one allocator's."""
    figures: dict[Place, MadeFigure] = {}
    for part in bench.table.part:
        by_knob = [(row, row.split()[1]) for row in part.rows if row.startswith("threshold ")]
        for names, columns in bench.groups(part):
            for row, allocator in [] if by_knob else bench.board_rows(way):
                if expressions := bench.expressions(part, row, columns):
                    runs = [bench.board_run(way, allocator, name) for name in names]
                    made = bench.figures(way, runs, expressions, row != allocator)
                    figures |= {(part.title, row, column): figure for column, figure in made.items()}
            for row, value in by_knob if not way.own_format else []:
                allocator, knob = bench.making.knob.split()
                work = bench.board_run(way, allocator, "worst list", {knob: int(value)})
                made = bench.figures(way, work, bench.expressions(part, row, columns), True)
                figures |= {(part.title, row, column): figure for column, figure in made.items()}
    return figures


def _change(_bench: Bench, _way: Way, averages: Figures) -> Figures:
    """The average operation's change to Buddy's, in percent of the reference's median."""
    figures: dict[Place, MadeFigure] = {}
    for (title, row, column), average in averages.items():
        if column == "average operation":
            reference = averages[title, "Buddy", column].value
            value, least, most = (
                None if edge is None else 100 * (edge / reference - 1)
                for edge in (average.value, average.least, average.most)
            )
            assert value is not None
            figures[title, row, "change %"] = replace(
                average, value=value, resolution=100 / reference, least=least, most=most
            )
    return figures


def _heap(bench: Bench, way: Way, _: Figures) -> Figures:
    """Figures of heap studies over the seeds; rows that are traces have the first allocator's."""
    figures: dict[Place, MadeFigure | None] = {}
    for part in bench.table.part:
        if set(part.rows) <= set(bench.making.scenarios):
            for row in part.rows if way == bench.ways[0] else ():
                study = next(iter(bench.studies(bench.making.scenarios[row][0]).values()))
                figures[part.title, row, part.columns[0]] = over_seeds(study["peak_live_bytes"].to_list(), 1)
            continue
        for (scenario,), columns in bench.groups(part):
            studies = bench.studies(scenario, way.own_format)
            for row, study in studies.items():
                for column, expression in bench.expressions(part, row, columns).items():
                    key, *rest = expression.split()
                    figures[part.title, row, column] = _of_seeds(bench, study, key, rest, column, studies)
    return present(figures)


def _of_seeds(
    bench: Bench,
    study: pl.DataFrame,
    key: str,
    rest: Sequence[str],
    column: str,
    studies: Mapping[str, pl.DataFrame],
) -> MadeFigure | None:
    samples = study[key].to_list()
    step = bench.making.resolution.get(column, bench.making.resolution.get(" ".join((key, *rest)), 1))
    if not rest:
        share = 100 / int(study["peak_live_bytes"].to_numpy().max())
        return over_seeds(samples, share if key.endswith("_percent") else step)
    if rest[0] == "of":
        references = studies[rest[1]][key].to_list()
        return over_seeds(
            [None if a is None else a * 100 / b for a, b in zip(samples, references, strict=False)], step
        )
    value, n = _statistic(rest[0], samples)
    assert value is not None
    return MadeFigure(value, n, step, samples=tuple(samples) if rest[0] == "mean" else ())


def _host(bench: Bench, _way: Way, _: Figures) -> Figures:
    """The most instructions of constructions on this machine."""
    figures: dict[Place, MadeFigure] = {}
    for part in bench.table.part:
        for row, allocator in bench.allocators(on_this_machine(_PC_BYTES)):
            for column in part.columns:
                targets = [name.split()[1] for name in bench.scenarios(part, column)]
                wanted = targets if "instructions" in (part.title, column) else ()
                if counts := bench.instructions(allocator, wanted):
                    figures[part.title, row, column] = MadeFigure(max(counts), len(counts), 1)
    return figures


def _footprint(bench: Bench, _way: Way, _: Figures) -> Figures:
    """Bytes of images and of indexes, and what TLSF takes more."""
    whole, less = bench.table.part
    rows = bench.allocators(on_the_board())
    sizes = {row: bench.measure(Footprints(allocator)).row(0, named=True) for row, allocator in rows}
    figures: dict[Place, MadeFigure | None] = {
        (whole.title, row, column): _exact(sizes[row][key])
        for row in sizes
        for column, key in bench.making.figures.items()
    }
    for column, key in bench.making.figures.items():
        difference = sizes["TLSF"][key] - sizes["SEGLIST"][key]
        figures[less.title, "TLSF less SEGLIST", column] = MadeFigure(difference, 2, 1)
    return present(figures)


def _exact(value: float | None) -> MadeFigure | None:
    return None if value is None else MadeFigure(value, 1, 1)


def _row(part: Part, row: str, numbers: Iterable[float]) -> Figures:
    """The figures of a row, each of one sample."""
    return {
        (part.title, row, column): MadeFigure(number, 1, 1)
        for column, number in zip(part.columns, numbers, strict=False)
    }


def _levels(bench: Bench, _way: Way, _: Figures) -> Figures:
    """The largest request that is served, its bits, and the structure's size."""
    figures: dict[Place, MadeFigure] = {}
    for level in bench.measure(Levels()).rows(named=True):
        largest = level["largest_bytes"]
        numbers = (largest.bit_length(), largest, level["header_bytes"])
        figures |= _row(bench.table.part[0], f"FLL {level['fll']}", numbers)
    return figures


def _text(bench: Bench, _way: Way, _: Figures) -> Figures:
    (part,) = bench.table.part
    figures: dict[Place, MadeFigure] = {}
    for row in part.rows:
        figures |= _row(part, row, bench.measure(Text(row))["bytes"])
    return figures


def _bounds(bench: Bench, _way: Way, _: Figures) -> Figures:
    """Used memory on the trace that a search found worst, and the deck's formula.

    M is the most that live blocks took at a time and m the largest block, in bytes, headers
    included. A formula in O() has no constant, and so no figure.
    """
    part = bench.table.part[1]
    figures: dict[Place, MadeFigure] = {}
    for row, allocator in {**bench.source.names, "FF by address": "first_fit_ordered"}.items():
        (bytes_,) = bench.measure(Spread(allocator)).rows(named=True)
        live, largest = bytes_["peak_live"], bytes_["largest"]
        formulae = {"FF": 1 + log2(largest), "FF by address": 1 + log2(largest), "BB": 2 * log2(largest)}
        formula = [live * formulae[row]] if row in formulae else []
        figures |= _row(part, row, [bytes_["used"], live, largest, *formula])
    return figures


def _ranges(bench: Bench, _way: Way, _: Figures) -> Figures:
    """The slide's formula for its example of a list (i, j), with its J of 5."""
    (part,) = bench.table.part
    (row,) = part.rows
    octave, slot = (int(word) for word in row.strip("()").split(","))
    return _row(part, row, [2**octave + number * 2 ** (octave - 5) for number in (slot, slot + 1)])


def _summary(bench: Bench, _way: Way, _: Figures) -> Figures:
    """The figures behind the marks of the first deck, of its constructions and sets."""
    (part,) = bench.table.part
    worst, over_least, mean, deviation = part.columns[-4:]
    targets = [name.split()[1] for name in bench.making.scenarios["constructions"]]
    figures: dict[Place, MadeFigure] = {}
    for row, allocator in bench.allocators(on_this_machine(_PC_BYTES)):
        if counts := bench.instructions(allocator, targets):
            figures[part.title, row, worst] = MadeFigure(max(counts), len(counts), 1)
            ratio = max(counts) / min(counts)
            figures[part.title, row, over_least] = MadeFigure(ratio, len(counts), 0.1)
    sets = [bench.studies(scenario) for scenario in bench.making.scenarios["sets"]]
    for row in dict.fromkeys(row for studies in sets for row in studies):
        shares = [
            share
            for studies in sets
            if row in studies
            for share in studies[row]["fragmentation_from_start_percent"].to_list()
        ]
        figures[part.title, row, mean] = MadeFigure(fmean(shares), len(shares), 0.01, samples=tuple(shares))
        figures[part.title, row, deviation] = MadeFigure(stdev(shares), len(shares), 0.01)
    return figures


def _suitability(bench: Bench, way: Way, _: Figures) -> Figures:
    """The figures behind the words of the thesis, of all four traces."""
    (part,) = bench.table.part
    traces = bench.making.scenarios["traces"]
    studied = [bench.studies(trace) for trace in traces]
    constructions = bench.scenarios(part, "constructions")
    figures: dict[Place, MadeFigure | None] = {}
    for row, allocator in bench.allocators(on_the_board(), further=False):
        averages = [
            bench.figures(
                way,
                bench.board_run(way, allocator, trace),
                {"average": "allocations mean + frees mean / 2"},
                True,
            )["average"]
            for trace in traces
        ]
        runs = [bench.board_run(way, allocator, name) for name in constructions]
        cost = replace(bench, making=bench.making.model_copy(update={"empty": traces[0]}))
        worst = cost.figures(way, runs, {"worst": "allocations max"}, True)["worst"]
        shares = [share for each in studied for share in each[row]["fragmentation_there_percent"].to_list()]
        static_ram = bench.measure(Footprints(allocator))["static_ram"][0]
        overheads = [
            static_ram + spare
            for each in studied
            for spare in (each[row]["cost_metric_bytes"] - each[row]["used_there_bytes"]).to_list()
        ]
        average = over_seeds([figure.value for figure in averages], 1)
        numbers = (
            average and replace(average, placements=averages[0].placements),
            replace(worst, n=len(runs)),
            over_seeds(shares, 0.01),
            over_seeds(overheads, 8),
        )
        called = bench.making.names.get(allocator, row)
        figures |= {
            (part.title, called, column): figure
            for column, figure in zip(part.columns[2:], numbers, strict=True)
        }
    return present(figures)


_RECIPES: Mapping[str, Callable[[Bench, Way, Figures], Figures]] = {
    "board": _board,
    "change": _change,
    "heap": _heap,
    "host": _host,
    "footprint": _footprint,
    "levels": _levels,
    "text": _text,
    "bounds": _bounds,
    "ranges": _ranges,
    "summary": _summary,
    "suitability": _suitability,
}


class _Facts(dict[str, object]):
    """What stands in braces in the sentences of a table, computed where it is named."""

    def __init__(self, bench: Bench) -> None:
        self._bench = bench

    def __missing__(self, name: str) -> object:
        return getattr(self, name)()

    def board(self) -> str:
        return _BOARD

    def seeds(self) -> int:
        seeds = self._bench.budget.seeds
        return seeds[-1] if self._bench.making.searches else min(seeds[-1], _MOST_SEEDS_WITHOUT_SEARCH)

    def further(self) -> int:
        return self._bench.budget.seeds[:8][-1]

    def allocation(self) -> float:
        return self._costs()["A"]

    def free(self) -> float:
        return self._costs()["F"]

    def _costs(self) -> Costs:
        bench = self._bench
        way = Way(net=True, art=bench.ways[0].art)
        return bench.costs(way, bench.making.empty or next(iter(bench.making.scenarios.values()))[0])

    def versions(self) -> str:
        (part,) = self._bench.table.part
        versions = {self._bench.measure(Text(row))["rustc"][0] for row in part.rows}
        return ", ".join(sorted(versions))

    def refused(self) -> str:
        """On those that did not serve everything: their means are of less work."""
        bench, way = self._bench, self._bench.ways[0]
        counts = {
            f"{allocator} on {trace}": bench.measure(bench.board_run(way, allocator, names[0]))["kind"]
            .eq("O")
            .sum()
            for trace, names in bench.making.scenarios.items()
            for _, allocator in bench.board_rows(way)
        }
        refusals = [f"{who} {count:,}" for who, count in counts.items() if count]
        return f"Requests that were refused, of 2,500: {', '.join(refusals)}." if refusals else ""
