"""Comparisons of runs that are made by hand: each difference is known beforehand."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from analysis.compare.compared import Comparison, compare
from analysis.compare.sentences import overall
from analysis.compare.tests.made import OPERATIONS, with_cycles, write
from analysis.compare.text import as_text
from analysis.compare.worst import Worst
from analysis.errors import CompareError
from tests.run_folders import seal


def only(comparison: Comparison, key: str) -> Worst:
    return next(worst for worst in comparison.compared[0].worst if worst.quantity.key == key)


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


def test_tables_that_run_json_does_not_sum_up_leave_nothing_to_say(tmp_path: Path) -> None:
    a, b = write(tmp_path / "a"), write(tmp_path / "b")
    shutil.copy(write(tmp_path / "c", with_cycles({1: 9})) / "operations.parquet", b)
    seal(b)
    comparison = compare(a, b)
    assert comparison.status == "cannot say"
    assert "./lab redecode it" in overall(comparison)


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


F446 = {"asked": {"allocator": "seglist", "board": "nucleo-f446re"}}


def test_two_runs_of_different_boards_are_refused_with_what_sets_them_side_by_side(tmp_path: Path) -> None:
    ours, theirs = write(tmp_path / "a"), write(tmp_path / "b", changes=F446)
    with pytest.raises(CompareError) as refused:
        compare(ours, theirs)
    assert str(refused.value) == (
        "A is of nucleo-f401re and B of nucleo-f446re, and no run is better than one of another board: set "
        f"them side by side, in cycles and in µs, with ./lab compare --by board {ours} {theirs}."
    )
