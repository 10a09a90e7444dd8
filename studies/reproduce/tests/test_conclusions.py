"""What is said of figures: how far they agree, and the word on each conclusion."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import pytest

from studies.reproduce import published
from studies.reproduce.beside import Beside, Figures, MadeFigure, Remade, over_placements, rows
from studies.reproduce.conclusions import conclusions, headline, judge
from studies.reproduce.page import section
from studies.reproduce.published import Source
from tests.tables import table

CLAIMS = [(table, claim) for source in published.sources() for table in source.table for claim in table.claim]


def made(name: str, figure: Callable[[float], float] = lambda value: value, **more: object) -> Beside:
    """A table of which came out what is published, each figure changed by `figure`."""
    source, table = published.find(name)
    here = {
        (part.title, row, column): MadeFigure(figure(value), 10, 1)
        for part in table.part
        for row in part.rows
        for column in part.columns
        if (value := part.printed(row, column)) is not None
    }
    return Beside(source, table, Remade({"here": here}, "a test", **more))  # type: ignore[arg-type]


def planted(
    pair: Beside, row: str, column: str, value: float, variants: Mapping[str, Figures] = {}
) -> Beside:
    """The same with one figure changed in its first part."""
    place = pair.table.part[0].title, row, column
    here = {**pair.remade.variants["here"], place: MadeFigure(value, 10, 1)}
    return Beside(pair.source, pair.table, replace(pair.remade, variants={"here": here, **variants}))


def words(pair: Beside) -> list[str]:
    return [conclusion.verdict for conclusion in conclusions(pair)]


def test_a_planted_measurement_changes_the_word() -> None:
    """TLSF's p99 of 468 is below SEGLIST's 490; 491 is above it, and 490 neither."""
    pair = made("article-9")
    assert words(planted(pair, "TLSF", "p99", 491))[0] == "reverses"
    assert words(planted(pair, "TLSF", "p99", 490))[0] == "cannot be told"
    assert words(planted(pair, "TLSF", "p99", 489))[0] == "holds"


def test_a_difference_below_the_resolution_cannot_be_told() -> None:
    """22 cycles apart, told to within half a step of each: 10 each, or 12 each."""
    assert judge(MadeFigure(468, 10, 20), MadeFigure(490, 10, 20)) == "holds"
    assert judge(MadeFigure(468, 10, 24), MadeFigure(490, 10, 24)) == "cannot be told"


def test_what_a_publication_leaves_open_must_agree() -> None:
    """One of two choices says the reverse: no word can be given, and both are named."""
    pair = made("article-9", judged=("here", "other"))
    other = planted(pair, "TLSF", "p99", 600).remade
    both = planted(pair, "TLSF", "p99", 468, {"other": other.variants["here"]})
    first = conclusions(both)[0]
    assert first.verdict == "cannot be told"
    assert first.evidence == "TLSF 468, SEGLIST 490 (p99) [here]; but other: reverses (first: holds)."


def test_of_many_comparisons_all_must_hold_and_more_than_half_reverse() -> None:
    """thesis-6: Half Tree below Conte's TLSF on four traces."""
    pair = made("thesis-6")
    claim = 0
    assert words(pair)[claim] == "holds"
    for column, word in zip(
        ("Small", "Large", "Random", "Typical"),
        ("cannot be told", "cannot be told", "reverses", "reverses"),
        strict=True,
    ):
        pair = planted(pair, "Half Tree", column, 999)
        assert words(pair)[claim] == word


def test_printed_figures_hold_only_if_all_are_equal() -> None:
    pair = made("deck2-ranges")
    assert words(pair) == ["holds"]
    assert words(planted(pair, "(10, 5)", "first", 1184)) == ["reverses"]


def test_a_cause_is_told_only_where_figures_here_show_it() -> None:
    def cause(of_tlsf: float) -> str:
        witnesses = {
            "instructions of SEGLIST": MadeFigure(191, 1, 1),
            "instructions of TLSF": MadeFigure(of_tlsf, 1, 1),
        }
        return conclusions(planted(made("article-9", witnesses=witnesses), "TLSF", "p99", 491))[0].cause

    assert "216 instructions and SEGLIST's 191" in cause(216)
    assert cause(190) == ""
    assert conclusions(planted(made("article-9"), "TLSF", "p99", 491))[0].cause == ""


def test_a_table_that_was_not_made_tells_nothing() -> None:
    source, table = published.find("thesis-3")
    (conclusion,) = conclusions(Beside(source, table))
    assert (conclusion.verdict, conclusion.says) == (
        "cannot be told",
        "Half Tree outperforms Buddy on the trace stable.",
    )
    assert conclusion.evidence.startswith("The traces were recorded")


@table
def test_seeds_are_compared_one_by_one(below: int, word: str) -> None:
    """Of 32 seeds. Two-sided binomial probabilities: 24 or 8 of 32 have 0.7 %, 22 of 32 has 5 %.

    The medians are the same in all of these: only pairs tell.
    """
    lesser = tuple(float(seed) for seed in range(32))
    greater = tuple(seed + (0.5 if number < below else -0.5) for number, seed in enumerate(lesser))
    below_, above = (MadeFigure(15, 32, 1, 0, 32, number) for number in (lesser, greater))
    assert judge(below_, above) == word


@pytest.mark.parametrize("name", sorted({table.name for table, _ in CLAIMS}))
def test_what_is_printed_bears_out_what_is_concluded(name: str) -> None:
    """No claim is put into a publication's mouth that its own figures do not show."""
    _, table = published.find(name)
    for claim, conclusion in zip(table.claim, conclusions(made(name)), strict=True):
        states = bool(claim.ascending or claim.equal or claim.printed)
        if states and not conclusion.evidence.startswith("Nothing of it"):
            assert conclusion.verdict == "holds", conclusion


NAMES = {"A": "avl", "B": "best_fit", "C": "tlsf", "D": "heap_4", "E": "umm_malloc"}


def column(
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
    return Beside(source, source.table[0], Remade({"here": figures}, "a test"))


def test_exactly_counts_what_differs() -> None:
    pair = column("exactly", {"A": 3, "B": 4, "C": 0}, {"A": 3, "B": 5, "C": 0})
    assert headline(pair) == "2 of 3 equal"


def test_differences_are_shares_of_the_published_figure() -> None:
    pair = column("as difference", {"A": 100, "B": 200, "C": 0}, {"A": 90, "B": 250, "C": 2})
    assert headline(pair) == "−10.0 to +25.0 %, +2.0 from zero (3 figures)"
    assert [row["deviation_percent"] for row in rows(pair)] == [-10, 25, None]


@table
def test_the_rank_correlation_is_the_textbooks(
    printed: tuple[int, ...], here: tuple[float, ...], order: str
) -> None:
    """Over the allocators that both have."""
    theirs = {**dict(zip("ABCD", printed, strict=False)), "X": 99}
    assert (
        headline(column("by order", theirs, {**dict(zip("ABCD", here, strict=False)), "heap_2": 0})) == order
    )


def test_a_range_holds_its_ends_and_nothing_beyond() -> None:
    def seeds(least: float, most: float) -> MadeFigure:
        return MadeFigure(least, 32, 1, least, most)

    here = {"A": seeds(5, 9), "B": seeds(5, 9), "C": seeds(5, 9)}
    result = column("by range", {"A": 5, "B": 9, "C": 10}, dict(here))
    assert [pair.within for pair in result.pairs] == [True, True, False]
    assert headline(result) == "2 of 3 within the range; too few to rank"


def test_a_misprint_is_marked_told_and_not_ranked() -> None:
    misprint = {"table": "t", "part": "p", "row": "E", "column": "c", "printed": 0, "should": 5, "why": "so"}
    printed = dict(zip("ABCDE", (1, 2, 3, 4, 0), strict=True))
    pair = column("by order", printed, dict(zip("ABCDE", (1, 2, 3, 4, 5), strict=True)), misprint=[misprint])
    assert headline(pair) == "ρ +1.00 (n = 4)"
    shown = section(pair)
    assert ["E", "published", "0 †", ""] in [list(line) for line in shown["grids"][0]["lines"]]
    assert "† E, c: the printed 0 should be 5: so." in shown["sentences"]


def test_a_table_that_nobody_makes_shows_what_is_published() -> None:
    source = column("by order", {"A": 1, "B": "cut off", "C": "-"}, {}).source
    pair = Beside(source, source.table[0])
    assert headline(pair) == "not made here yet"
    assert [line[2] for line in section(pair)["grids"][0]["lines"]] == ["1", "cut off"]
    assert [row["here"] for row in rows(pair)] == [None, None, None]


def test_of_placements_the_median_that_occurred_is_told() -> None:
    figures = [MadeFigure(value, 7, 1) for value in (30, 10, 40, 20)]
    assert over_placements(figures) == MadeFigure(20, 7, 1, 10, 40, placements=4)
    assert over_placements(figures[:1]) == MadeFigure(30, 7, 1, placements=1)


def placed(value: float, least: float, most: float) -> MadeFigure:
    return MadeFigure(value, 10, 1, least, most, placements=16)


@table
def test_ranges_that_meet_tell_nothing(least: float, word: str) -> None:
    """Of whole cycles: from 460 to 478, and from 479 on, no place turns the order round."""
    assert judge(placed(468, 460, 478), placed(490, least, 500)) == word
    assert judge(replace(placed(468, 460, 478), placements=0), MadeFigure(490, 10, 1)) == "holds"  # of seeds
    reverse = {"holds": "reverses"}.get(word, word)
    assert judge(placed(490, least, 500), placed(468, 460, 478)) == reverse


@table
def test_placement_is_the_cause_exactly_where_it_hides_the_difference(
    tlsf: tuple[float, float, float], seglist: tuple[float, float, float], word: str, hides: bool
) -> None:
    source, article = published.find("article-9")
    figures = {"TLSF": placed(*tlsf), "SEGLIST": placed(*seglist)}
    here = {(article.part[0].title, row, "p99"): figure for row, figure in figures.items()}
    conclusion = conclusions(Beside(source, article, Remade({"here": here}, "a test")))[0]
    assert (conclusion.verdict, conclusion.cause.startswith("Placement. ")) == (word, hides)
