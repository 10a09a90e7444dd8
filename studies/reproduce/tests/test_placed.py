"""Cycles at several placements of the code: what is measured at each, and what becomes of them."""

from __future__ import annotations

from dataclasses import replace

import polars as pl
import pytest

from capture import placements
from capture.acquisition.source import RunRequest
from studies.reproduce import engine, published
from studies.reproduce.beside import Beside, beside, ranged
from studies.reproduce.conclusions import Conclusion, conclusions, judge
from studies.reproduce.engine import Budget
from studies.reproduce.kept import Kept
from studies.reproduce.measure import BoardRun, PlacedCycles, at_places
from studies.reproduce.remade import MadeFigure, Remade, over_placements
from studies.reproduce.sections import section

COUNT = 4


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Kept:
    return Kept(tmp_path_factory.mktemp("kept"))


def at_placements(store: Kept, run: BoardRun) -> list[pl.DataFrame]:
    return at_places(run, store(run), store(PlacedCycles(run, COUNT)))


@pytest.mark.parametrize("run", [BoardRun("seglist", "mem_frag"), BoardRun("tlsf", "mem_stress", art=True)])
def test_the_worst_at_each_place_is_that_of_a_captured_run(store: Kept, run: BoardRun) -> None:
    """A capture reads the same counter, by the wire's frames and the whole of the decoding."""
    tables = at_placements(store, run)
    captured = placements.measure(RunRequest(plan=run.plan(), image=run.built()), COUNT)
    expected = [measurement.greatest["dwt_cycles"] for measurement in captured.measured]
    assert [
        frame.filter(pl.col("measured") & (pl.col("kind") == "A"))["critical_cycles"].max()
        for frame in tables
    ] == expected
    assert len(set(expected)) > 1


def test_nothing_but_cycles_depends_on_the_place(store: Kept) -> None:
    first, *others = at_placements(store, BoardRun("tlsf", "mem_stress", art=True))
    cycles = ["critical_cycles", "operation_cycles"]
    assert all(one.drop(cycles).equals(first.drop(cycles)) for one in others)
    assert any(not one.equals(first) for one in others)


def test_as_many_at_a_time_give_the_same(store: Kept) -> None:
    run = BoardRun("tlsf", "mem_stress", art=True)
    assert store(PlacedCycles(run, COUNT)).equals(PlacedCycles(run, COUNT, processes=2).measure())


def test_one_placement_is_the_image_as_it_is(store: Kept) -> None:
    run = BoardRun("tlsf", "mem_stress", art=True)
    (only,) = at_places(run, store(run), None)
    assert only.equals(store(run))


def test_another_outcome_at_another_place_is_refused(store: Kept) -> None:
    run = BoardRun("tlsf", "mem_stress", art=True)
    damaged = store(PlacedCycles(run, COUNT)).with_columns(kind=pl.lit("O"))
    with pytest.raises(ValueError, match="comes out otherwise at another placement"):
        at_places(run, store(run), damaged)


def test_of_placements_the_median_that_occurred_is_told() -> None:
    figures = [MadeFigure(value, 7, 1) for value in (30, 10, 40, 20)]
    assert over_placements(figures) == MadeFigure(20, 7, 1, 10, 40, placements=4)
    assert over_placements(figures[:1]) == MadeFigure(30, 7, 1, placements=1)


def placed(value: float, least: float, most: float) -> MadeFigure:
    return MadeFigure(value, 10, 1, least, most, placements=16)


@pytest.mark.parametrize(
    ("least", "word"), [(480, "holds"), (479, "holds"), (478, "cannot be told"), (460, "cannot be told")]
)
def test_ranges_that_meet_tell_nothing(least: float, word: str) -> None:
    """Of whole cycles: from 460 to 478, and from 479 on, no place turns the order round."""
    assert judge(placed(468, 460, 478), placed(490, least, 500)) == word
    reverse = {"holds": "reverses"}.get(word, word)
    assert judge(placed(490, least, 500), placed(468, 460, 478)) == reverse


def test_a_range_of_seeds_is_no_range_of_placements() -> None:
    tlsf, seglist = placed(468, 460, 495), placed(490, 465, 500)
    assert judge(tlsf, seglist) == "cannot be told"
    assert judge(replace(tlsf, placements=0), replace(seglist, placements=0)) == "holds"


def table(tlsf: MadeFigure, seglist: MadeFigure, **more: MadeFigure) -> Beside:
    source, article = published.find("article-9")
    title = article.part[0].title
    rows = {"TLSF": tlsf, "SEGLIST": seglist, **more}
    here = {(title, row, "p99"): figure for row, figure in rows.items()}
    return beside(source, article, (), Remade({"here": here}, "a test"))


def first_of(pair: Beside) -> Conclusion:
    return conclusions(pair)[0]


def test_placement_is_told_as_the_cause_where_it_hides_the_difference() -> None:
    conclusion = first_of(table(placed(468, 460, 481), placed(490, 480, 500)))
    assert (conclusion.verdict, conclusion.told) == (
        "cannot be told",
        "TLSF 468 (460–481), SEGLIST 490 (480–500) (p99).",
    )
    assert conclusion.cause == (
        "Placement. By the medians the conclusion holds, but the difference is smaller than what the code's "
        "place in the flash does: it takes TLSF from 460 to 481 and SEGLIST from 480 to 500 (p99)."
    )


def test_placement_is_no_cause_where_the_medians_do_not_differ_or_the_ranges_do() -> None:
    for tlsf, seglist, word in (
        (placed(490, 460, 500), placed(490, 480, 500), "cannot be told"),
        (placed(468, 460, 470), placed(490, 480, 500), "holds"),
    ):
        conclusion = first_of(table(tlsf, seglist))
        assert (conclusion.verdict, conclusion.cause) == (word, "")


def test_a_section_says_how_many_places_its_cycles_are_of() -> None:
    sixteen, figure, none = (
        placed(468, 460, 481),
        MadeFigure(490, 10, 1, placements=1),
        MadeFigure(490, 10, 1),
    )
    placement = section(table(sixteen, sixteen)).placement
    assert placement.startswith("Cycles are of 16 placements of the code: the median")
    assert "one image" not in placement
    assert "not have are of one image" in section(table(sixteen, sixteen, avl=figure)).placement
    assert section(table(figure, figure)).placement.startswith("Cycles are of one image each")
    assert section(table(none, none)).placement == "No figure here depends on where the code lies."
    source, article = published.find("article-9")
    assert section(beside(source, article, (), None)).placement == ""


def test_a_range_whose_ends_read_alike_is_not_shown() -> None:
    assert ranged(placed(1.04, 1.01, 1.04), "times") == "1.0"
    assert ranged(placed(468, 460, 481), "cycles", "+3.1 %") == "468 (460–481; +3.1 %)"
    assert ranged(placed(468, 468, 468), "cycles", "=") == "468 (=)"


@pytest.mark.parametrize("name", ["crate-malloc", "crate-memalign"])
def test_a_namesake_stands_not_in_the_place_of_what_is_published(name: str) -> None:
    """The publication calls the crate tlsf, as the bench calls an allocator of its own."""
    ran = set()

    def measure(work: BoardRun | PlacedCycles) -> pl.DataFrame:
        run = work if isinstance(work, BoardRun) else work.run
        ran.add(run.allocator)
        cycles = 7 if run.allocator == "tlsf_crate" else 9
        at_each = cycles if work == run else [cycles] * 15
        columns = {name: [at_each, at_each] for name in ("critical_cycles", "operation_cycles")}
        return pl.DataFrame({"seq": [0, 1], "kind": ["A", "F"], **columns})

    (made,) = engine.run([name], Budget(), measure)  # type: ignore[arg-type]
    assert ran >= {"tlsf_crate", "o1heap"}
    assert made.remade is not None
    figures = made.remade.variants["whole call"]
    crate = [figure for (_, row, _), figure in figures.items() if row == "tlsf"]
    assert {(figure.value, figure.placements) for figure in crate} == {(7, 16)}
