"""What is said of each table made again: as data, which the repository keeps, and as Markdown."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from base.files import results as csv_files
from studies.reproduce import beside, published
from studies.reproduce.beside import Beside
from studies.reproduce.conclusions import conclusions, headline, summary
from studies.reproduce.published import Part

SUMMARY = "reproduced.csv"
FOLDER = "reproduced"
_SUMMARY_COLUMNS = ("table", "what", "conclusions", "compared", "figures")

_TEMPLATES = Environment(
    loader=FileSystemLoader(Path(__file__).parent),
    autoescape=False,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)


def results(tables: Sequence[Beside]) -> dict[str, str]:
    """The content of each file in docs/results, by its path: the summary of all tables as CSV, the
    sections of each publication as JSON. Equal results give equal text.
    """
    rows = (
        (made.table.name, made.table.title, summary(conclusions(made)), made.table.compared, headline(made))
        for made in tables
    )
    files = {SUMMARY: csv_files.text(_SUMMARY_COLUMNS, rows)}
    for key in dict.fromkeys(made.source.key for made in tables):
        sections = [section(made) for made in tables if made.source.key == key]
        files[f"{FOLDER}/{key}.json"] = json.dumps(sections, ensure_ascii=False, indent=1) + "\n"
    return files


def markdown(path: Path) -> str:
    """A publication's file of results as a page."""
    source = published.source(path.stem)
    sections = json.loads(path.read_text(encoding="utf-8"))
    tables = {table.name: table for table in source.table}
    return _TEMPLATES.get_template("chapter.md.jinja").render(source=source, sections=sections, tables=tables)


def section(made: Beside) -> dict[str, Any]:
    """What came out of one table; what is typed in `published` is left out but for the figures."""
    return {
        "name": made.table.name,
        "conclusions": list(map(asdict, conclusions(made))),
        "made_from": made.remade.made_from,
        "placement": _placement(made),
        "sentences": list(_remarks(made)),
        "grids": [_grid(made, part) for part in made.table.part],
    }


def _placement(made: Beside) -> str:
    """How many placements of the code the cycles are of; empty where there are none."""
    count = max((pair.here.placements for pair in made.pairs if pair.here), default=0)
    if count < 2:
        return "Cycles are of one image each, and luck with where its code lies is in them." if count else ""
    return (
        f"Cycles are of {count} placements of the code: the median that occurred, and in brackets the "
        f"least and the greatest. Those of allocators that the publication does not have are of one image."
    )


def _remarks(made: Beside) -> Iterator[str]:
    yield from made.remade.notes
    yield from made.table.remarks
    for misprint in made.misprints:
        should = misprint.should
        should_be = "cannot be" if should is None else f"should be {beside.figure(should, '')}"
        yield (
            f"{beside.DOUBTFUL} {misprint.row}, {misprint.column}: the printed "
            f"{beside.figure(misprint.printed, '')} {should_be}: {misprint.why}."
        )
    if deviations := len(list(published.impossible_deviations(made.table))):
        yield (
            f"{beside.DOUBTFUL} {deviations} of the printed standard deviations cannot be: no numbers of "
            "this mean between this minimum and this maximum have one above "
            "√((max − avg) (avg − min)). They are not compared."
        )


def _grid(made: Beside, part: Part) -> Mapping[str, Any]:
    """A part of a table. The first two columns say whose line it is: of which row, and whether it
    is the published one or a variant of what was made here.
    """
    steps = {pair.column: pair.here.resolution for pair in made.of(part) if pair.here}
    caption = part.unit
    if len(set(steps.values())) == 1:
        caption += f"; resolution {next(iter(steps.values())):.3g}"
    elif steps:
        of_columns = (f"{column} {steps[column]:.3g}" for column in part.columns if column in steps)
        caption += f"; resolution: {', '.join(of_columns)}"
    return {
        "title": part.title,
        "caption": caption,
        "headings": ["", "", *part.columns, *(["n"] if made.remade.variants else [])],
        "lines": list(_lines(made, part)),
    }


def _lines(made: Beside, part: Part) -> Iterator[list[str]]:
    """Of each row the published figures, then each variant made here."""
    for row in dict.fromkeys(pair.row for pair in made.of(part)):
        own = [pair for pair in made.of(part) if pair.row == row]
        printed = {pair.column: beside.printed(pair) for pair in own}
        called = row
        if any(printed.values()):
            yield [called, "published", *printed.values(), *([""] if made.remade.variants else [])]
            called = ""
        for variant in made.remade.variants:
            pairs = {pair.column: pair for pair in own if pair.variant == variant}
            counts = [f"{pair.here.n:,}" for pair in pairs.values() if pair.here]
            if counts:
                cells = [
                    beside.cell(pairs[column], made.table.compared) if column in pairs else beside.MISSING
                    for column in part.columns
                ]
                yield [called, variant, *cells, ", ".join(counts if len(set(counts)) > 1 else counts[:1])]
                called = ""
