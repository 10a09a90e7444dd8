"""Comparisons of runs that are made by hand: each difference is known beforehand."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

from analysis.compare.compared import Comparison, compare
from analysis.compare.document import as_json
from analysis.compare.sentences import headline, overall, worst_sentence
from analysis.compare.tests.made import CYCLE_NS, OPERATIONS, place, with_cycles, write
from analysis.compare.text import as_text
from analysis.compare.worst import Worst
from analysis.errors import CompareError
from base.files.errors import TailscopeError
from dashboards.tests.synthetic import Operation
from tests.run_folders import seal


def only(comparison: Comparison, key: str) -> Worst:
    return next(worst for worst in comparison.compared[0].worst if worst.quantity.key == key)


def test_equal_runs_are_equal_to_the_cycle(tmp_path: Path) -> None:
    comparison = compare(write(tmp_path / "a"), write(tmp_path / "b"))
    assert comparison.status == "equal"
    assert overall(comparison) == "equal to the cycle, 5 operations"


def test_an_operation_that_takes_longer_is_named(tmp_path: Path) -> None:
    comparison = compare(write(tmp_path / "a"), write(tmp_path / "b", with_cycles({1: 40})))
    operations = comparison.compared[0].operations
    worst = only(comparison, "critical_ns")
    assert comparison.status == "worse"
    assert worst.change == pytest.approx(40 * CYCLE_NS)
    assert worst.percent == pytest.approx(100 * 40 / 600)
    assert worst.b is not None
    assert worst.b.seq == 1
    assert operations is not None
    assert (operations.changed, operations.first) == (1, 1)
    assert headline(comparison.compared[0]) == (
        "longest masked section of any operation: 7.14 → 7.62 µs (+0.48 µs, +6.7 %), operation 1; "
        "1 of 5 operations changed"
    )


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


def test_better_runs_are_not_worse(tmp_path: Path) -> None:
    comparison = compare(write(tmp_path / "a"), write(tmp_path / "b", with_cycles({1: -40})))
    assert comparison.status == "not worse"


def test_an_outcome_that_changed_is_named(tmp_path: Path) -> None:
    refused = [*OPERATIONS[:3], replace(OPERATIONS[3], kind="O"), OPERATIONS[4]]
    operations = compare(write(tmp_path / "a"), write(tmp_path / "b", refused)).compared[0].operations
    assert operations is not None
    assert operations.other_outcome == (3,)
    assert operations.changed == 1


def test_two_allocators_are_a_comparison(tmp_path: Path) -> None:
    comparison = compare(write(tmp_path / "a"), write(tmp_path / "b", allocator="tlsf"))
    assert [(change.name, change.a, change.b) for change in comparison.compared[0].settings] == [
        ("allocator", "seglist", "tlsf")
    ]


def test_settings_that_changed_are_told(tmp_path: Path) -> None:
    firmware = {
        "elf_sha256": "cd" * 32,
        "kernel": "V11.3.0",
        "heap_bytes": 86_064,
        "core_hz": 84_000_000,
        "flash_acr": "00000002",
        "free_blocks_at_start": 1,
        "kernel_calls": False,
    }
    changes = {"firmware": firmware, "locking": "primask", "knobs": {"SLOTS": "8"}}
    comparison = compare(write(tmp_path / "a"), write(tmp_path / "b", changes=changes))
    assert {(change.name, change.a, change.b) for change in comparison.compared[0].settings} == {
        ("firmware sha256", "ab" * 32, "cd" * 32),
        ("kernel", "V11.2.0", "V11.3.0"),
        ("heap size", "65,536 bytes", "86,064 bytes"),
        ("FLASH_ACR", "00000702", "00000002"),
        ("locking", "basepri", "primask"),
        ("knob SLOTS", None, "8"),
    }


def test_a_virtual_board_that_changed_is_not_blamed_on_the_allocator(tmp_path: Path) -> None:
    comparison = compare(write(tmp_path / "a"), write(tmp_path / "b", with_cycles({1: 1})))
    assert any("a virtual board repeats itself" in note for note in comparison.compared[0].notes)


def test_a_board_that_changed_is_not_blamed_on_the_allocator(tmp_path: Path) -> None:
    comparison = compare(
        write(tmp_path / "a", exact=False), write(tmp_path / "b", with_cycles({1: 99}), exact=False)
    )
    assert comparison.status == "worse"
    assert any("`./lab twin` looks for a cause" in note for note in comparison.compared[0].notes)


def test_other_operations_are_compared_by_their_statistics_alone(tmp_path: Path) -> None:
    comparison = compare(
        write(tmp_path / "a"), write(tmp_path / "b", with_cycles({1: 1}), changes={"image_crc32": "1" * 8})
    )
    assert comparison.compared[0].operations is None
    assert any("did not run the same operations" in note for note in comparison.compared[0].notes)
    assert only(comparison, "critical_ns").change == pytest.approx(CYCLE_NS)


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


def test_on_a_board_one_longer_latency_may_be_chance(tmp_path: Path) -> None:
    a, b = (write(tmp_path / name, many(), exact=False) for name in "ab")
    alter_latency(b, by_ns=500.0)
    comparison = compare(a, b)
    worst = only(comparison, "interrupt_latency_ns")
    assert worst.finding == "chance"
    assert worst.chance_p == pytest.approx(0.5)
    assert comparison.status == "not worse"


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


def test_more_probes_always_count(tmp_path: Path) -> None:
    more = [OPERATIONS[0], replace(OPERATIONS[1], probes=6), *OPERATIONS[2:]]
    comparison = compare(write(tmp_path / "a", exact=False), write(tmp_path / "b", more, exact=False))
    assert only(comparison, "probes").finding == "worse"
    assert only(comparison, "critical_ns").finding == "equal"


def alter_latency(folder: Path, by_ns: float) -> None:
    """Makes the greatest latency of a stimulus so much greater, in the table and in run.json."""
    path = folder / "interrupts.parquet"
    table = pl.read_parquet(path).with_row_index("row")
    stimuli = table.filter(~pl.col("control"))
    row = stimuli["row"][stimuli["isr_latency_ns"].arg_max() or 0]
    longer = pl.when(pl.col("row") == row).then(pl.col("isr_latency_ns") + by_ns)
    table = table.with_columns(longer.otherwise(pl.col("isr_latency_ns")).alias("isr_latency_ns"))
    table.drop("row").write_parquet(path)
    seal(path.parent)
    manifest = json.loads((folder / "run.json").read_text(encoding="utf-8"))
    hit = stimuli.filter(pl.col("row") == row)["hit"][0]
    for key in ("interrupt_latency_ns", f"interrupt_latency_{'hit' if hit == 'critical' else 'clear'}_ns"):
        manifest[key]["max"] += by_ns
    (folder / "run.json").write_text(json.dumps(manifest), encoding="utf-8")


def test_tables_that_run_json_does_not_sum_up_leave_nothing_to_say(tmp_path: Path) -> None:
    a, b = write(tmp_path / "a"), write(tmp_path / "b")
    shutil.copy(write(tmp_path / "c", with_cycles({1: 9})) / "operations.parquet", b)
    seal(b)
    comparison = compare(a, b)
    assert comparison.status == "cannot say"
    assert "./lab redecode it" in overall(comparison)


def test_a_run_that_is_not_complete_leaves_nothing_to_say(tmp_path: Path) -> None:
    broken = write(tmp_path / "b", with_cycles({1: 9}), verdict="truncated", reasons=("It was cut off.",))
    comparison = compare(write(tmp_path / "a"), broken)
    assert comparison.status == "cannot say"
    assert "is truncated. It was cut off." in overall(comparison)


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


def test_the_only_runs_of_a_scenario_are_paired_whatever_their_options(tmp_path: Path) -> None:
    write(tmp_path / "a" / "runs", allocator="seglist")
    write(tmp_path / "b" / "runs", allocator="tlsf")
    comparison = compare(tmp_path / "a", tmp_path / "b")
    assert [pair.pair.by for pair in comparison.compared] == ["scenario"]


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


def test_nothing_in_common_is_nothing_to_say(tmp_path: Path) -> None:
    write(tmp_path / "a")
    write(tmp_path / "b", scenario="other")
    comparison = compare(tmp_path / "a", tmp_path / "b")
    assert comparison.status == "cannot say"
    assert "nothing to compare" in as_text(comparison)


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


def test_without_placements_of_both_nothing_is_told_of_them(tmp_path: Path) -> None:
    a, b = write(tmp_path / "a"), place(write(tmp_path / "b", with_cycles({1: 40})), 7_000.0, 9_000.0)
    document = as_json(compare(a, b))["pairs"][0]
    assert document["placements"] == []
    assert not any("placement" in note for note in document["notes"])


def test_equal_worst_cases_differ_by_nothing_that_placement_could_make(tmp_path: Path) -> None:
    a, b = (place(write(tmp_path / name), 7_000.0, 7_200.0) for name in ("a", "b"))
    assert not compare(a, b).compared[0].notes


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


def test_of_runs_of_two_boards_each_has_its_like(tmp_path: Path) -> None:
    for side in ("a", "b"):
        write(tmp_path / side)
        write(tmp_path / side, board="virtual_nucleo_f446re", changes=F446)
    comparison = compare(tmp_path / "a", tmp_path / "b")
    assert [pair.pair.by for pair in comparison.compared] == ["options", "options"]
    assert comparison.status == "equal"
