"""Children that end, and signals that end this process."""

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
from base.processes.signals import Stopped

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


def test_a_step_that_polars_takes_part_in_is_not_cut() -> None:
    script = (
        "import os, signal\n"
        "from base.processes import signals\n"
        "signals.listen()\n"
        "import polars\n"
        "def hit(frame):\n"
        "    os.kill(os.getpid(), signal.SIGINT)\n"
        "    return frame\n"
        "try:\n"
        "    with signals.orderly():\n"
        "        polars.LazyFrame({'a': [1]}).map_batches(hit).collect()\n"
        "        print('whole', end='; ')\n"
        "except signals.Stopped as stopped:\n"
        "    print(stopped)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout == "whole; Stopped by Ctrl-C.\n"


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


pytestmark = pytest.mark.usefixtures("interruptible")


def send(number: int) -> None:
    os.kill(os.getpid(), number)


@pytest.mark.parametrize(
    ("number", "name", "status"),
    [(signal.SIGINT, "Ctrl-C", 130), (signal.SIGTERM, "SIGTERM", 143), (signal.SIGHUP, "SIGHUP", 129)],
)
def test_a_signal_waits_for_the_end_of_the_block(number: int, name: str, status: int) -> None:
    done = []
    with pytest.raises(Stopped) as stopped, signals.orderly():
        send(number)
        assert signals.asked() == number
        done.append("what follows")
    assert done == ["what follows"]
    assert (str(stopped.value), stopped.value.exit_status) == (f"Stopped by {name}.", status)
    assert signals.asked() is None


def test_the_first_signal_counts_and_the_others_are_answered_once(capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(Stopped) as stopped, signals.orderly():
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGINT):
            send(number)
    assert stopped.value.number == signal.SIGTERM
    assert capfd.readouterr().err.count("Stopping already") == 1


@pytest.mark.parametrize("after", [False, True])
def test_none_is_lost_in_the_last_moment_of_a_block(after: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """It comes right before the block is left, or right after."""

    class Sending(signals._State):
        def __setattr__(self, name: str, value: object) -> None:
            if not after and (name, value) == ("depth", 0):
                send(signal.SIGTERM)
            super().__setattr__(name, value)
            if after and (name, value) == ("depth", 0):
                send(signal.SIGTERM)

    state = Sending()
    state.listening = True
    monkeypatch.setattr(signals, "_state", state)
    before = {number: signal.getsignal(number) for number in signals.HEARD}
    signal.signal(signal.SIGTERM, signals._hear)
    try:
        with pytest.raises(Stopped) as stopped, signals.orderly():
            pass
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    assert stopped.value.number == signal.SIGTERM
    assert signals.asked() is None


def test_errors_are_raised_as_ever_and_handlers_given_back() -> None:
    before = [signal.getsignal(number) for number in signals.HEARD]
    with pytest.raises(OSError, match="disk"), signals.orderly():
        assert signal.getsignal(signal.SIGTERM) not in before
        raise OSError("disk")
    assert [signal.getsignal(number) for number in signals.HEARD] == before


def test_a_signal_that_came_before_anybody_listened_is_heard() -> None:
    """`lab` holds signals back until Python has its handlers."""
    script = (
        "import os, signal, time\n"
        "from base.processes import signals\n"
        "os.kill(os.getpid(), signal.SIGTERM)\n"
        "try:\n    signals.listen()\n    time.sleep(600)\n"
        "except signals.Stopped as stopped:\n    print(stopped)"
    )
    command = ["env", "--block-signal=TERM", sys.executable, "-c", script]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=600)
    assert (done.stdout, done.stderr) == ("Stopped by SIGTERM.\n", "")
