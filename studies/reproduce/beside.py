"""Published figures beside those made here, figure by figure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from studies.reproduce.contradictions import Contradiction
from studies.reproduce.published import Misprint, Part, Printed, PublishedTable, Source
from studies.reproduce.remade import Found, Remade


@dataclass(frozen=True)
class Pair:
    """One figure, in one variant.

    `printed` is None where the publication has no such row or column, `found` where it was not made
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
    found: Found | None

    @property
    def published(self) -> float | None:
        """The printed figure, None where none can be read."""
        return None if isinstance(self.printed, str) else self.printed

    @property
    def difference(self) -> float | None:
        """Here less published."""
        if self.published is None or self.found is None:
            return None
        return self.found.value - self.published

    @property
    def deviation_percent(self) -> float | None:
        """The difference as a share of the published figure."""
        if self.difference is None or not self.published:
            return None
        return 100 * self.difference / self.published

    @property
    def within(self) -> bool | None:
        """Whether the published figure lies in the range of the seeds; None without a range."""
        if self.published is None or self.found is None or self.found.least is None:
            return None
        assert self.found.most is not None
        least, most = (
            edge + sign * self._rounding() for edge, sign in ((self.found.least, -1), (self.found.most, 1))
        )
        return least <= self.published <= most

    def _rounding(self) -> float:
        """Half of the last digit that is printed of a share."""
        return 0.005 if self.unit == "%" else 0.0


@dataclass(frozen=True)
class Beside:
    """A table beside what came out; `remade` is None if nobody can make it again, or did."""

    source: Source
    table: PublishedTable
    misprints: tuple[Misprint, ...]
    contradictions: tuple[Contradiction, ...]
    remade: Remade | None
    pairs: tuple[Pair, ...]

    def rows(self, part: Part) -> list[str]:
        """The publication's rows, then those that only are here."""
        here = [pair.row for pair in self.pairs if pair.part == part.title]
        return list(dict.fromkeys([*part.rows, *here]))

    def variants(self) -> tuple[str, ...]:
        return tuple(self.remade.variants) if self.remade else ()

    def of(self, part: Part, variant: str | None = None) -> list[Pair]:
        """The pairs of a part, in one variant if it is named."""
        return [
            pair
            for pair in self.pairs
            if pair.part == part.title and (variant is None or pair.variant == variant)
        ]


def beside(
    source: Source,
    table: PublishedTable,
    contradictions: tuple[Contradiction, ...],
    remade: Remade | None,
) -> Beside:
    """Puts the two beside each other; `contradictions` are those of the whole publication."""
    misprints = tuple(one for one in source.misprint if one.table == table.name)
    own = tuple(one for one in contradictions if one.table == table.name)
    made = Beside(source, table, misprints, own, remade, ())
    return Beside(source, table, misprints, own, remade, tuple(_pairs(made)))


def _pairs(made: Beside) -> Iterator[Pair]:
    doubtful = {(one.part, one.row, one.column) for one in made.misprints}
    doubtful |= {(one.part, one.row, "stdv") for one in made.contradictions}
    for variant in made.variants() or ("",):
        figures = made.remade.variants[variant] if made.remade else {}
        for part in made.table.part:
            further = [row for title, row, _ in figures if title == part.title]
            for row in dict.fromkeys([*part.rows, *further]):
                for column in part.columns:
                    place = part.title, row, column
                    printed = part.rows[row][part.columns.index(column)] if row in part.rows else None
                    found = figures.get(place)
                    if printed is None and found is None:
                        continue
                    yield Pair(
                        *place,
                        part.unit_of(column),
                        _allocator(made.source, part, row),
                        variant,
                        printed,
                        place in doubtful,
                        found,
                    )


def _allocator(source: Source, part: Part, row: str) -> str | None:
    """Of a row that is no allocator's, None."""
    return source.names.get(row) or (None if row in part.rows else row)
