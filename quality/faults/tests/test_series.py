"""Campaigns of bounded size: what rules exist for is found, and nothing crashes."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from base.paths import ROOT
from base.run_folder.folder import RunName
from base.run_folder.manifest import Manifest
from capture.conduct import begin_folder, keep_observation, kind_of
from capture.tests.test_redecode import TIME
from quality.faults import series
from quality.faults.headlines import changes
from quality.faults.series import Fault, FaultError, Healthy, Outcome, Report
from quality.faults.tests.conftest import stored
from tests.tables import table

SEED = 11
# How many faults of each kind are planted.
EACH = 2


@pytest.fixture(scope="module")
def report(run: Healthy) -> Report:
    return series.run_series([run], EACH * len(run.kinds), SEED)


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
    outcomes = [series.outcome_of([run], Fault(kind, 0), SEED) for kind in [*run.kinds][::8]]
    assert len(outcomes) > 20 and unsound(outcomes) == []


@pytest.mark.long
def test_double_faults_are_planted_beside_the_single_ones(run: Healthy) -> None:
    report = series.run_series([run], 1, SEED, pairs=2)
    assert [outcome.fault.kind for outcome in report.outcomes].count("pair") == 2
    assert report.as_json()["planted"] == 3
    pair = report.outcomes[-1]
    assert ";" in pair.planted
    assert series.outcome_of([run], pair.fault, SEED) == pair


def test_a_crash_is_a_kind_of_its_own(run: Healthy, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(series, "summarise_run", lambda *_: 1 // 0)
    outcome = series.outcome_of([run], Fault("lost_record", 0), SEED)
    assert outcome.fate == "crashed"
    assert "ZeroDivisionError" in (outcome.error or "")
    assert not outcome.sound
    assert "ZeroDivisionError" in Report(SEED, ("synthetic",), (outcome,)).as_text()


def store(folder: Path, broken: bool = False, depth: int = 3) -> Path:
    result = stored(depth=depth)
    kind = kind_of(result.account)
    created = begin_folder(folder, RunName(result.account.plan.name, "tlsf", "nucleo"), TIME, kind)
    records = result.seen.serial_bytes[:-20] if broken else result.seen.serial_bytes
    keep_observation(created, kind, replace(result.seen, serial_bytes=records))
    kind.conclude(created, result.seen)
    return created


def test_a_stored_run_is_read_and_stays_as_it_was(tmp_path: Path) -> None:
    folder = store(tmp_path)
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    report = series.run([folder], n=2, seed=1)
    assert report.runs == [folder.name]
    assert len(report.outcomes) == 2
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_a_run_that_is_not_complete_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FaultError, match="truncated before any fault is planted"):
        series.run([store(tmp_path, broken=True)], n=1, seed=1)


def edited(run: Healthy, path: str, value: Any) -> Manifest:
    """The run.json with one value replaced."""
    content = json.loads(json.dumps(run.manifest.as_json()))
    *way, last = path.split(".")
    place = content
    for name in way:
        place = place[name]
    assert last in place
    place[last] = value
    return Manifest.of(content)


def changed(run: Healthy, path: str, value: Any) -> list[str]:
    return [change.headline for change in changes(run.manifest, edited(run, path, value))]


@pytest.mark.parametrize("name", ["min", "mean", "median", "max"])
@table
def test_a_statistic_may_move_within_its_budget(run: Healthy, name: str, part: float, beyond: bool) -> None:
    key = "interrupt_latency_ns"
    value, budget = getattr(run.manifest.statistics[key], name), run.manifest.error_budget[key]
    assert budget.total.ns is not None and budget.rank.ns is not None
    most = budget.total.ns + (budget.rank.ns if name == "median" else 0.0)
    path = f"{key}.{name}"
    assert changed(run, path, value + part * most) == ([path] if beyond else [])


@table
def test_what_is_counted_or_stated_may_not_change_at_all(run: Healthy, path: str, value: Any) -> None:
    assert changed(run, path, value) == [path]


pytestmark = pytest.mark.docs

PAGE = (ROOT / "docs" / "reference" / "planted-faults.md").read_text(encoding="utf-8")


def test_the_kinds_are_those_of_the_page(run: Healthy) -> None:
    rows = [line.split("|")[1] for line in PAGE.splitlines() if line.startswith("| `")]
    kinds = {name.split(".")[0] for row in rows for name in re.findall(r"`([\w.]+)`", row)}
    assert kinds == {kind.split(".")[0] for kind in run.kinds}


def test_the_keys_of_the_report_are_those_of_the_page(run: Healthy) -> None:
    page = PAGE.split("## JSON\n")[1]
    report = series.run_series([run], 1, seed=1)
    keys = {*report.as_json(), *report.outcomes[0].as_json(), "headline", "before", "after", "allowed"}
    assert keys <= set(re.findall(r"\w+", page))
