"""Campaigns of bounded size: what rules exist for is found, and nothing crashes."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from base.files.errors import CaptureError
from base.run_folder.folder import RunName
from capture.store import begin_folder, keep_observation, kind_of
from capture.tests.test_redecode import TIME
from quality.faults import series, text
from quality.faults.planting import Fault, FaultError, Healthy, read_healthy
from quality.faults.series import Outcome, Report
from quality.faults.tests.conftest import stored
from tests.sentences import Sentences

SEED = 11
# How many faults of each kind are planted.
EACH = 2
FATES = ("detected", "harmless", "undetected_changed", "crashed")


@pytest.fixture(scope="module")
def report(run: Healthy) -> Report:
    return series.run([run], EACH * len(run.kinds), SEED)


UNWITNESSED = (
    *("BOOT.free_blocks", "TICK.handler_cycles", "OP.probes"),
    *("OP.critical_cycles", "OP.operation_cycles"),  # by less than the wire resolves
)
"""Fields of which nothing but the firmware tells, where it sends them under right checksums."""
NOWHERE_ELSE = "late_channel.CRIT"
"""When a section began, nothing but CRIT tells: moved as a whole by a few samples in the operations
alone, it changes which waits met it (docs/reference/planted-faults.md)."""


def unsound(outcomes: Iterable[Outcome]) -> list[dict[str, Any]]:
    """Those at which the judge crashed, or a headline changed that something else tells."""
    return [
        outcome.as_json()
        for outcome in outcomes
        if outcome.fate == "crashed"
        or (
            outcome.fate == "undetected_changed"
            and not outcome.fault.kind.endswith((*UNWITNESSED, NOWHERE_ELSE))
        )
    ]


@pytest.mark.long
def test_nothing_crashes_the_judge_or_passes_with_a_changed_headline(report: Report) -> None:
    assert unsound(report.outcomes) == []


def test_nor_does_a_fault_of_every_eighth_kind(run: Healthy) -> None:
    outcomes = [series.replay([run], Fault(kind, 0), SEED) for kind in [*run.kinds][::8]]
    assert len(outcomes) > 20 and unsound(outcomes) == []


@pytest.mark.long
@pytest.mark.parametrize("kind", ["inserted_samples", "deleted_samples"])
def test_samples_that_slip_while_the_timers_run_are_all_found(run: Healthy, kind: str) -> None:
    """Before the first edge of a timer and after the last, a slip changes no interval."""
    stimuli = run.stored.seen.edges.transitions("STIM").sample[16:-16]
    outcomes = [series.replay([run], Fault(kind, number), SEED) for number in range(16)]
    within = [outcome for outcome in outcomes if stimuli[0] < place(outcome) < stimuli[-1]]
    assert len(within) > 5
    assert {outcome.fate for outcome in within} == {"detected"}
    assert "undetected_changed" not in {outcome.fate for outcome in outcomes}


def place(outcome: Outcome) -> int:
    """The sample that the words of a slip name."""
    words = outcome.planted.replace(",", "").split()
    numbers = [int(word) for word in words if word.isdigit()]
    return numbers[0] if outcome.fault.kind == "inserted_samples" else numbers[1]


@pytest.mark.long
def test_a_fault_is_replayed_as_it_was(run: Healthy, report: Report) -> None:
    for outcome in report.outcomes[::40]:
        assert series.replay([run], Fault.named(str(outcome.fault)), SEED) == outcome


@pytest.mark.long
def test_double_faults_are_planted_beside_the_single_ones(run: Healthy) -> None:
    found = series.run([run], 1, SEED, pairs=2)
    assert [outcome.fault.kind for outcome in found.outcomes].count("pair") == 2
    assert found.total["planted"] == 3
    pair = found.outcomes[-1]
    assert ";" in pair.planted
    assert series.replay([run], pair.fault, SEED) == pair


@pytest.mark.long
def test_the_seed_alone_decides_and_no_processes_do(run: Healthy) -> None:
    fault = Fault("extra_pulse.CRIT", 0)
    assert series.replay([run], fault, 1).planted != series.replay([run], fault, 2).planted
    alone, together = (series.run([run], 3, SEED, jobs) for jobs in (1, 2))
    assert alone == together


@pytest.mark.long
def test_the_report_is_json_and_its_counts_add_up(run: Healthy, report: Report) -> None:
    document: dict[str, Any] = json.loads(json.dumps(report.as_json()))
    assert {kind: counts["planted"] for kind, counts in report.by_kind.items()} == dict.fromkeys(
        run.kinds, EACH
    )
    assert report.total == {
        name: sum(counts[name] for counts in report.by_kind.values()) for name in ("planted", *FATES)
    }
    assert report.total["planted"] == sum(report.total[fate] for fate in FATES)
    assert {key: document[key] for key in ("planted", *FATES)} == report.total
    assert document["by_kind"] == report.by_kind
    assert len(document["undetected"]) == document["undetected_changed"]
    for entry in document["undetected"]:
        assert Fault.named(entry["fault"]).kind == entry["kind"]
        assert all({"headline", "before", "after", "allowed"} == set(change) for change in entry["changes"])


def test_a_crash_is_a_kind_of_its_own(run: Healthy, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(series, "summarise_run", lambda *_: 1 // 0)
    outcome = series.replay([run], Fault("lost_record", 0), SEED)
    assert outcome.fate == "crashed"
    assert "ZeroDivisionError" in (outcome.error or "")
    assert not outcome.sound
    assert "ZeroDivisionError" in text.as_text(Report(SEED, ("synthetic",), (outcome,)))


def test_a_run_that_is_refused_says_no_number(run: Healthy, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise CaptureError("It cannot be used.")

    monkeypatch.setattr(series, "summarise_run", refuse)
    outcome = series.replay([run], Fault("lost_record", 0), SEED)
    assert (outcome.fate, outcome.reasons) == ("detected", ("It cannot be used.",))


def store(folder: Path, broken: bool = False, depth: int = 3) -> Path:
    result = stored(depth=depth)
    kind = kind_of(result.account)
    created = begin_folder(folder, RunName(result.account.plan.name, "tlsf", "nucleo"), TIME, kind)
    records = result.seen.serial_bytes[:-20] if broken else result.seen.serial_bytes
    keep_observation(created, kind, replace(result.seen, serial_bytes=records))
    kind.conclude(created, result.seen)
    return created.path


def test_a_stored_run_is_read_and_stays_as_it_was(tmp_path: Path) -> None:
    folder = store(tmp_path)
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    report = text.run([folder], n=2, pairs=0, seed=1, jobs=1)
    assert report.runs == (folder.name,)
    assert report.total["planted"] == 2
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_a_run_that_is_not_complete_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FaultError, match="truncated before any fault is planted"):
        read_healthy(store(tmp_path, broken=True))


@pytest.mark.parametrize("word", ["lost_record", "lost_record:", ":", "lost_record:one", "lost_record:-1"])
def test_a_fault_without_its_name_is_refused(sentences: Sentences, run: Healthy, word: str) -> None:
    with sentences.raised(FaultError):
        Fault.named(word)
    with sentences.raised(FaultError):
        series.replay([run], Fault("lost_pulse.STM", 0), SEED)
    with sentences.raised(FaultError):
        text.run([], 1, 0, 1, 0)
