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
        *(("desk", "analyzer", "right"), ("desk", "probe", "right"), ("desk", "port", "right")),
        ("probe", "probe", "right"),
    ]
    words = [row["words"] for row in rows]
    assert "8 inputs" in words[0] and desk.stlink in words[1] and "firmware V2J37" in words[3]
    assert words[2].startswith("/dev/ttyACM0") and "(0483:374b)" in words[2]


def test_the_wiring_check_names_the_clips_of_the_desk() -> None:
    """Every kind of mistake at once: each is told of its own clips."""
    clips = "D0=open-high,D1=STIM,D2=OP,D3=open,D4=TASK+CTRL,D5=TASK+CTRL,D6=SYNC"
    with EmulatedDesk(clips=clips) as desk:
        status, report = lab(desk, "wiring", "check")
    assert (status, report["right"]) == (1, False)
    assert set(report["remedies"]) == {
        "D0 stays high: clip it on CRIT (D7, CN9-8).",
        "D3 stays low: clip it on ISR (D2, CN9-3).",
        "D1 sees STIM and D2 sees OP: swap the clips of D1 and D2.",
        "D4 and D5 always move together, with TASK and CTRL: "
        "part their clips at TASK (D6, CN9-7), CTRL (A1, CN8-2).",
        "D6 sees SYNC, as does D7: clip it on CISR (D4, CN9-5), and part it from D7 if they touch.",
    }
    assert [(row["input"], row["state"]) for row in report["clips"]] == [
        *(("D0", "missing"), ("D1", "swapped"), ("D2", "swapped"), ("D3", "missing")),
        *(("D4", "shorted"), ("D5", "shorted"), ("D6", "doubled"), ("D7", "right")),
    ]


def test_the_wiring_check_of_a_desk_that_is_right() -> None:
    with EmulatedDesk(channels=16) as desk:
        status, report = lab(desk, "wiring", "check")
    assert (status, report["right"]) == (0, True)
