"""Runs back to back: all of them are accounted for, and what is not as it is due is told."""

import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from base.paths import ROOT
from quality.soak import run as one_run
from quality.soak import soak
from quality.soak.catalogue import COMPLETE, FAULTS, NONE, TRUNCATED, DeskFault, named
from quality.soak.run import Headlines, Outcome
from tests import lab

LAB = (sys.executable, "-m", "cli")


def outcome(fault: DeskFault, board: str, **changed: object) -> Outcome:
    as_due = Outcome(
        board=board,
        fault=fault.name,
        due=fault.verdict,
        verdict=fault.verdict,
        exit_status=fault.exit_status,
        sentences=(),
        folder="",
        redecoded="",
        left=(),
        files_left=(),
        descriptors_left=0,
        memory_kib=1,
        seconds=0.1,
        headlines={},
    )
    return replace(as_due, **changed)  # type: ignore[arg-type]


Carry = Callable[[DeskFault, str, Path, Headlines | None], Outcome]


@pytest.fixture
def carried(monkeypatch: pytest.MonkeyPatch) -> Callable[[Carry], None]:
    """Replaces the run."""

    def replace_by(carry: Carry) -> None:
        monkeypatch.setattr(soak, "carry_out", carry)

    return replace_by


def test_every_fault_comes_once_before_any_comes_again(
    carried: Callable[[Carry], None], tmp_path: Path
) -> None:
    carried(lambda fault, board, _runs, _reference: outcome(fault, board))
    desk = [fault.name for fault in FAULTS if "desk" in fault.boards]
    accounting = soak.soak(["virtual", "desk"], tmp_path, runs=2 * (1 + len(desk)), seed=3)
    assert accounting.sound and len(accounting.outcomes) == 2 * (1 + len(desk))
    on_desk = [result.fault for result in accounting.outcomes if result.board == "desk"]
    assert on_desk[0] == "none" and sorted(on_desk[1:]) == sorted(desk)
    again = soak.soak(["virtual", "desk"], tmp_path / "again", runs=len(accounting.outcomes), seed=3)
    assert [result.fault for result in again.outcomes] == [result.fault for result in accounting.outcomes]
    assert len((tmp_path / soak.LINES).read_text().splitlines()) == len(accounting.outcomes)


def test_a_run_that_is_not_as_due_is_told_and_its_folder_kept(
    carried: Callable[[Carry], None], tmp_path: Path
) -> None:
    def carry(fault: DeskFault, board: str, runs: Path, _reference: Headlines | None) -> Outcome:
        folder = runs / f"run-{fault.name}"
        folder.mkdir(parents=True)
        wrong = () if fault == NONE else ("The outcome is complete, and truncated is due.",)
        return outcome(fault, board, folder=str(folder), wrong=wrong)

    carried(carry)
    accounting = soak.soak(["virtual"], tmp_path, runs=2, faults=["terminated"])
    assert not accounting.sound and [result.fault for result in accounting.unaccounted] == ["terminated"]
    assert [path.name for path in (tmp_path / "runs").iterdir()] == ["run-terminated"]
    assert "2 runs in 0.0 min, 1 unaccounted for" in soak.as_text(accounting)
    assert accounting.as_json()["wrong"][0]["fault"] == "terminated"


def judged(fault: DeskFault, **changed: object) -> list[str]:
    """What is wrong about an outcome that is as due but for what changed."""
    reference = {"probes": [1.0]}
    result = outcome(fault, "desk", **{"sentences": (fault.says,), "headlines": reference, **changed})
    return list(one_run.wrong_of(fault, result, "", "", reference))


def test_what_is_not_as_due_is_named() -> None:
    reset = named("board-reset")
    assert judged(reset) == judged(NONE) == []
    assert judged(reset, verdict=COMPLETE) == ["The outcome is complete, and truncated is due."]
    assert judged(reset, exit_status=0) == ["The exit status is 0, and 1 is due."]
    assert judged(replace(reset, says="never said"), sentences=("said",)) == [
        "No sentence says 'never said'."
    ]
    assert judged(reset, folder="f", redecoded="complete") == ["Decoding it again gives 'complete'."]
    assert judged(NONE, headlines={"probes": [2.0]}) != []
    assert judged(reset, left=("sigrok-cli",)) == ["1 processes are left."]
    assert judged(reset, files_left=("tailscope-x",)) == ["Temporary files are left: tailscope-x."]


@pytest.mark.parametrize(
    "options",
    [
        "",
        "--minutes 1 --runs 1",
        "--minutes nan",
        "--runs 0",
        "--runs 1 --seed x",
        "--runs 1 --board desk --fault terminated",  # it comes on none of the boards
        "--runs 1 --board nucleo",
        "--runs 1 --fault board-hang",
    ],
)
def test_options_that_make_no_sense_get_a_sentence(options: str) -> None:
    done = lab.run("dev", "soak", *options.split())
    assert done.returncode == 2 and done.stderr.strip().count("\n") == 0


@pytest.mark.long
def test_a_soak_on_the_virtual_board_accounts_for_its_runs(tmp_path: Path) -> None:
    command = [*LAB, "dev", "soak", "--runs", "3", "--board", "virtual", "--output", str(tmp_path), "--json"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=600)
    document = json.loads(done.stdout)
    assert done.returncode == 0, done.stderr
    assert document["runs"] == 3 and document["unaccounted"] == document["processes_left"] == 0
    verdicts = {row["fault"]: row["verdict"] for row in document["counts"]}
    assert verdicts == {"none": COMPLETE, "terminated": TRUNCATED}
    (lines,) = tmp_path.rglob(soak.LINES)
    assert [json.loads(line)["run"] for line in lines.read_text().splitlines()] == [0, 1, 2]
