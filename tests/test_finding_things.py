"""`doctor` and `wiring check` on the emulated desk: stock sigrok-cli, pyOCD and pySerial."""

from __future__ import annotations

import json
import sys
from typing import Any

import pytest

from base.processes import tools
from capture.desk import emulated
from simulator.desk import EmulatedDesk
from tests.processes import seeing

pytestmark = pytest.mark.skipif(
    not tools.is_installed("umockdev-run"), reason="needs umockdev: apt-get install umockdev"
)


def lab(desk: EmulatedDesk, *words: str) -> tuple[int, Any]:
    """The exit status of a command with --json, run on this desk, and what it printed."""
    command = (sys.executable, "-m", "cli", *words, "--board", "desk", "--json")
    done = seeing(desk, *command, **{emulated.MARK: "desk"})
    assert done.stdout, done.stderr
    return done.returncode, json.loads(done.stdout)


def test_the_doctor_finds_the_desk() -> None:
    with EmulatedDesk() as desk:
        status, report = lab(desk, "doctor")
    assert (status, report["can_run"]) == (0, True)
    rows = [row for row in report["findings"] if row["check"] != "tools"]
    assert [(row["check"], row["subject"], row["state"]) for row in rows] == [
        *(("desk", subject, "right") for subject in ("analyzer", "loader", "probe", "port")),
    ]
    words = [row["words"] for row in rows]
    assert "fx2lafw" in words[0] and desk.stlink in words[2] and "firmware V2J37" in words[2]
    assert words[3].startswith("/dev/ttyACM0") and "0483:374b" in words[3]


def test_the_wiring_check_names_the_clips_of_the_desk() -> None:
    """Every kind of mistake at once: each is told of its own clips."""
    clips = "D0=open-high,D1=STIM,D2=OP,D3=open,D4=TASK+CTRL,D5=TASK+CTRL,D6=SYNC"
    with EmulatedDesk(clips=clips) as desk:
        status, report = lab(desk, "wiring", "check")
    assert (status, report["right"]) == (1, False)
    assert set(report["remedies"]) == {
        "D0 sees no pin steadily: press its clip on CRIT (D7, CN9-8).",
        "D3 sees no pin steadily: press its clip on ISR (D2, CN9-3).",
        "D1 sees STIM: clip it on OP (D8, CN5-1), and see that it touches nothing else.",
        "D2 sees OP: clip it on STIM (A0, CN8-1), and see that it touches nothing else.",
        "D4 sees TASK and CTRL: clip it on TASK (D6, CN9-7), and see that it touches nothing else.",
        "D5 sees TASK and CTRL: clip it on CTRL (A1, CN8-2), and see that it touches nothing else.",
        "D6 sees SYNC: clip it on CISR (D4, CN9-5), and see that it touches nothing else.",
    }
    assert [(row["input"], row["state"]) for row in report["clips"]] == [
        *(("D0", "missing"), ("D1", "swapped"), ("D2", "swapped"), ("D3", "missing")),
        *(("D4", "shorted"), ("D5", "shorted"), ("D6", "swapped"), ("D7", "right")),
    ]


def test_the_wiring_check_of_a_desk_that_is_right() -> None:
    with EmulatedDesk(channels=16) as desk:
        status, report = lab(desk, "wiring", "check")
    assert (status, report["right"]) == (0, True)
