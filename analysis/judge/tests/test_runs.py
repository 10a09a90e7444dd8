"""What `./lab gate` says of runs, each made by hand: what differs is known beforehand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import scipy
from hypothesis import given
from hypothesis import strategies as st

from analysis.compare.tests.made import with_cycles
from analysis.errors import GateError
from analysis.judge import baseline as files
from analysis.judge import beside, limits, programs, render, runs, stored
from analysis.judge.baseline import GATE, Baseline, Entry, Figures, Operation, Statistics, operations_text
from analysis.judge.beside import difference, summed_up, wire_check
from analysis.judge.rows import Check, Report, Words
from analysis.judge.tests.made_programs import measured as of_program
from analysis.judge.tests.made_programs import row
from analysis.judge.tests.made_runs import noisy, ramp, write
from base.metrology.summaries import Summary
from base.run_folder.records import OPERATION_KINDS
from tests.sentences import Sentences
from tests.tables import table


def baseline_of(path: Path, *folders: Path) -> Baseline:
    """The baseline of these runs, written and read again."""
    new, _ = runs.updated(empty(path), folders, {})
    files.write(new)
    return files.read(path, GATE)


def empty(path: Path) -> Baseline:
    return files.made(path, GATE, {}, ())


def judged(baseline: Baseline | None, folders: Sequence[Path]) -> Report:
    return runs.judge(baseline, folders, [])


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
    assert [of(report, name).state for name in ("probes", "cycles")] == ["worse"] * 2
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
    assert report.notes == (
        "No run was given for this entry of the baseline: other on seglist, board virtual.",
    )


def test_an_update_keeps_what_it_does_not_renew_and_says_what_it_does(tmp_path: Path) -> None:
    path = tmp_path / "b.toml"
    before = baseline_of(path, write(tmp_path / "a"), write(tmp_path / "o", scenario="other"))
    slower = write(tmp_path / "s", with_cycles({1: 9}), build="cd")
    new, changes = runs.updated(before, [slower], {"free": "9us"})
    assert [change.partition("; ")[2] for change in changes] == [
        "+9 cycles in all, most in operation 1, allocate 200 bytes: +9.",
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
    """Each by 100 cycles, where the noise has up to 6 from end to end."""
    folder, baseline = noise
    slower = [
        replace(operation, cycles=operation.cycles + 100 * (seq % 20 == 0))
        for seq, operation in enumerate(noisy(ramp(), 7))
    ]
    report = judged(baseline, [write(folder / "slower", slower, exact=False, build="cd")])
    assert report.exit_status == 1
    worse = [check.name for check in report.subjects[0].checks if check.state == "worse"]
    assert "allocate, cycles" in worse and "allocate, pulses" in worse


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
        ("schema = 4", "schema = 3"),
        ("exact = true", "exact = false"),
        ("budget = 0", "budget = inf"),
        ("exact = true", "exact = true\nunknown = 1"),
        ('image_sha256 = "', 'image_sha256 = "x'),
        ("[entry.settings]", "[entry.sittings]"),
    ):
        assert was in content
        path.write_text(content.replace(was, becomes, 1), encoding="utf-8")
        with sentences.raised(GateError):
            files.read(path, GATE)


def test_a_baseline_has_an_entry_for_each_board(tmp_path: Path) -> None:
    folders = write(tmp_path / "a"), write(tmp_path / "b", with_cycles({1: 40}), changes=F446)
    baseline = baseline_of(tmp_path / "b.toml", *folders)
    assert [entry.settings["board folder"] for entry in baseline.entry] == ["nucleo-f401re", "nucleo-f446re"]
    assert judged(baseline, folders).exit_status == 0


def test_settings_in_another_order_are_the_same() -> None:
    chosen = {"knob A": "1", "knob B": "2"}
    every = [{**chosen}, dict(reversed(chosen.items())), {**chosen, "knob B": "3"}]
    made: Any = [SimpleNamespace(exact=False, chosen=settings) for settings in every]
    assert runs.groups(made) == [made[:2], made[2:]]


# Whole checks of runs on the virtual board, beside operations that are written by hand.


SERVED = Operation("A", cycles=1_600, instructions=700, probes=64)
FREED = Operation("F", cycles=310, instructions=150, probes=0)
BEFORE = [SERVED, FREED, replace(SERVED, hits=1), replace(SERVED, cycles=2_000)]


def entry(*operations: Operation, build: str = "ab", compiler: str = "12", **others: object) -> Entry:
    made_by = {"firmware sha256": build, "compiler": compiler, "probes": "records"}
    figures = Figures.model_validate({
        "exact": True, "repetitions": 1, "image_sha256": "0" * 64,
        "operations": operations_text(operations, [None] * len(operations)), **others,
    })  # fmt: skip
    return Entry(settings={"board folder": "nucleo-f401re"}, made_by=made_by, run=figures)


def run(operations: Sequence[Operation], build: str = "cd", compiler: str = "12", **others: object) -> Any:
    """Stands in for a run that was read, without latencies."""
    return SimpleNamespace(**{
        "operations": list(operations),
        "names": [f"op {number}" for number in range(len(operations))],
        "made_by": {"firmware sha256": build, "compiler": compiler, "probes": "records"},
        "counts_probes": True, "exact": True,
        "manifest": SimpleNamespace(statistics={}), **others,
    })  # fmt: skip


def nothing_for_none(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: None if value == "none" else value for name, value in values.items()}


def changed(**by_number: Mapping[str, Any]) -> list[Operation]:
    """BEFORE with other operations: `_1={"cycles": 9}`."""
    return [
        replace(operation, **nothing_for_none(by_number.get(f"_{number}", {})))
        for number, operation in enumerate(BEFORE)
    ]


QUANTITIES = ["outcomes", "probes", "cycles", "section", "interrupt", "task", "control"]


@table
def test_a_run_beside_its_baseline(
    operations: dict[str, Any], others: dict[str, Any], states: str, sentences: Sentences
) -> None:
    """The state of each quantity, and how many operations it names."""
    now = run(changed(**operations), **others)
    judged = beside.judge_exact(entry(*BEFORE), BEFORE, now)
    assert [check.name for check in judged] == QUANTITIES
    assert ", ".join(f"{check.state} {len(check.named)}" for check in judged[:3]) == states
    sentences.hold("\n".join(" ".join((check.sentence, *check.named)) for check in judged))


@table
def test_an_operation_that_ends_otherwise(before: str, now: str, state: str) -> None:
    then = [Operation(before, 9, None, 0), FREED]
    check = beside.judge_exact(entry(*then), then, run([Operation(now, 9, None, 0), FREED]))[0]
    assert (check.state, len(check.named)) == (state, 1)


def test_where_a_difference_comes_from(sentences: Sentences) -> None:
    """Of what is faster nothing is said."""
    assert not [*beside.notes(BEFORE, run(BEFORE)), *beside.notes(BEFORE, run(changed(_0={"cycles": 1_599})))]
    now = changed(
        _0={"cycles": 1_601},
        _1={"cycles": 311, "probes": 1},
        _3={"cycles": 2_001, "instructions": 701},
    )
    (note,) = beside.notes(BEFORE, run(now))
    sentences.hold(note)


def test_on_any_board_outcomes_and_probes_are_judged() -> None:
    now = run([replace(SERVED, cycles=9_999, probes=65), replace(FREED, kind="N"), *BEFORE[2:]])
    judged = beside.judge_counts(entry(*BEFORE), BEFORE, now)
    assert [(check.name, check.state) for check in judged] == [("outcomes", "worse"), ("probes", "worse")]


def latency(n: int, others: Mapping[str, Any]) -> Any:
    usual = Summary(n=n, mean=400.0, median=390.0, p99_9=1_000.0, max=1_234.5)
    summary = usual.model_copy(update=nothing_for_none(others))
    manifest = SimpleNamespace(statistics={"interrupt_latency_ns": summary})
    return SimpleNamespace(exact=True, manifest=manifest)


KNOWN = Statistics(budget=0, n=[5], mean=[400.0], median=[390.0], p99_9=[1_000.0], max=[1_234.5])
BASELINES = {"whole": KNOWN, "cut": Statistics(budget=0, n=[5], mean=[400.0]), "nothing": None}


@table
def test_the_wire_beside_its_baseline(
    before: str, n: int, now: dict[str, Any], unchanged: bool, state: str, sentences: Sentences
) -> None:
    later = summed_up([latency(n, now)]).get("interrupt_latency_ns")
    check = wire_check("interrupt", BASELINES[before], later, unchanged)
    assert check.state == state
    sentences.hold(check.sentence)


def test_where_an_operation_took_another_time_the_wire_is_not_judged() -> None:
    """Another number of probes alone moves no stimulus."""
    statistics: Any = {"quantities": {"interrupt_latency_ns": KNOWN}}
    for now, state in ((changed(_0={"probes": 1}), "worse"), (changed(_0={"cycles": 1}), "not judged")):
        later = run(now, manifest=latency(5, {"max": 1_334.5}).manifest)
        judged = beside.judge_exact(entry(*BEFORE, **statistics), BEFORE, later)
        assert next(check.state for check in judged if check.name == "interrupt") == state


MADE_BY = {"firmware sha256": "ab", "compiler": "12", "probes": "records"}


def run_of(manifest: Mapping[str, object]) -> Any:
    """A run on a real board without operations."""
    return SimpleNamespace(
        operations=[],
        names=[],
        counts_probes=True,
        exact=False,
        made_by={**MADE_BY, "firmware sha256": "cd"},
        manifest=SimpleNamespace(**{"statistics": {}, "error_budget": {}, "maxima": {}, **manifest}),
    )


def measured(
    budget: float | None = 1.0, n: int = 5, key: str = "interrupt_latency_ns", **statistics: float | None
) -> Any:
    """A run with one quantity."""
    term = SimpleNamespace(total=SimpleNamespace(of=lambda unit: budget if unit in key else None))
    return run_of(
        manifest={
            "statistics": {key: Summary.model_validate({"n": n, **statistics})},
            "error_budget": {key: term},
        }
    )


def test_repetitions_are_summed_up_by_quantity() -> None:
    """What all of them tell, with the greatest of the budgets; cycles are no truer than to one."""
    each = ((1.0, 10.0), (3.0, 11.0), (2.0, 12.0))
    runs = [measured(budget, max=most, median=9.0) for budget, most in each]
    expected = {"interrupt_latency_ns": Statistics(budget=3.0, max=[10.0, 11.0, 12.0], median=[9.0] * 3)}
    assert summed_up(runs) == expected
    (shared,) = summed_up([*runs, measured(max=9.0)]).values()
    assert shared.by_name == {"max": [10.0, 11.0, 12.0, 9.0]}
    assert summed_up([*runs, measured(None, max=9.0)]) == {}
    assert summed_up([*runs, measured(n=0)]) == {}
    cycles = [measured(0.25, key="dwt_cycles", max=5), measured(0.5, key="dwt_cycles", max=6)]
    assert summed_up(cycles) == {"dwt_cycles": Statistics(budget=1.0, max=[5, 6])}


def test_the_uncertainty_of_a_difference_is_that_of_students_t() -> None:
    before, now = [10.0, 12.0, 11.5, 9.0], [14.0, 15.5, 14.5]
    change, uncertain = difference(before, now, 0.01)
    low, high = scipy.stats.ttest_ind(now, before).confidence_interval(0.98)
    assert (change, uncertain) == pytest.approx(((low + high) / 2, (high - low) / 2))


def entry_of(**others: object) -> Entry:
    figures = Figures.model_validate({
        "exact": False, "repetitions": 4, "image_sha256": "0" * 64, "operations": "", **others,
    })  # fmt: skip
    return Entry(settings={"board folder": "nucleo-f401re"}, made_by=MADE_BY, run=figures)


REPEATED = Statistics(budget=2, mean=[100.0] * 4, max=[200.0] * 4)


@table
def test_statistics_beside_those_of_the_repetitions(
    mean: float, most: float, state: str, budget: float | None, sentences: Sentences
) -> None:
    now = measured(budget, mean=mean, max=most)
    check = beside.judge_repeated(entry_of(quantities={"interrupt_latency_ns": REPEATED}), [], [now])[-1]
    assert (check.name, check.state) == ("interrupt", state)
    sentences.hold(check.sentence)


def test_what_the_baseline_lacks_cannot_be_said() -> None:
    check = beside.judge_repeated(entry_of(), [], [measured(key="dwt_cycles", max=5.0)])[-1]
    assert (check.name, check.state) == ("allocate, cycles", "cannot say")


# Limits.


@table
def test_a_limit_beside_the_greatest_value(
    limit: str, key: str, greatest: float, state: str, exact: bool, budget: float | None
) -> None:
    now = measured(budget, key=key, max=greatest)
    now.exact = exact
    if budget is None:
        now.manifest.error_budget.clear()
    (held,) = limits.parse(dict([limit.split("=")]), tuple(stored.ON_THE_WIRE), timed=stored.TIMED)
    check = limits.hold(held, stored.rows_of(now), Words(), limits.Allowance())
    assert check.state == state


# The baseline file: read as it was written, refused in a sentence.


def test_a_baseline_is_read_again(tmp_path: Path) -> None:
    path = tmp_path / "b" / "masks.toml"
    subject = of_program(row("std::f(int)", "primask", 3), row("main", "handler", 9, open=True))
    made = files.made(path, "masks", {"any": "12us"}, [programs.entry(subject)])
    path.parent.mkdir()
    files.write(made)
    assert files.read(path, "masks") == made
    assert made.entry[0].functions == {"main": {"handler": "open"}, "std::f(int)": {"primask": 3}}


HEAD = 'schema = 4\ncommand = "masks"\n[[entry]]\n[entry.settings]\n'


def test_a_damaged_file_is_refused_in_a_sentence(tmp_path: Path, sentences: Sentences) -> None:
    path = tmp_path / "b.toml"
    for text in (
        *(HEAD.replace("4", schema) for schema in ("5", '2\nmade_by = "Tailscope 0"')),
        *(HEAD.replace("masks", command) for command in ("gate", "latency")),
        *(HEAD + f"[entry.functions.f]\nprimask = {value}\n" for value in ("-1", '"shut"')),
        *(HEAD + "[entry.functions]\nf = 3\n", HEAD + "[entry.function.f]\n", "schema = 1\n[[entry]]\n"),
        "no toml",
    ):
        path.write_text(text, encoding="utf-8")
        with sentences.raised(GateError):
            files.read(path, "masks")


NUMBERS = st.integers(0, 3)


@st.composite
def operations(draw: st.DrawFn) -> Operation:
    cycles, instructions = (draw(st.none() | NUMBERS) for _ in range(2))
    return Operation(
        draw(st.sampled_from(OPERATION_KINDS)), cycles, instructions, draw(NUMBERS), draw(NUMBERS)
    )


LABELLED = st.lists(
    st.tuples(operations(), st.sampled_from([None, "depth 1", "it's: '''\n\x00"])), max_size=60
)


@given(LABELLED)
def test_what_is_written_is_read(labelled: list[tuple[Operation, str | None]]) -> None:
    written = [operation for operation, _ in labelled]
    text = files.operations_text(written, [label for _, label in labelled])
    assert files.operations_of(text) == written
    assert "'" not in text


def test_eight_operations_of_one_label_are_a_line() -> None:
    served = Operation("A", 161, 70, 2)
    freed = Operation("F", 310, 150, 0)
    met = Operation("A", 280, 113, 2, hits=1)
    labels = ["depth 1"] * 2 + ["depth 2"] * 9
    text = files.operations_text([served, freed, met] + [served] * 8, labels)
    eight = " ".join(["A280/113/2+1"] + ["A161/70/2"] * 7)
    assert text == f"0 depth 1: A161/70/2 F310/150\n2 depth 2: {eight}\n10 depth 2: A161/70/2\n"


def test_what_is_no_operation_is_named_with_its_line(sentences: Sentences) -> None:
    for text in (
        *("1: A1", "0: A1\n0: A1", "0: X1", "0: Anan", "0: A--1", "0: A12345678901", "0: (A1)*3", "garbage"),
    ):
        with sentences.raised(GateError):
            files.operations_of(text)
