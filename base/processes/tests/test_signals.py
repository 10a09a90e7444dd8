"""Signals within and around orderly()."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest

from base.paths import ROOT
from base.processes import signals
from base.processes.signals import Stopped

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
