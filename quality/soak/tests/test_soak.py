"""Runs back to back: all of them are accounted for, and what is not as it is due is told."""

import json
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from base.paths import ROOT
from quality.soak import soak
from quality.soak.catalogue import COMPLETE, NONE, TRUNCATED, DeskFault, named
from quality.soak.soak import Outcome

LAB = (sys.executable, "-m", "cli")


def outcome(fault: DeskFault, board: str, **changed: object) -> Outcome:
    as_due = Outcome(
        board=board,
        fault=fault.name,
        due=fault.verdict,
        verdict=fault.verdict,
        exit_status=fault.exit_status,
        left=(),
        files_left=(),
        seconds=0.1,
    )
    return replace(as_due, **changed)  # type: ignore[arg-type]


def judged(fault: DeskFault, **changed: object) -> list[str]:
    """What is wrong about an outcome that is as due but for what changed."""
    reference = {"probes": [1.0]}
    result = outcome(fault, "desk", **{"sentences": (fault.says,), "headlines": reference, **changed})
    return list(soak.wrong_of(fault, result, "", "", reference))


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


def test_a_soak_ends_with_its_minutes_or_its_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    now_s = 0.0

    def carry_out(fault: DeskFault, board: str, *_: object) -> Outcome:
        nonlocal now_s
        now_s += 40.0
        return outcome(fault, board)

    monkeypatch.setattr(soak, "carry_out", carry_out)
    monkeypatch.setattr(time, "monotonic", lambda: now_s)
    assert len(soak.soak(["virtual"], tmp_path, minutes=2.0).outcomes) == 3
    assert len(soak.soak(["virtual"], tmp_path, minutes=2.0, runs=2).outcomes) == 2
    assert len(soak.soak(["virtual"], tmp_path, runs=5).outcomes) == 5


@pytest.mark.long
def test_a_soak_on_the_virtual_board_accounts_for_its_runs(tmp_path: Path) -> None:
    command = [*LAB, "dev", "soak", "--runs", "3", "--board", "virtual", "--output", str(tmp_path), "--json"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=600)
    document = json.loads(done.stdout)
    assert done.returncode == 0, done.stderr
    assert document["runs"] == 3 and document["unaccounted"] == 0
    verdicts = {row["fault"]: row["verdict"] for row in document["counts"]}
    assert verdicts == {"none": COMPLETE, "terminated": TRUNCATED}
    (lines,) = tmp_path.rglob(soak.LINES)
    assert [json.loads(line)["run"] for line in lines.read_text().splitlines()] == [0, 1, 2]
