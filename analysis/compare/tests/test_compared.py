"""Comparisons of runs that are made by hand: each difference is known beforehand."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from analysis.compare import compared as words
from analysis.compare.compared import Comparison, as_json, compare, overall, remarks
from analysis.compare.findings import Extreme, Finding, Worst, signed
from analysis.compare.findings import short as value
from analysis.compare.pairing import find
from analysis.compare.tests import made
from analysis.compare.tests.made import OPERATIONS, VIRTUAL, with_cycles, write
from analysis.compare.text import as_text
from analysis.errors import CompareError
from base.run_folder.manifest import Manifest, read_manifest
from base.run_folder.quantities import LATENCY
from tests.run_folders import seal
from tests.sentences import Sentences
from tests.tables import beside, table


def only(comparison: Comparison, key: str) -> Worst:
    return next(worst for worst in comparison.compared[0].worst if worst.quantity.key == key)


def test_an_outcome_that_changed_is_named(tmp_path: Path) -> None:
    refused = [*OPERATIONS[:3], replace(OPERATIONS[3], kind="O"), OPERATIONS[4]]
    operations = compare(write(tmp_path / "a"), write(tmp_path / "b", refused)).compared[0].operations
    assert operations is not None
    assert operations.other_outcome == (3,)
    assert operations.changed == 1


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
    assert comparison.pairing.older == 2
    assert only(comparison, "dwt_cycles").change == 10
    assert "older ones: 2." in as_text(comparison)


F446 = {"asked": {"allocator": "seglist", "board": "nucleo-f446re"}}


def test_two_runs_of_different_boards_are_refused_with_what_sets_them_side_by_side(tmp_path: Path) -> None:
    ours, theirs = write(tmp_path / "a"), write(tmp_path / "b", changes=F446)
    with pytest.raises(CompareError) as refused:
        compare(ours, theirs)
    assert str(refused.value) == (
        "A is of nucleo-f401re and B of nucleo-f446re, and no run is better than one of another board: set "
        f"them side by side, in cycles and in µs, with ./lab compare --by board {ours} {theirs}."
    )


def worst(a: Extreme | None, b: Extreme | None, finding: Finding, quantity: Any = LATENCY) -> Worst:
    return Worst(quantity, a, b, 47.8, finding)


def test_numbers_have_their_signs_and_no_more_digits_than_mean_something() -> None:
    assert [value(number, "cycles") for number in (1234.4, -5.0)] == ["1,234", "\N{MINUS SIGN}5"]
    texts = [signed(number, "cycles") for number in (0, 3.0, -1234.0, 9.94, -9.94, 10.4, -10.6)]
    plain = [text.replace("\N{MINUS SIGN}", "-") for text in texts]
    assert plain == ["+0", "+3", "-1,234", "+9.9", "-9.9", "+10", "-11"]


@table
def test_a_pair_in_a_sentence_and_what_must_be_known_beside_it(
    tmp_path: Path,
    exact: bool,
    probes: int,
    cycles: int,
    b: dict[str, Any],
    status: str,
    n: int | None,
    sentences: Sentences,
) -> None:
    first, *rest = with_cycles({1: cycles})
    operations = [replace(first, probes=first.probes + probes), *rest]
    comparison = compare(
        write(tmp_path / "a", exact=exact), write(tmp_path / "b", operations[:n], exact=exact, changes=b)
    )
    (pair,) = comparison.compared
    assert pair.status == status
    assert len(remarks(pair)) == len(pair.notes) + (pair.way == "budgets")
    for sentence in (overall(comparison), *remarks(pair)):
        sentences.hold(sentence)


def test_runs_that_cannot_be_believed_are_named_with_why(tmp_path: Path, sentences: Sentences) -> None:
    good, cut = (
        write(tmp_path / "a"),
        write(tmp_path / "b", verdict="truncated", reasons=("It was cut.", "Twice.")),
    )
    comparison = compare(good, cut)
    assert comparison.compared[0].doubts == (overall(comparison),)
    blind = compare(good, write(tmp_path / "c", exact=False, changes={"error_budget": {}}))
    assert comparison.status == blind.status == "cannot say"
    for sentence in (overall(comparison), words.described(comparison.compared[0].b), overall(blind)):
        sentences.hold(sentence)


def manifest(tmp_path: Path, **fields: object) -> Manifest:
    return read_manifest(write(tmp_path, changes=fields) / "run.json")


CHANGED = [
    replace(operation, probes=6) if seq == 3 else operation
    for seq, operation in enumerate(with_cycles({1: 40}))
]
NEW = {"tools": {**VIRTUAL["tools"], "virtual_nucleo": "0.2.0"}, "locking": "primask"}


def ns(cycles: int) -> float:
    return cycles * 1e9 / 84e6


def compared_changes(tmp_path: Path, exact: bool = True) -> Comparison:
    changes = NEW if exact else {"locking": "primask"}
    return compare(
        write(tmp_path / "a", exact=exact),
        write(tmp_path / "b", CHANGED, exact=exact, allocator="tlsf", changes=changes),
    )


WORST: dict[str, tuple[Any, ...]] = beside(__file__)["worst"]
"""The greatest value in A and in B, what is found, and the operation in B."""


def test_the_document_tells_all_that_differs(tmp_path: Path) -> None:
    document = json.loads(json.dumps(as_json(compared_changes(tmp_path)), allow_nan=False))
    (pair,) = document["pairs"]
    assert document["status"] == pair["status"] == "worse"
    assert (document["schema"], document["confidence"], pair["way"]) == (2, 0.95, "exact")
    assert document["headline"] == pair["headline"]
    assert [pair[side]["configuration"] for side in "ab"] == ["seglist", "tlsf, primask"]
    assert [tuple(change.values()) for change in pair["settings"]] == [
        ("allocator", "seglist", "tlsf"),
        ("locking", "basepri", "primask"),
        ("virtual_nucleo", "0.1.0", "0.2.0"),
    ]
    worst = {row["quantity"]: row for row in pair["worst"]}
    assert {
        key: (row["a"]["value"], row["b"]["value"], row["finding"], row["b"]["seq"])
        for key, row in worst.items()
    } == {
        key: (*(ns(value) if key.endswith("_ns") else value for value in values), finding, seq)
        for key, (*values, finding, seq) in ((key, (*row, None)[:4]) for key, row in WORST.items())
    }
    assert worst["dwt_cycles"]["percent"] == pytest.approx(100 * 40 / 599)
    # One of three is above three others, as in half of all orders. But it was met alike.
    assert {key for key, row in worst.items() if row["chance_p"] == 0.5} == {
        "section_ns", "critical_ns", "interrupt_latency_ns", "task_latency_ns", "dwt_cycles",
    }  # fmt: skip
    assert [key for key, row in worst.items() if row["moved"]] == ["probes"]
    operations = pair["operations"]
    assert [operations[name] for name in ("joined", "changed", "first", "met_otherwise")] == [5, 2, 1, 0]
    assert [
        (change["column"], change["increase"]["seq"], change["increase"]["change"], change["total"])
        for change in operations["columns"]
    ] == [
        ("probes", 3, 4, 4),
        ("instructions", 1, 20, 20),
        ("dwt_cycles", 1, 40, 40),
        ("dwt_operation_cycles", 1, 40, 40),
        ("wire_critical_ns", 1, ns(640) - ns(600), ns(640) - ns(600)),
        ("wire_operation_ns", 1, ns(680) - ns(640), ns(680) - ns(640)),
    ]


def plain(text: str) -> list[str]:
    """The lines, and no matter how many columns stand between their parts."""
    return [" ".join(line.split()) for line in text.splitlines()]


def test_several_pairs_are_a_table_with_the_worst_first_and_what_got_worse(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, sentences: Sentences
) -> None:
    monkeypatch.chdir(tmp_path)
    for side in (Path("a"), Path("b")):
        write(side, allocator="tlsf")
        write(side, allocator="avl", changes={"parameters": {"depth": 8}})
        write(side, CHANGED if side.name == "b" else OPERATIONS, allocator="seglist", changes={"seed": 7})
        write(side, allocator="heap_4", changes={"parameters": {"depth": 8 if side.name == "a" else 9}})
    write(Path("b"), scenario="other")
    damaged = write(Path("b"), allocator="first_fit")
    (damaged / "run.json").write_text("{")
    sentences.hold("\n".join(plain(as_text(compare(Path("a"), Path("b"))))))


WHOLE = "20260101T000002Z-made-seglist-virtual"


@table
def test_only_a_later_run_of_the_same_makes_up_for_a_broken_one(
    tmp_path: Path, broken: str, made_up_for: bool
) -> None:
    made.write(tmp_path).rename(tmp_path / WHOLE)
    (tmp_path / broken).mkdir()
    (tmp_path / broken / "run.json").write_text("{")
    side = find(tmp_path)
    assert [run.name for run in side.runs] == [WHOLE]
    assert (len(side.left_out), len(side.broken)) == ((1, 0) if made_up_for else (0, 1))
