"""Comparisons of runs that are made by hand: each difference is known beforehand."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

from analysis.compare.compared import Comparison, compare
from analysis.compare.document import as_json
from analysis.compare.sentences import overall, worst_sentence
from analysis.compare.tests.made import CYCLE_NS, OPERATIONS, place, with_cycles, write
from analysis.compare.text import as_text
from analysis.compare.worst import Worst
from analysis.errors import CompareError
from base.files.errors import TailscopeError
from dashboards.tests.synthetic import Operation
from tests.run_folders import seal


def only(comparison: Comparison, key: str) -> Worst:
    return next(worst for worst in comparison.compared[0].worst if worst.quantity.key == key)


def test_a_worst_case_that_moved_is_told_with_both_places(tmp_path: Path) -> None:
    comparison = compare(write(tmp_path / "a"), write(tmp_path / "b", with_cycles({1: -100, 0: 150})))
    worst = only(comparison, "critical_ns")
    assert worst.a is not None
    assert worst.b is not None
    assert worst.moved
    assert (worst.a.seq, worst.b.seq) == (1, 0)
    assert worst.change == pytest.approx(-50 * CYCLE_NS)
    assert worst.finding == "better"


def test_largest_increase_decrease_and_sum(tmp_path: Path) -> None:
    longer = with_cycles({0: 7, 1: -30, 3: 9, 4: -2})
    operations = compare(write(tmp_path / "a"), write(tmp_path / "b", longer)).compared[0].operations
    assert operations is not None
    section = next(change for change in operations.columns if change.column.name == "dwt_cycles")
    assert section.changed == 4
    assert section.first is not None
    assert section.increase is not None
    assert section.decrease is not None
    assert (section.first.seq, section.increase.seq, section.decrease.seq) == (0, 3, 1)
    assert (section.increase.change, section.decrease.change, section.total) == (9, -30, -16)
    assert [(kind.kind, kind.n, kind.changed, kind.dwt_cycles) for kind in operations.kinds] == [
        ("A", 3, 3, -14),
        ("F", 2, 1, -2),
    ]


def test_an_outcome_that_changed_is_named(tmp_path: Path) -> None:
    refused = [*OPERATIONS[:3], replace(OPERATIONS[3], kind="O"), OPERATIONS[4]]
    operations = compare(write(tmp_path / "a"), write(tmp_path / "b", refused)).compared[0].operations
    assert operations is not None
    assert operations.other_outcome == (3,)
    assert operations.changed == 1


def test_images_decide_where_both_are_kept(tmp_path: Path) -> None:
    a, b = write(tmp_path / "a"), write(tmp_path / "b")
    (a / "operations.bin").write_bytes(b"h" * 64 + b"one")
    (b / "operations.bin").write_bytes(b"H" * 64 + b"one")
    assert compare(a, b).compared[0].operations is not None
    (b / "operations.bin").write_bytes(b"h" * 64 + b"two")
    assert compare(a, b).compared[0].operations is None


def many(cycles: int = 400) -> list[Operation]:
    """So many that interrupts meet some."""
    return [Operation("A", 100, probes=3, cycles=cycles + seq % 7) for seq in range(300)]


def test_on_a_board_a_difference_within_the_budgets_means_nothing(tmp_path: Path) -> None:
    # The budget of a width is 23.9 ns in each run, so 47.8 ns: four cycles, not five.
    comparison = compare(
        write(tmp_path / "a", many(), exact=False), write(tmp_path / "b", many(404), exact=False)
    )
    worst = only(comparison, "critical_ns")
    assert worst.budget == pytest.approx(47.8)
    assert worst.change == pytest.approx(4 * CYCLE_NS)
    assert worst.finding == "within the budgets"
    assert worst_sentence(worst).endswith("no difference beyond the budgets (± 0.05 µs)")


def test_on_a_board_a_difference_beyond_the_budgets_counts(tmp_path: Path) -> None:
    comparison = compare(
        write(tmp_path / "a", many(), exact=False), write(tmp_path / "b", many(460), exact=False)
    )
    distribution = next(
        distribution
        for distribution in comparison.compared[0].distributions
        if distribution.quantity.key == "wire_critical_ns"[5:]
    )
    assert comparison.status == "worse"
    assert only(comparison, "critical_ns").finding == "worse"
    assert distribution.effect is not None
    assert distribution.effect.shift == pytest.approx(60 * CYCLE_NS)
    assert distribution.effect.delta == 1.0
    assert distribution.beyond


def test_a_section_that_a_control_interrupt_lengthened_is_no_worse_code(tmp_path: Path) -> None:
    """All code is a cycle shorter, but the worst section is met by an interrupt of 50 cycles."""
    a, b = write(tmp_path / "a"), write(tmp_path / "b", with_cycles({0: -1, 1: 50, 2: -1, 3: -1, 4: -1}))
    table = pl.read_parquet(b / "operations.parquet")
    hits = pl.when(pl.col("seq") == 1).then(1).otherwise(0).cast(pl.UInt32)
    table.with_columns(control_hits=hits).write_parquet(b / "operations.parquet")
    seal(b)
    comparison = compare(a, b)
    operations = comparison.compared[0].operations
    assert only(comparison, "critical_ns").finding == "chance"
    assert comparison.status == "not worse"
    assert operations is not None
    assert (operations.changed, operations.met_otherwise) == (5, 1)
    section = next(change for change in operations.columns if change.column.name == "dwt_cycles")
    assert section.met_alike == 4
    assert section.increase_met_alike is None


def test_tables_that_run_json_does_not_sum_up_leave_nothing_to_say(tmp_path: Path) -> None:
    a, b = write(tmp_path / "a"), write(tmp_path / "b")
    shutil.copy(write(tmp_path / "c", with_cycles({1: 9})) / "operations.parquet", b)
    seal(b)
    comparison = compare(a, b)
    assert comparison.status == "cannot say"
    assert "./lab redecode it" in overall(comparison)


def test_folders_pair_runs_by_their_options(tmp_path: Path) -> None:
    for side, longer in (("a", 0), ("b", 3)):
        write(tmp_path / side, with_cycles({1: longer}), allocator="seglist")
        write(tmp_path / side, allocator="tlsf")
    write(tmp_path / "a", allocator="avl")
    comparison = compare(tmp_path / "a", tmp_path / "b")
    assert [(pair.a.manifest.allocator, pair.status) for pair in comparison.compared] == [
        ("seglist", "worse"),
        ("tlsf", "equal"),
    ]
    assert [pair.manifest.allocator for pair in comparison.pairing.only_a] == ["avl"]
    assert comparison.status == "worse"


def test_the_newest_of_several_stands_for_them(tmp_path: Path) -> None:
    write(tmp_path / "b")
    old = write(tmp_path / "a", with_cycles({1: 50}))
    old.rename(old.with_name(old.name.replace("20250102", "20240102")))
    for number in (2, 10):
        newer = write(tmp_path / "made", with_cycles({1: -number}))
        newer.rename(tmp_path / "a" / f"{newer.name}-{number}")
    comparison = compare(tmp_path / "a", tmp_path / "b")
    assert comparison.pairing.older == {"a": 2, "b": 0}
    assert only(comparison, "dwt_cycles").change == 10
    assert "Of A 2 older runs" in as_text(comparison)


def test_one_unreadable_run_does_not_hide_the_others(tmp_path: Path) -> None:
    for side in "ab":
        write(tmp_path / side, allocator="tlsf")
    damaged = write(tmp_path / "b", allocator="avl")
    (damaged / "run.json").write_text("{", encoding="utf-8")
    comparison = compare(tmp_path / "a", tmp_path / "b")
    assert [pair.status for pair in comparison.compared] == ["equal"]
    assert comparison.status == "cannot say"
    assert len(comparison.unreadable) == 1


def test_an_unfinished_run_is_no_matter_once_it_was_run_again(tmp_path: Path) -> None:
    for side in "ab":
        write(tmp_path / side)
    killed = tmp_path / "b" / "20240102T030405Z-made-seglist-virtual"
    killed.mkdir()
    (killed / "operations.bin").write_bytes(b"")
    comparison = compare(tmp_path / "a", tmp_path / "b")
    assert comparison.status == "equal"
    assert len(comparison.left_out) == 1
    killed.rename(killed.with_name(killed.name.replace("2024", "2026")))
    assert compare(tmp_path / "a", tmp_path / "b").status == "cannot say"


@pytest.mark.parametrize("name", ["none", "empty", "run.json"])
def test_what_is_no_run_is_refused_in_one_sentence(tmp_path: Path, name: str) -> None:
    (tmp_path / "empty").mkdir()
    run = write(tmp_path / "a")
    other = {"none": tmp_path / "none", "empty": tmp_path / "empty", "run.json": run / "run.json"}[name]
    with pytest.raises(CompareError) as raised:
        compare(run, other)
    assert str(raised.value).count("\n") == 0


def test_a_table_that_is_missing_is_refused(tmp_path: Path) -> None:
    a, b = write(tmp_path / "a"), write(tmp_path / "b")
    (b / "operations.parquet").unlink()
    with pytest.raises(TailscopeError, match=r"operations\.parquet: is missing"):
        compare(a, b)


@pytest.mark.parametrize(("last", "smaller"), [(7_500.0, True), (7_610.0, True), (7_650.0, False)])
def test_a_difference_that_placement_could_make_is_told(tmp_path: Path, last: float, smaller: bool) -> None:
    a = place(write(tmp_path / "a"), 7_142.9, 7_610.0, 7_000.0)
    b = place(write(tmp_path / "b", with_cycles({1: 40})), last, 7_700.0)
    comparison = compare(a, b)
    sentence = (
        "worst critical section of an allocation: the difference is smaller than what placement does: "
        f"7.00 to 7.61 µs in A (3 placements), {last / 1000:.2f} to 7.70 µs in B (2)."
    )
    assert comparison.status == "worse"
    assert (sentence in comparison.compared[0].notes) is smaller
    assert (sentence in " ".join(as_text(comparison).split())) is smaller
    (placements,) = as_json(comparison)["pairs"][0]["placements"]
    assert placements["smaller_than_placement"] is smaller
    assert placements["a"] == {"n": 3, "least": 7_000.0, "median": 7_142.9, "greatest": 7_610.0}


F446 = {"asked": {"allocator": "seglist", "board": "nucleo-f446re"}}


def test_two_runs_of_different_boards_are_refused_with_what_sets_them_side_by_side(tmp_path: Path) -> None:
    ours, theirs = write(tmp_path / "a"), write(tmp_path / "b", changes=F446)
    with pytest.raises(CompareError) as refused:
        compare(ours, theirs)
    assert str(refused.value) == (
        "A is of nucleo-f401re and B of nucleo-f446re, and no run is better than one of another board: set "
        f"them side by side, in cycles and in µs, with ./lab compare --by board {ours} {theirs}."
    )


def test_runs_of_different_boards_are_never_paired(tmp_path: Path) -> None:
    write(tmp_path / "a", changes=F446)
    write(tmp_path / "b")
    comparison = compare(tmp_path / "a", tmp_path / "b")
    assert not comparison.compared
    assert [len(comparison.pairing.only_a), len(comparison.pairing.only_b)] == [1, 1]
