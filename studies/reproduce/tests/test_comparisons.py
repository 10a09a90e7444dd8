"""What the comparisons say, on figures worked out by hand."""

from __future__ import annotations

from typing import Any

from studies.reproduce.beside import Beside, MadeFigure, Remade, beside, rows
from studies.reproduce.conclusions import headline, sentences
from studies.reproduce.published import Contradiction, Source
from studies.reproduce.sections import section
from tests.tables import table

NAMES = {"A": "avl", "B": "best_fit", "C": "tlsf", "D": "heap_4", "E": "umm_malloc"}


def made(
    compared: str, printed: dict[str, Any], here: dict[str, MadeFigure | float], **more: object
) -> Beside:
    """A table of one column beside what came out here."""
    part = {"title": "p", "unit": "cycles", "columns": ["c"], "rows": {k: [v] for k, v in printed.items()}}
    table = {"name": "t", "title": "T", "place": "here", "compared": compared, "part": [part]}
    document = {"key": "k", "author": "a", "title": "b", "platform": "x", "names": NAMES, "table": [table]}
    source = Source.model_validate({**document, **more})
    figures = {
        ("p", row, "c"): figure if isinstance(figure, MadeFigure) else MadeFigure(figure, 10, 1)
        for row, figure in here.items()
    }
    return beside(source, source.table[0], (), Remade({"here": figures}, "a test"))


def test_exactly_counts_and_names_what_differs() -> None:
    pair = made("exactly", {"A": 3, "B": 4, "C": 0}, {"A": 3, "B": 5, "C": 0})
    assert headline(pair) == "2 of 3 equal"
    assert list(sentences(pair)) == ["2 of 3 figures are equal; not so B, c: 5, not 4."]


def test_differences_are_shares_of_the_published_figure() -> None:
    pair = made("as difference", {"A": 100, "B": 200, "C": 0}, {"A": 90, "B": 250, "C": 2})
    assert headline(pair) == "−10.0 to +25.0 %, +2.0 from zero (3 figures)"
    assert [row["deviation_percent"] for row in rows(pair)] == [-10, 25, None]


@table
def test_the_rank_correlation_is_the_textbooks(
    printed: tuple[int, ...], here: tuple[float, ...], order: str
) -> None:
    """Over the allocators that both have."""
    theirs = {**dict(zip("ABCD", printed, strict=False)), "X": 99}
    assert headline(made("by order", theirs, {**dict(zip("ABCD", here, strict=False)), "heap_2": 0})) == order


def test_a_range_holds_its_ends_and_nothing_beyond() -> None:
    def seeds(least: float, most: float) -> MadeFigure:
        return MadeFigure(least, 32, 1, least, most)

    here = {"A": seeds(5, 9), "B": seeds(5, 9), "C": seeds(5, 9)}
    result = made("by range", {"A": 5, "B": 9, "C": 10}, dict(here))
    assert [pair.within for pair in result.pairs] == [True, True, False]
    assert headline(result) == "2 of 3 within the range; too few to rank"
    assert next(sentences(result)).endswith("within the range here; outside: C on p, c.")


def test_a_misprint_is_marked_told_and_not_ranked() -> None:
    misprint = {"table": "t", "part": "p", "row": "E", "column": "c", "printed": 0, "should": 5, "why": "so"}
    printed = dict(zip("ABCDE", (1, 2, 3, 4, 0), strict=True))
    pair = made("by order", printed, dict(zip("ABCDE", (1, 2, 3, 4, 5), strict=True)), misprint=[misprint])
    assert headline(pair) == "ρ +1.00 (n = 4)"
    shown = section(pair)
    assert ["E", "published", "0 †", ""] in [list(line) for line in shown.grids[0].lines]
    assert "† E, c: the printed 0 should be 5: so." in shown.sentences


def test_a_table_that_nobody_makes_shows_what_is_published() -> None:
    source = made("by order", {"A": 1, "B": "cut off", "C": "-"}, {}).source
    pair = beside(source, source.table[0], (Contradiction("other", "p", "A", "stdv"),), None)
    assert headline(pair) == "not made here yet"
    assert [line[2] for line in section(pair).grids[0].lines] == ["1", "cut off"]
    assert [row["here"] for row in rows(pair)] == [None, None, None]
