"""What `./lab gate` says of runs, each made by hand: what differs is known beforehand."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

from analysis.compare.tests.made import OPERATIONS, place, with_cycles
from analysis.errors import GateError
from analysis.judge import baseline as files
from analysis.judge import render, runs
from analysis.judge.baseline import GATE, Baseline
from analysis.judge.checks import Check, Report
from analysis.judge.limits import NAMED, parse_all
from analysis.judge.stored import ON_THE_WIRE, TIMED
from analysis.judge.tests.made_runs import NEW, noisy, ramp, with_interrupts, write
from base.files.errors import TailscopeError
from dashboards.tests.synthetic import Operation
from tests.run_folders import seal


def baseline_of(path: Path, *folders: Path) -> Baseline:
    """The baseline of these runs, written and read again."""
    new, _ = runs.updated(empty(path), folders, {})
    files.write(new)
    return files.read(path, GATE)


def empty(path: Path) -> Baseline:
    return files.made(path, GATE, {}, ())


def judged(
    baseline: Baseline | None,
    folders: Sequence[Path],
    limits: Mapping[str, str] | None = None,
    most: int = NAMED,
) -> Report:
    return runs.judge(baseline, folders, parse_all(limits or {}, tuple(ON_THE_WIRE), timed=TIMED), most)


def of(report: Report, quantity: str) -> Check:
    return next(check for check in report.subjects[0].checks if check.name == quantity)


def test_an_equal_run_is_as_good(tmp_path: Path) -> None:
    baseline = baseline_of(tmp_path / "b.toml", write(tmp_path / "a"))
    report = judged(baseline, [write(tmp_path / "b", build="cd")])
    assert report.exit_status == 0
    assert {check.state for check in report.subjects[0].checks} == {"as good"}
    assert not report.notes


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


def test_better_is_told_and_no_failure(tmp_path: Path) -> None:
    baseline = baseline_of(tmp_path / "b.toml", write(tmp_path / "a"))
    report = judged(baseline, [write(tmp_path / "b", with_cycles({1: -9}), build="cd")])
    assert report.exit_status == 0
    assert report.subjects[0].state == "better"
    assert any("--update" in note for note in report.subjects[0].notes)


def test_another_compiler_is_named_and_the_allocator_not_blamed(tmp_path: Path) -> None:
    baseline = baseline_of(tmp_path / "b.toml", write(tmp_path / "a"))
    report = judged(baseline, [write(tmp_path / "b", with_cycles({1: 9}), build="cd", compiler=NEW)])
    assert report.exit_status == 2
    text = render.as_text(report)
    assert "The compiler changed from GCC: 12.2.1 to GCC: 13.1.0." in text
    assert "not put down to the allocator" in text


@pytest.mark.parametrize(
    ("others", "words"),
    [
        ({"scenario": "other"}, "has no entry of other on seglist"),
        (
            {"changes": {"seed": 7}},
            "was made with other settings (seed (not told) → 7)",
        ),
        ({"image": b"other"}, "has other operations than the entry"),
        ({"exact": False}, "is of the virtual board, and the run of a real"),
        (
            {"verdict": "truncated", "reasons": ("It is short.",)},
            "is truncated, and says nothing: It is short.",
        ),
    ],
)
def test_what_cannot_be_compared_is_said(tmp_path: Path, others: dict[str, object], words: str) -> None:
    baseline = baseline_of(tmp_path / "b.toml", write(tmp_path / "a"))
    report = judged(baseline, [write(tmp_path / "b", **others)])  # type: ignore[arg-type]
    assert report.exit_status == 2
    assert words in str(report.subjects[0].refusal)


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


@pytest.mark.parametrize(
    ("limits", "status", "words"),
    [
        # The longest has 600 cycles: 7.143 us; the cycle counter says 599.
        ({"allocate": "7.143us"}, 0, "7.14 µs, within 7.143us"),
        ({"allocate": "7us"}, 1, "7.14 µs, above 7us: allocate, in operation"),
        ({"allocate": "599cycles"}, 0, "599 cycles, within"),
        ({"allocate": "598cycles"}, 1, "599 cycles, above"),
        ({"free": "1ms"}, 0, "within 1ms"),
    ],
)
def test_a_limit_holds_in_absolute_terms(
    tmp_path: Path, limits: dict[str, str], status: int, words: str
) -> None:
    operations = list(OPERATIONS)
    maxima = {"critical_ns": {"value": 7142.86, "times": 1, "seq": 1, "kind": "A", "size": 200,
              "label": None, "depth": None, "trial": None, "probes": 5, "live": 2, "bytes_in_use": 160,
              "start_sample": 1}}  # fmt: skip
    folder = write(tmp_path / "a", operations)
    manifest = json.loads((folder / "run.json").read_text())
    manifest["maxima"] |= maxima
    (folder / "run.json").write_text(json.dumps(manifest))
    report = judged(None, [folder], limits)
    assert report.exit_status == status
    assert words in of(report, f"limit {next(iter(limits))}").sentence


def test_a_limit_of_nothing_measured_says_nothing(tmp_path: Path) -> None:
    report = judged(None, [write(tmp_path / "a", OPERATIONS[:2])], {"free": "1us"})
    assert report.exit_status == 2


@pytest.mark.parametrize(
    ("quantity", "limit"),
    [("alocate", "1us"), ("allocate", "nan"), ("allocate", "-1us"), ("task", "5cycles"),
     ("allocate", "1e999us"), ("allocate", "9" * 400 + "us")],
)  # fmt: skip
def test_what_is_no_limit_is_refused(tmp_path: Path, quantity: str, limit: str) -> None:
    with pytest.raises(GateError, match=quantity):
        judged(None, [write(tmp_path / "a")], {quantity: limit})


def test_a_baseline_is_the_same_whatever_the_order(tmp_path: Path) -> None:
    runs = [write(tmp_path / name, scenario=name) for name in "abc"]
    texts = {files.as_text(baseline_of(tmp_path / "b.toml", *order)) for order in (runs, runs[::-1])}
    assert len(texts) == 1


def test_parameters_in_another_order_are_the_same_settings(tmp_path: Path) -> None:
    first = write(tmp_path / "a", changes={"parameters": {"depth": 8, "trials": 1}})
    other = write(tmp_path / "b", changes={"parameters": {"trials": 1, "depth": 8}})
    assert judged(baseline_of(tmp_path / "b.toml", first), [other]).exit_status == 0


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


def test_an_update_refuses_what_is_not_complete(tmp_path: Path) -> None:
    for verdict in ("truncated", "inconclusive"):
        with pytest.raises(GateError, match=verdict):
            runs.updated(empty(tmp_path / "b"), [write(tmp_path / verdict, verdict=verdict)], {})


def test_two_runs_of_the_same_settings_must_agree_to_be_a_baseline(tmp_path: Path) -> None:
    first, same, other = (
        write(tmp_path / name, with_cycles({0: by})) for name, by in (("a", 0), ("b", 0), ("c", 1))
    )
    assert len(baseline_of(tmp_path / "b.toml", first, same).entry) == 1
    with pytest.raises(GateError, match="came out otherwise"):
        baseline_of(tmp_path / "b.toml", first, other)
    report = judged(baseline_of(tmp_path / "b.toml", first), [same, other])
    assert [run.state for run in report.subjects] == ["as good", "cannot say"]


# Interrupts of runs whose operations are equal.

LONG = [Operation("AF"[seq % 2], 96, 5, 400 + 20 * (seq % 7)) for seq in range(400)]


def later(control: bool) -> Callable[[pl.DataFrame], pl.DataFrame]:
    """The longest answer of the class comes 21 samples later: 250 ns."""

    def change(table: pl.DataFrame) -> pl.DataFrame:
        latency, wanted = pl.col("isr_latency_ns"), pl.col("control") == control
        longest = table.filter(wanted).sort("isr_latency_ns")["sample"][-1]
        moved = wanted & (pl.col("sample") == longest)
        return table.with_columns(pl.when(moved).then(latency + 250).otherwise(latency))

    return change


def longest_ns(run: Path, control: bool) -> float:
    manifest = json.loads((run / "run.json").read_text(encoding="utf-8"))
    return float(manifest["control_latency_ns" if control else "interrupt_latency_ns"]["max"])


@pytest.mark.parametrize(("control", "word"), [(False, "interrupt"), (True, "control")])
def test_a_later_answer_is_worse_where_the_operations_are_equal(
    tmp_path: Path, control: bool, word: str
) -> None:
    old = write(tmp_path / "a", LONG)
    baseline = baseline_of(tmp_path / "b.toml", old)
    run = with_interrupts(write(tmp_path / "b", LONG, build="cd"), later(control))
    report = judged(baseline, [run])
    assert report.exit_status == 1
    worse = [check for check in report.subjects[0].checks if check.state == "worse"]
    assert [check.name for check in worse] == [word]
    before = longest_ns(old, control)
    assert f"max {before:,.1f} → {before + 250:,.1f} ns" in worse[0].sentence
    assert worse[0].named[0].startswith(f"the longest: {before + 250:,.1f} ns, of the stimulus at sample ")


def test_an_answer_that_is_missing_is_worse(tmp_path: Path) -> None:
    baseline = baseline_of(tmp_path / "b.toml", write(tmp_path / "a", LONG))
    run = write(tmp_path / "b", LONG, build="cd")
    shortest = pl.read_parquet(run / "interrupts.parquet").filter(~pl.col("control"))["isr_latency_ns"].min()
    gone = with_interrupts(
        run, lambda table: table.remove(~pl.col("control") & (pl.col("isr_latency_ns") == shortest))
    )
    check = of(judged(baseline, [gone]), "interrupt")
    assert check.state == "worse"
    assert check.sentence.startswith("The interrupt latency changed: n ")
    none = with_interrupts(gone, lambda table: table.clear())
    assert of(judged(baseline, [none]), "interrupt").sentence == (
        "No interrupt latency was measured, and the baseline has some."
    )


def test_tables_that_run_json_does_not_sum_up_say_nothing(tmp_path: Path) -> None:
    baseline = baseline_of(tmp_path / "b.toml", write(tmp_path / "a", LONG))
    run = write(tmp_path / "b", LONG, build="cd")
    later(control=False)(pl.read_parquet(run / "interrupts.parquet")).write_parquet(
        run / "interrupts.parquet"
    )
    seal(run)
    report = judged(baseline, [run])
    assert report.exit_status == 2
    assert "do not tell the same of interrupt_latency_ns" in str(report.subjects[0].refusal)


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


def test_repetitions_of_two_firmwares_are_none(noise: tuple[Path, Baseline]) -> None:
    folder, baseline = noise
    first, other = (write(folder / f"of{build}", ramp(), exact=False, build=build) for build in ("ef", "01"))
    assert "another firmware" in str(judged(baseline, [first, other]).subjects[0].refusal)


# Hostile files.


@pytest.mark.parametrize(
    ("was", "becomes", "words"),
    [
        ("schema = 3", "schema = 2", "schema"),
        ("repetitions = 1", "repetitions = nan", "repetitions"),
        ("repetitions = 1", "repetitions = 2", "must have a value for each of the 2 repetitions"),
        ("exact = true", "exact = false", "at least 3"),
        ("budget = 0", "budget = inf", "budget"),
        ("budget = 0", "budget = -1", "budget"),
        ("exact = true", "exact = true\nunknown = 1", "unknown"),
        ("image_sha256 = \"", "image_sha256 = \"x", "image_sha256"),
        ("pulse_beyond_cycles", "#", "pulse_beyond_cycles"),
        ("[entry.settings]", "[entry.sittings]", "sittings"),
        ("schema = 3", "schema = 3\n\x00", "TOML"),
    ],
)  # fmt: skip
def test_a_damaged_baseline_is_one_sentence(tmp_path: Path, was: str, becomes: str, words: str) -> None:
    path = tmp_path / "b.toml"
    baseline_of(path, write(tmp_path / "a"))
    content = path.read_text(encoding="utf-8")
    assert was in content
    path.write_text(content.replace(was, becomes, 1), encoding="utf-8")
    with pytest.raises(GateError, match=r"b\.toml") as refused:
        files.read(path, GATE)
    assert words in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_baseline_cut_anywhere_is_refused_or_has_less(tmp_path: Path) -> None:
    path, run = tmp_path / "b.toml", write(tmp_path / "a", ramp(10))
    baseline_of(path, run)
    content = path.read_bytes()
    for length in range(0, len(content) - 1, 37):
        path.write_bytes(content[:length])
        try:
            report = judged(files.read(path, GATE), [run])
        except TailscopeError:
            continue
        assert report.exit_status == 2, content[:length]


def test_operations_that_are_too_few_or_none_are_named(tmp_path: Path) -> None:
    path, run = tmp_path / "b.toml", write(tmp_path / "a", ramp(10))
    baseline_of(path, run)
    content = path.read_text(encoding="utf-8")
    for was, becomes in (("18 depth 9: ", "17 depth 9: "), ("0 depth 0: A", "0 depth 0: X")):
        path.write_text(content.replace(was, becomes), encoding="utf-8")
        report = judged(files.read(path, GATE), [run])
        assert "the entry of made on seglist, board virtual has in line" in str(report.subjects[0].refusal)


def test_a_huge_baseline_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "b.toml"
    with path.open("wb") as file:
        file.truncate(files.BYTES_MOST + 1)
    with pytest.raises(GateError, match="8,388,608 bytes"):
        files.read(path, GATE)


def test_what_a_run_calls_itself_cannot_break_out_of_the_file(tmp_path: Path) -> None:
    name = "'''\n\"]\x7f\\"
    operations = [Operation("A", 1, 1, 100, label=name)]
    folder = write(tmp_path / "a", operations)
    manifest = json.loads((folder / "run.json").read_text())
    (folder / "run.json").write_text(json.dumps({**manifest, "scenario": name}))
    baseline = baseline_of(tmp_path / "b.toml", folder)
    assert judged(baseline, [folder]).exit_status == 0
    shutil.rmtree(folder)
    assert judged(baseline, [folder]).exit_status == 2


def test_a_difference_from_the_baseline_that_placement_could_make_is_told(tmp_path: Path) -> None:
    before = place(write(tmp_path / "a"), 7_000.0, 7_100.0)
    baseline = baseline_of(tmp_path / "b.toml", before)
    near = place(write(tmp_path / "near", with_cycles({1: 9}), build="cd"), 7_050.0, 7_300.0)
    report = judged(baseline, [near])
    sentence = (
        "worst critical section of an allocation: the difference is smaller than what placement does: "
        "7.00 to 7.10 µs in the baseline (2 placements), 7.05 to 7.30 µs in the run (2)."
    )
    assert report.exit_status == 1
    assert sentence in report.subjects[0].notes
    assert sentence in render.as_text(report)
    (placed,) = render.as_json(report)["subjects"][0]["placements"]
    assert placed["smaller_than_placement"] is True
    far = place(write(tmp_path / "far", with_cycles({1: 90}), build="ef"), 7_101.0, 7_300.0)
    (placed,) = render.as_json(judged(baseline, [far]))["subjects"][0]["placements"]
    assert placed["smaller_than_placement"] is False


F446 = {"asked": {"allocator": "seglist", "board": "nucleo-f446re"}}


def test_a_run_of_another_board_is_refused_with_both_names(tmp_path: Path) -> None:
    baseline = baseline_of(tmp_path / "b.toml", write(tmp_path / "a"))
    report = judged(baseline, [write(tmp_path / "b", changes=F446)])
    assert report.exit_status == 2
    assert report.subjects[0].refusal == (
        f"{tmp_path / 'b.toml'} has made on seglist of nucleo-f401re, and this run is of nucleo-f446re: a "
        "run is never held against another board's; give one of that board, or add this one's with --update."
    )


def test_a_baseline_has_an_entry_for_each_board(tmp_path: Path) -> None:
    folders = write(tmp_path / "a"), write(tmp_path / "b", with_cycles({1: 40}), changes=F446)
    baseline = baseline_of(tmp_path / "b.toml", *folders)
    assert [entry.settings["board folder"] for entry in baseline.entry] == ["nucleo-f401re", "nucleo-f446re"]
    assert judged(baseline, folders).exit_status == 0


def test_an_entry_that_names_no_board_is_refused(tmp_path: Path) -> None:
    path, folder = tmp_path / "b.toml", write(tmp_path / "a")
    baseline_of(path, folder)
    line = '"board folder" = "nucleo-f401re"\n'
    assert line in path.read_text(encoding="utf-8")
    path.write_text(path.read_text(encoding="utf-8").replace(line, ""), encoding="utf-8")
    with pytest.raises(GateError, match="board folder' is missing; make it anew with --update"):
        files.read(path, GATE)
