"""What the pages say of each table, in words: one text for Markdown and for HTML."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from studies.reproduce import beside
from studies.reproduce.beside import Beside, Pair
from studies.reproduce.comparisons import headline, sentences
from studies.reproduce.conclusions import Conclusion, conclusions, summary
from studies.reproduce.published import Part, Source


@dataclass(frozen=True)
class Grid:
    """A part of a table.

    The first two columns say whose line it is: of which row, and whether it is the published one or
    a variant of what was made here.
    """

    title: str
    caption: str
    headings: Sequence[str]
    lines: Sequence[Sequence[str]]


@dataclass(frozen=True)
class Section:
    """One table of a publication."""

    name: str
    title: str
    place: str
    compared: str
    headline: str
    verdicts: str
    conclusions: Sequence[Conclusion]
    reason: str
    made_from: str
    placement: str
    sentences: Sequence[str]
    grids: Sequence[Grid]


@dataclass(frozen=True)
class Chapter:
    """One publication."""

    source: Source
    sections: Sequence[Section]

    @property
    def called(self) -> str:
        """Its names of allocators, and ours."""
        return ", ".join(f"{theirs} {ours}" for theirs, ours in self.source.names.items())


def chapters(tables: Sequence[Beside]) -> list[Chapter]:
    """All that is said, by publication."""
    sources = {one.source.key: one.source for one in tables}
    return [
        Chapter(one, [section(made) for made in tables if made.source.key == key])
        for key, one in sources.items()
    ]


def section(made: Beside) -> Section:
    """All that is said of one table."""
    concluded = conclusions(made)
    return Section(
        made.table.name,
        made.table.title,
        made.table.place,
        made.table.compared,
        headline(made),
        summary(concluded),
        concluded,
        made.table.reason,
        made.remade.made_from if made.remade else "",
        _placement(made),
        list(_told(made)),
        [_grid(made, part) for part in made.table.part],
    )


def _placement(made: Beside) -> str:
    """How many placements of the code the cycles are of; empty where nothing was made."""
    counts = {pair.found.placements for pair in made.pairs if pair.found}
    if not counts:
        return ""
    if max(counts) == 0:
        return "No figure here depends on where the code lies."
    if max(counts) == 1:
        return "Cycles are of one image each, and luck with where its code lies is in them."
    told = (
        f"Cycles are of {max(counts)} placements of the code: the median that occurred, and in brackets the "
        "least and the greatest."
    )
    further = " Those of allocators that the publication does not have are of one image."
    return told + (further if 1 in counts else "")


def _told(made: Beside) -> Iterator[str]:
    yield from (f"{one[:1].upper()}{one[1:]}" for one in sentences(made))
    yield from made.remade.notes if made.remade else ()
    yield from made.table.remarks
    for one in made.misprints:
        should = "cannot be" if one.should is None else f"should be {beside.figure(one.should, '')}"
        yield (
            f"{beside.DOUBTFUL} {one.row}, {one.column}: the printed {beside.figure(one.printed, '')} "
            f"{should}: {one.why}."
        )
    deviations = sum("stdv" in one.rule for one in made.contradictions)
    if deviations:
        yield (
            f"{beside.DOUBTFUL} {deviations} of the printed standard deviations cannot be: no numbers of "
            "this mean between this minimum and this maximum have one above "
            "√((max − avg) (avg − min)). They are not compared."
        )


def _grid(made: Beside, part: Part) -> Grid:
    headings = ["", "", *part.columns, *(["n"] if made.remade else [])]
    lines = [cells for row in made.rows(part) for cells in _lines(made, part, row)]
    return Grid(part.title, _caption(made, part), headings, lines)


def _lines(made: Beside, part: Part, row: str) -> Iterator[list[str]]:
    """The lines of a row: the published figures, then each variant made here."""
    own = [pair for pair in made.of(part) if pair.row == row]
    printed = {pair.column: beside.printed(pair) for pair in own}
    called = row
    if any(printed.values()):
        yield [called, "published", *printed.values(), *([""] if made.remade else [])]
        called = ""
    for variant in made.variants():
        pairs = {pair.column: pair for pair in own if pair.variant == variant}
        found = [pairs.get(column) for column in part.columns]
        if any(pair and pair.found for pair in found):
            cells = [beside.found(pair, made.table.compared) if pair else beside.MISSING for pair in found]
            yield [called, variant, *cells, beside.counts(pairs.values())]
            called = ""


def _caption(made: Beside, part: Part) -> str:
    pairs = [pair for pair in made.of(part) if pair.found]
    return f"{part.unit}; {_steps(part, pairs)}" if pairs else part.unit


def _steps(part: Part, pairs: Iterable[Pair]) -> str:
    """The worth of one step of the figures, in words: one for all, or by column."""
    steps = {pair.column: pair.found.resolution for pair in pairs if pair.found}
    if len(set(steps.values())) == 1:
        return f"resolution {next(iter(steps.values())):.3g}"
    return "resolution: " + ", ".join(
        f"{column} {steps[column]:.3g}" for column in part.columns if column in steps
    )
