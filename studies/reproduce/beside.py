"""The figures made here for a table, and published ones beside them: as pairs, words and rows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import product
from statistics import median_low
from typing import Any, TypeAlias

from base.files import results
from studies.reproduce.published import (
    Compared,
    Misprint,
    Part,
    Printed,
    PublishedTable,
    Source,
    impossible_deviations,
)


@dataclass(frozen=True)
class MadeFigure:
    """A figure that was made here, in the unit of its column.

    `value` is one that occurred, or a mean; of several seeds or placements the median that
    occurred, between `least` and `most`. `n` samples stand behind it, each of them told to within
    `resolution`. Cycles are of as many `placements` of the code; 0: it does not matter where the
    code lies.
    """

    value: float
    n: int
    resolution: float
    least: float | None = None
    most: float | None = None
    samples: Sequence[float] = ()
    """Of each seed, in their order."""
    placements: int = 0


Place: TypeAlias = tuple[str, str, str]
"""Part, row and column. The row is the publication's word, or an allocator here that it lacks."""

Figures: TypeAlias = Mapping[Place, MadeFigure]


@dataclass(frozen=True)
class Remade:
    """A table made again. `variants` are the ways in which it was, such as a whole call and its
    critical section; the first is what compares best. `made_from` says what was run: scenario,
    seeds, board. `notes` are sentences on what came out. `judged` are the variants that a
    conclusion must agree in, for the publication does not say which it is; none: the first.
    `witnesses` are figures, by name, that show the cause of what came out.
    """

    variants: Mapping[str, Figures]
    made_from: str
    notes: Sequence[str] = ()
    judged: Sequence[str] = ()
    witnesses: Mapping[str, MadeFigure] = field(default_factory=dict)


def over_seeds(values: Iterable[float | None], resolution: float) -> MadeFigure | None:
    """The median that occurred, and the range. None where a seed lacks the figure."""
    samples = list(values)
    given = [value for value in samples if value is not None]
    if not given or len(given) < len(samples):
        return None
    return MadeFigure(median_low(given), len(given), resolution, min(given), max(given), given)


def over_placements(figures: Sequence[MadeFigure]) -> MadeFigure:
    """A figure of cycles at each placement: the median that occurred, and the range of several."""
    first, *others = figures
    if not others:
        return replace(first, placements=1)
    values = [figure.value for figure in figures]
    return replace(
        first, value=median_low(values), least=min(values), most=max(values), placements=len(values)
    )


# Published figures beside those made here, figure by figure: as pairs, in words, as rows.


@dataclass(frozen=True)
class Pair:
    """One figure, in one variant.

    `printed` is None where the publication has no such row or column, `here` where it was not made
    here. A `doubtful` figure is printed, but contradicts others.
    """

    part: str
    row: str
    column: str
    unit: str
    allocator: str | None
    variant: str
    printed: Printed | None
    doubtful: bool
    here: MadeFigure | None

    @property
    def published(self) -> float | None:
        """The printed figure, None where none can be read."""
        return None if isinstance(self.printed, str) else self.printed

    @property
    def difference(self) -> float | None:
        """Here less published."""
        if self.published is None or self.here is None:
            return None
        return self.here.value - self.published

    @property
    def deviation_percent(self) -> float | None:
        """The difference as a share of the published figure."""
        if self.difference is None or not self.published:
            return None
        return 100 * self.difference / self.published

    @property
    def within(self) -> bool | None:
        """True if the published figure lies in the range of seeds or placements; None without."""
        if self.published is None or self.here is None or self.here.least is None:
            return None
        assert self.here.most is not None
        half_a_digit = 0.005 if self.unit == "%" else 0.0
        return self.here.least - half_a_digit <= self.published <= self.here.most + half_a_digit


@dataclass(frozen=True)
class Beside:
    """A table beside what came out; `remade` has no variants if it was not made."""

    source: Source
    table: PublishedTable
    remade: Remade = Remade({}, "")

    @property
    def misprints(self) -> list[Misprint]:
        return [misprint for misprint in self.source.misprint if misprint.table == self.table.name]

    @cached_property
    def pairs(self) -> list[Pair]:
        """Of each variant and part the publication's rows, then those that only are here."""
        doubtful = {(misprint.part, misprint.row, misprint.column) for misprint in self.misprints}
        doubtful |= {(part.title, row, "stdv") for part, row in impossible_deviations(self.table)}
        pairs = []
        for (variant, figures), part in product((self.remade.variants or {"": {}}).items(), self.table.part):
            further = [row for title, row, _ in figures if title == part.title]
            for row in dict.fromkeys([*part.rows, *further]):
                figures_printed = part.rows.get(row, [None] * len(part.columns))
                for column, printed in zip(part.columns, figures_printed, strict=True):
                    place = part.title, row, column
                    here = figures.get(place)
                    if printed is not None or here is not None:
                        allocator = self.source.names.get(row) or (None if row in part.rows else row)
                        unit = part.unit_of(column)
                        pairs.append(Pair(*place, unit, allocator, variant, printed, place in doubtful, here))
        return pairs

    def of(self, part: Part, variant: str | None = None) -> list[Pair]:
        """The pairs of a part, in one variant if it is named."""
        return [
            pair
            for pair in self.pairs
            if pair.part == part.title and (variant is None or pair.variant == variant)
        ]


DOUBTFUL = "†"
MISSING = "–"
BYTES = "bytes"
"""Of these the difference is told, not the share: images are not one another's multiples."""


def figure(value: float | None, unit: str) -> str:
    """A share with two decimals; all else grouped, with one decimal where it is no whole number."""
    if value is None:
        return MISSING
    form = ",.2f" if unit == "%" else ",.0f" if float(value).is_integer() else ",.1f"
    return f"{value:{form}}".replace("-", "−")


def signed(value: float, form: str) -> str:
    """The value in words with its sign, a typographic minus."""
    return f"{value:+{form}}".replace("-", "−")


def printed(pair: Pair) -> str:
    """The figure as the publication prints it; empty if it has none."""
    if pair.printed is None or pair.printed == _NONE_PRINTED:
        return ""
    if isinstance(pair.printed, str):
        return pair.printed
    return figure(pair.printed, pair.unit) + (f" {DOUBTFUL}" if pair.doubtful else "")


_NONE_PRINTED = "-"


def cell(pair: Pair, compared: Compared) -> str:
    """The result in words: the range of seeds, or the difference from the published figure."""
    if pair.here is None:
        return MISSING
    if pair.difference is None or compared not in ("exactly", "as difference"):
        return ranged(pair.here, pair.unit)
    if pair.difference == 0:
        return ranged(pair.here, pair.unit, "=")
    if compared == "exactly" or pair.unit == BYTES or pair.deviation_percent is None:
        form = ",.4g" if pair.unit != BYTES else ",.0f"
        return ranged(pair.here, pair.unit, signed(pair.difference, form))
    return ranged(pair.here, pair.unit, f"{signed(pair.deviation_percent, '.1f')} %")


def ranged(made: MadeFigure, unit: str, more: str = "") -> str:
    """The value, and in brackets the range of several seeds or placements behind it, and `more`."""
    middle, least, most = (figure(value, unit) for value in (made.value, made.least, made.most))
    edges = "" if made.least is None or least == middle == most else f"{least}–{most}"
    behind = "; ".join(words for words in (edges, more) if words)
    return f"{middle}{f' ({behind})' if behind else ''}"


COLUMNS = (
    *("table", "place", "part", "row", "column", "allocator", "unit", "compared"),
    *("published", "doubtful", "variant", "here", "least", "most", "n", "resolution", "placements"),
    *("difference", "deviation_percent", "within", "made_from"),
)


def rows(made: Beside) -> list[dict[str, Any]]:
    """One row for each figure, and for each variant of it."""
    about = {
        "table": made.table.name,
        "place": made.table.place,
        "compared": made.table.compared,
        "made_from": made.remade.made_from or made.table.reason or None,
    }
    figures = []
    for pair in made.pairs:
        here = vars(pair.here) if pair.here else {}
        of_pair = {"published": pair.printed, "variant": pair.variant or None, "here": here.get("value")}
        row = {**here, **vars(pair), **about, **of_pair}
        figures.append({name: row[name] if name in row else getattr(pair, name, None) for name in COLUMNS})
    return figures


def as_csv(made: Beside) -> str:
    """The rows with a heading. What is missing is empty."""
    return results.text(COLUMNS, (list(row.values()) for row in rows(made)))
