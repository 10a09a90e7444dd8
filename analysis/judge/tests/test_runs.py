"""What `./lab gate` says of runs, each made by hand: what differs is known beforehand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from analysis.compare.tests.made import place, with_cycles
from analysis.errors import GateError
from analysis.judge import baseline as files
from analysis.judge import render, runs
from analysis.judge.baseline import GATE, Baseline
from analysis.judge.limits import NAMED
from analysis.judge.rows import Check, Report
from analysis.judge.tests.made_runs import noisy, ramp, write
from tests.sentences import Sentences


def baseline_of(path: Path, *folders: Path) -> Baseline:
    """The baseline of these runs, written and read again."""
    new, _ = runs.updated(empty(path), folders, {})
    files.write(new)
    return files.read(path, GATE)


def empty(path: Path) -> Baseline:
    return files.made(path, GATE, {}, ())


def judged(baseline: Baseline | None, folders: Sequence[Path]) -> Report:
    return runs.judge(baseline, folders, [], NAMED)


def of(report: Report, quantity: str) -> Check:
    return next(check for check in report.subjects[0].checks if check.name == quantity)


def test_a_slower_operation_is_named(tmp_path: Path) -> None:
    baseline = baseline_of(tmp_path / "b.toml", write(tmp_path / "a"))
    slower = [
        replace(operation, probes=operation.probes + 2 * (seq == 1))
        for seq, operation in enumerate(with_cycles({1: 9}))
    ]
    report = judged(baseline, [write(tmp_path / "b", slower, build="cd")])
    assert report.exit_status == 1
    # Of this operation the cycle counter is one less than the wire (synthetic.DISAGREEMENT_CYCLES).
    name = "operation 1, allocate 200 bytes: 599 → 608 cycles, probes 5 → 7"
    assert of(report, "cycles").named == of(report, "probes").named == (name,)
    assert [of(report, name).state for name in ("probes", "cycles", "pulses")] == ["worse"] * 3
    assert name in render.as_text(report)


F446 = {"asked": {"allocator": "seglist", "board": "nucleo-f446re"}}
OTHERS: tuple[dict[str, Any], ...] = (
    {"scenario": "other"},
    {"changes": {"seed": 7}},
    {"changes": F446},
    {"image": b"other"},
    {"exact": False},
    {"verdict": "truncated", "reasons": ("It is short.",)},
    {"verdict": "inconclusive"},
)


def test_what_cannot_be_compared_is_said(tmp_path: Path, sentences: Sentences) -> None:
    baseline = baseline_of(tmp_path / "b.toml", write(tmp_path / "a"))
    for number, others in enumerate(OTHERS):
        run = write(tmp_path / f"{number}", **others)
        report = judged(baseline, [run])
        assert report.exit_status == 2 and report.subjects[0].refusal
        sentences.hold(report.subjects[0].refusal)
    for number in (5, 6):
        with pytest.raises(GateError):
            runs.updated(empty(tmp_path / "b"), [tmp_path / f"{number}"], {})


def test_a_run_that_vanished_keeps_no_other_from_being_judged(tmp_path: Path) -> None:
    run = write(tmp_path / "a")
    baseline = baseline_of(tmp_path / "b.toml", run)
    gone = write(tmp_path / "gone")
    (gone / "operations.parquet").unlink()
    report = judged(baseline, [tmp_path / "nowhere", gone, run])
    assert [run.state for run in report.subjects] == ["cannot say", "cannot say", "as good"]
    assert report.exit_status == 2


def test_an_entry_without_a_run_is_told(tmp_path: Path) -> None:
    first, other = write(tmp_path / "a"), write(tmp_path / "b", scenario="other")
    report = judged(baseline_of(tmp_path / "b.toml", first, other), [first])
    assert report.exit_status == 0
    assert report.notes == ("No run was given for 1 entry of the baseline: other on seglist, board virtual.",)


def test_an_update_keeps_what_it_does_not_renew_and_says_what_it_does(tmp_path: Path) -> None:
    path = tmp_path / "b.toml"
    before = baseline_of(path, write(tmp_path / "a"), write(tmp_path / "o", scenario="other"))
    slower = write(tmp_path / "s", with_cycles({1: 9}), build="cd")
    new, changes = runs.updated(before, [slower], {"free": "9us"})
    assert [change.partition("; ")[2] for change in changes] == [
        "+9 cycles in all, most in operation 1, allocate 200 bytes: +9.",
        "+9 samples in all, most in operation 1, allocate 200 bytes: +9: as the cycles say.",
    ]
    assert new.limits == {"free": "9us"}
    assert {entry.settings["scenario"] for entry in new.entry} == {"made", "other"}
    assert judged(new, [slower]).exit_status == 0


def test_two_runs_of_the_same_settings_must_agree_to_be_a_baseline(tmp_path: Path) -> None:
    first, same, other = (
        write(tmp_path / name, with_cycles({0: by})) for name, by in (("a", 0), ("b", 0), ("c", 1))
    )
    assert len(baseline_of(tmp_path / "b.toml", first, same).entry) == 1
    with pytest.raises(GateError, match="came out otherwise"):
        baseline_of(tmp_path / "b.toml", first, other)
    report = judged(baseline_of(tmp_path / "b.toml", first), [same, other])
    assert [run.state for run in report.subjects] == ["as good", "cannot say"]


# Real boards.

REPETITIONS = 5


@pytest.fixture(scope="module")
def noise(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Baseline]:
    """A baseline of five noisy repetitions, and where further ones go."""
    folder = tmp_path_factory.mktemp("noise")
    runs = [write(folder / f"b{seed}", noisy(ramp(), seed), exact=False) for seed in range(REPETITIONS)]
    return folder, baseline_of(folder / "b.toml", *runs)


def test_twenty_noisy_repetitions_are_as_good(noise: tuple[Path, Baseline]) -> None:
    folder, baseline = noise
    for seed in range(100, 120):
        report = judged(baseline, [write(folder / f"{seed}", noisy(ramp(), seed), exact=False)])
        assert report.exit_status == 0, render.as_text(report)


def test_a_tenth_of_the_operations_slower_is_worse_in_spite_of_the_noise(
    noise: tuple[Path, Baseline],
) -> None:
    """Each by 20 cycles, where the noise has up to 6 from end to end."""
    folder, baseline = noise
    slower = [
        replace(operation, cycles=operation.cycles + 20 * (seq % 20 == 0))
        for seq, operation in enumerate(noisy(ramp(), 7))
    ]
    report = judged(baseline, [write(folder / "slower", slower, exact=False, build="cd")])
    assert report.exit_status == 1
    assert [check.name for check in report.subjects[0].checks if check.state == "worse"] == ["operations"]
    assert of(report, "operations").changed == 6
    assert of(report, "operations").named[0].startswith("operation 0, allocate 96 bytes: ")


def test_a_maximum_that_does_not_recur_is_scatter(noise: tuple[Path, Baseline]) -> None:
    folder, baseline = noise
    once = noisy(ramp(), 18)
    once[-2] = replace(once[-2], cycles=once[-2].cycles + 300)
    again = noisy(ramp(), 19)
    runs = [
        write(folder / name, operations, exact=False, build="cd")
        for name, operations in (("once", once), ("again", again))
    ]
    assert judged(baseline, runs[:1]).exit_status == 1
    assert judged(baseline, runs).exit_status == 0


def test_a_real_board_needs_three_repetitions(tmp_path: Path) -> None:
    runs = [write(tmp_path / f"{seed}", exact=False) for seed in range(2)]
    with pytest.raises(GateError, match="takes 3 runs or more, to know how they scatter; these are 2"):
        baseline_of(tmp_path / "b.toml", *runs)
    with pytest.raises(GateError, match="these are 1"):
        baseline_of(tmp_path / "b.toml", runs[0], runs[0])


# Hostile files.


def test_a_damaged_baseline_is_one_sentence(tmp_path: Path, sentences: Sentences) -> None:
    path = tmp_path / "b.toml"
    baseline_of(path, write(tmp_path / "a"))
    content = path.read_text(encoding="utf-8")
    for was, becomes in (
        ("schema = 3", "schema = 2"),
        ("exact = true", "exact = false"),
        ("budget = 0", "budget = inf"),
        ("exact = true", "exact = true\nunknown = 1"),
        ('image_sha256 = "', 'image_sha256 = "x'),
        ("pulse_beyond_cycles", "#"),
        ("[entry.settings]", "[entry.sittings]"),
        ('"board folder" = "nucleo-f401re"\n', ""),
    ):
        assert was in content
        path.write_text(content.replace(was, becomes, 1), encoding="utf-8")
        with sentences.raised(GateError):
            files.read(path, GATE)


def test_a_difference_from_the_baseline_that_placement_could_make_is_told(tmp_path: Path) -> None:
    before = place(write(tmp_path / "a"), 7_000.0, 7_100.0)
    baseline = baseline_of(tmp_path / "b.toml", before)
    near = place(write(tmp_path / "near", with_cycles({1: 9}), build="cd"), 7_050.0, 7_300.0)
    report = judged(baseline, [near])
    assert report.exit_status == 1
    assert any("smaller than what placement does" in note for note in report.subjects[0].notes)
    (placed,) = render.as_json(report)["subjects"][0]["placements"]
    assert placed["smaller_than_placement"] is True
    far = place(write(tmp_path / "far", with_cycles({1: 90}), build="ef"), 7_101.0, 7_300.0)
    (placed,) = render.as_json(judged(baseline, [far]))["subjects"][0]["placements"]
    assert placed["smaller_than_placement"] is False


def test_a_baseline_has_an_entry_for_each_board(tmp_path: Path) -> None:
    folders = write(tmp_path / "a"), write(tmp_path / "b", with_cycles({1: 40}), changes=F446)
    baseline = baseline_of(tmp_path / "b.toml", *folders)
    assert [entry.settings["board folder"] for entry in baseline.entry] == ["nucleo-f401re", "nucleo-f446re"]
    assert judged(baseline, folders).exit_status == 0
