"""What the pages say of each table, in words: one text for Markdown and for HTML."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from studies.reproduce import beside
from studies.reproduce.beside import Beside
from studies.reproduce.conclusions import Conclusion, conclusions, headline, sentences, summary
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
    reason: str
    headline: str
    verdicts: str
    conclusions: Sequence[Conclusion]
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
    sources = {made.source.key: made.source for made in tables}
    return [
        Chapter(source, [section(made) for made in tables if made.source.key == key])
        for key, source in sources.items()
    ]


def section(made: Beside) -> Section:
    """All that is said of one table."""
    table, concluded = made.table, conclusions(made)
    return Section(
        *(table.name, table.title, table.place, table.compared, table.reason),
        headline(made),
        summary(concluded),
        concluded,
        made.remade.made_from if made.remade else "",
        _placement(made),
        list(_remarks(made)),
        [_grid(made, part) for part in table.part],
    )


def _placement(made: Beside) -> str:
    """How many placements of the code the cycles are of; empty where nothing was made."""
    counts = {pair.here.placements for pair in made.pairs if pair.here}
    if not counts:
        return ""
    if max(counts) == 0:
        return "No figure here depends on where the code lies."
    if max(counts) == 1:
        return "Cycles are of one image each, and luck with where its code lies is in them."
    further = " Those of allocators that the publication does not have are of one image."
    return (
        f"Cycles are of {max(counts)} placements of the code: the median that occurred, and in brackets the "
        f"least and the greatest.{further if 1 in counts else ''}"
    )


def _remarks(made: Beside) -> Iterator[str]:
    yield from (f"{sentence[:1].upper()}{sentence[1:]}" for sentence in sentences(made))
    yield from made.remade.notes if made.remade else ()
    yield from made.table.remarks
    for misprint in made.misprints:
        should = misprint.should
        should_be = "cannot be" if should is None else f"should be {beside.figure(should, '')}"
        yield (
            f"{beside.DOUBTFUL} {misprint.row}, {misprint.column}: the printed "
            f"{beside.figure(misprint.printed, '')} {should_be}: {misprint.why}."
        )
    deviations = sum("stdv" in contradiction.rule for contradiction in made.contradictions)
    if deviations:
        yield (
            f"{beside.DOUBTFUL} {deviations} of the printed standard deviations cannot be: no numbers of "
            "this mean between this minimum and this maximum have one above "
            "√((max − avg) (avg − min)). They are not compared."
        )


def _grid(made: Beside, part: Part) -> Grid:
    steps = {pair.column: pair.here.resolution for pair in made.of(part) if pair.here}
    caption = part.unit
    if len(set(steps.values())) == 1:
        caption += f"; resolution {next(iter(steps.values())):.3g}"
    elif steps:
        listed = (f"{column} {steps[column]:.3g}" for column in part.columns if column in steps)
        caption += f"; resolution: {', '.join(listed)}"
    headings = ["", "", *part.columns, *(["n"] if made.remade else [])]
    lines = [cells for row in made.rows(part) for cells in _lines(made, part, row)]
    return Grid(part.title, caption, headings, lines)


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
        if any(pair.here for pair in pairs.values()):
            cells = [
                beside.cell(pairs[column], made.table.compared) if column in pairs else beside.MISSING
                for column in part.columns
            ]
            yield [called, variant, *cells, beside.counts(pairs.values())]
            called = ""
