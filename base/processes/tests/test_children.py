"""Children that end, that do not, and that leave somebody behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from base.paths import ROOT
from base.processes import children, signals

MANY_S = 60.0  # never reached


def test_a_child_that_takes_too_long_is_ended_with_its_own(tmp_path: Path) -> None:
    body = f"sleep 600 & echo $! > {tmp_path}/pid; trap '' TERM; while :; do sleep 1; done"
    began_s = time.monotonic()
    with pytest.raises(subprocess.TimeoutExpired):
        children.run(["sh", "-c", body], within_s=0.3)
    assert time.monotonic() - began_s < 0.3 + 3 * children.GRACE_S
    assert is_gone(int((tmp_path / "pid").read_text()))


@pytest.mark.usefixtures("interruptible")
def test_a_signal_ends_the_child() -> None:
    threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGTERM)).start()
    began_s = time.monotonic()
    with pytest.raises(signals.Stopped, match=r"Stopped by SIGTERM\."):
        children.run(["sleep", "600"], within_s=MANY_S)
    assert time.monotonic() - began_s < 300


def test_a_frozen_child_dies_with_a_parent_that_is_killed(tmp_path: Path) -> None:
    script = (
        "import sys; from base.processes import children\n"
        "children.run(['sh', '-c', 'echo $$ > pid.new; mv pid.new pid; kill -STOP $$'],"
        " within_s=600, folder=sys.argv[1])"
    )
    with subprocess.Popen([sys.executable, "-c", script, str(tmp_path)], cwd=ROOT) as parent:
        while not (tmp_path / "pid").exists():
            assert parent.poll() is None
            time.sleep(0.01)
        parent.kill()
    deadline_s = time.monotonic() + MANY_S
    pid = int((tmp_path / "pid").read_text())
    while not is_gone(pid) and time.monotonic() < deadline_s:
        time.sleep(0.01)
    assert is_gone(pid)


def is_gone(pid: int) -> bool:
    """True if the process has ended, waited for or not."""
    try:
        return ") Z " in Path(f"/proc/{pid}/stat").read_text()
    except FileNotFoundError:
        return True


@pytest.mark.parametrize(("script", "status"), [("exit 7", 7), ("kill -9 $$", 137), ("cat; true", 0)])
def test_an_attended_command_has_our_streams_and_its_own_status(
    script: str, status: int, capfd: pytest.CaptureFixture[str]
) -> None:
    assert children.attend(["sh", "-c", f"echo heard; {script}"]) == status
    assert capfd.readouterr().out == "heard\n"
