"""What the comparison of a table says: by difference, by order, or by range."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from math import isnan

import scipy

from studies.reproduce.beside import BYTES, Beside, Pair, figure, listed, signed
from studies.reproduce.published import Part

LEAST_PAIRS = 4
"""An order of fewer says nothing."""

REACHED, BOUND = "used", "by the formula"
"""Columns of a table that is compared as a bound."""

_MOST_LISTED = 8


def headline(made: Beside) -> str:
    """The result in some words, for the list of all tables."""
    if made.table.compared == "nothing":
        return "nothing to compare"
    if made.remade is None:
        return "not made here yet"
    if made.table.compared == "as a bound":
        return _bounded(made)
    first = [pair for pair in made.pairs if pair.variant == made.variants()[0]]
    compared = [pair for pair in first if pair.difference is not None]
    if made.table.compared == "exactly":
        equal = sum(pair.difference == 0 for pair in compared)
        return f"{_of(equal, len(compared))} equal"
    if made.table.compared == "as difference":
        return f"{_spread(compared)} ({len(compared)} figures)"
    orders = [order for _, order in _orders(made, made.variants()[0])]
    ranks = f"ρ {_span(orders)}" if orders else "too few to rank"
    if made.table.compared == "by order":
        return ranks
    within = [pair.within for pair in compared if pair.within is not None]
    return f"{_of(sum(within), len(within))} within the range; {ranks}"


def sentences(made: Beside) -> Iterator[str]:
    """Sentences on the comparison, to stand below the table."""
    if made.remade is None:
        return
    for variant in made.variants():
        own = [pair for pair in made.pairs if pair.variant == variant and pair.difference is not None]
        led = f"{variant}: " if len(made.variants()) > 1 else ""
        if made.table.compared == "exactly":
            yield _exactly(led, own)
        elif made.table.compared == "as difference":
            yield f"{led}from the published figures: {_spread(own)}."
        elif made.table.compared == "by range":
            yield _range(led, own)
        elif made.table.compared == "as a bound":
            yield f"{_bounded(made)}."
        if made.table.compared in ("by order", "by range"):
            yield from _order_sentences(led, made, variant)


def _bounded(made: Beside) -> str:
    """A sentence on the last part: how many used bytes lie within the formula's."""
    values = {(pair.row, pair.column): pair.here.value for pair in made.of(made.table.part[-1]) if pair.here}
    bounds = {row: value for (row, column), value in values.items() if column == BOUND}
    within = sum(values[row, REACHED] <= value for row, value in bounds.items())
    return f"{_of(within, len(bounds))} within the formula"


def _exactly(led: str, own: Sequence[Pair]) -> str:
    unequal = [pair for pair in own if pair.difference]
    if not unequal:
        return f"{led}all {len(own)} figures are equal."
    words = listed(map(_not_equal, unequal), _MOST_LISTED)
    return f"{led}{_of(len(own) - len(unequal), len(own))} figures are equal; not so {words}."


def _not_equal(pair: Pair) -> str:
    assert pair.here is not None
    here, published = figure(pair.here.value, pair.unit), figure(pair.published, pair.unit)
    return f"{pair.row}, {pair.column}: {here}, not {published}"


def _range(led: str, own: Sequence[Pair]) -> str:
    ranged = [pair for pair in own if pair.within is not None]
    outside = [f"{pair.row} on {pair.part}, {pair.column}" for pair in ranged if not pair.within]
    words = f"{led}{_of(len(ranged) - len(outside), len(ranged))} published figures lie within the range here"
    return f"{words}." if not outside else f"{words}; outside: {listed(outside, _MOST_LISTED)}."


def _order_sentences(led: str, made: Beside, variant: str) -> Iterator[str]:
    for part in made.table.part:
        ranks = [f"{column} {_rank(order)}" for column, order in _orders_of(made, part, variant)]
        if ranks:
            title = f"{part.title}, " if len(made.table.part) > 1 else ""
            over = "the figures" if len(part.rows) == 1 else "the allocators"
            yield f"{led}{title}Spearman's ρ over {over}: {'; '.join(ranks)}."


Order = tuple[float, int]
"""Spearman's coefficient, not a number where all are equal, and of how many."""


def _orders(made: Beside, variant: str) -> list[tuple[str, Order]]:
    return [order for part in made.table.part for order in _orders_of(made, part, variant)]


def _orders_of(made: Beside, part: Part, variant: str) -> list[tuple[str, Order]]:
    """The order of each column, over the rows that both have, without doubtful figures.

    A part of one row has one order, of its columns.
    """
    pairs = [pair for pair in made.of(part, variant) if pair.difference is not None and not pair.doubtful]
    if len(part.rows) == 1:
        groups = {"all figures": pairs}
    else:
        groups = {
            column: [pair for pair in pairs if pair.column == column]
            for column in part.columns
            if all(made.source.names.get(row) for row in _rows(made, part, column))
        }
    return [
        (name, (_spearman(group), len(group))) for name, group in groups.items() if len(group) >= LEAST_PAIRS
    ]


def _rows(made: Beside, part: Part, column: str) -> Iterable[str]:
    """The rows that are compared."""
    return (
        pair.row
        for pair in made.of(part, made.variants()[0])
        if pair.column == column and pair.difference is not None
    )


def _spearman(pairs: Sequence[Pair]) -> float:
    theirs = [pair.published for pair in pairs]
    ours = [pair.here.value for pair in pairs if pair.here]
    if len(set(theirs)) == 1 or len(set(ours)) == 1:
        return float("nan")
    return float(scipy.stats.spearmanr(theirs, ours).statistic)


def _rank(order: Order) -> str:
    coefficient, count = order
    return f"{'– (all equal)' if isnan(coefficient) else signed(coefficient, '.2f')} (n = {count})"


def _span(orders: Sequence[Order]) -> str:
    values = [coefficient for coefficient, _ in orders if not isnan(coefficient)]
    counts = sorted({count for _, count in orders})
    numbers = "–".join(str(count) for count in dict.fromkeys((counts[0], counts[-1])))
    if not values:
        return f"– (n = {numbers})"
    return f"{_edges(values, '.2f')} (n = {numbers})"


def _spread(own: Sequence[Pair]) -> str:
    """The least and the greatest deviation; of bytes and of published zeros the difference."""
    equal = sum(pair.difference == 0 for pair in own)
    bytes_ = [pair.difference for pair in own if pair.difference is not None and pair.unit == BYTES]
    if bytes_:
        return f"{_of(equal, len(own))} equal, {_edges(bytes_, ',.0f')} bytes"
    shares = [pair.deviation_percent for pair in own if pair.deviation_percent is not None]
    zeros = [pair.difference for pair in own if pair.published == 0 and pair.difference]
    words = [f"{_edges(shares, '.1f')} %"] if shares else []
    words += [f"{signed(max(zeros, key=abs), '.1f')} from zero"] if zeros else []
    return ", ".join(words) or "none"


def _edges(values: Sequence[float], form: str) -> str:
    return " to ".join(dict.fromkeys((signed(min(values), form), signed(max(values), form))))


def _of(some: int, all_of_them: int) -> str:
    return f"all {all_of_them}" if some == all_of_them else f"{some} of {all_of_them}"
