"""Signals within and around orderly()."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading

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


def test_only_the_outermost_block_raises_by_itself() -> None:
    with pytest.raises(Stopped), signals.orderly():
        with signals.orderly():
            send(signal.SIGINT)
        with pytest.raises(Stopped):
            signals.check()


def test_the_first_signal_counts_and_the_others_are_answered_once(capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(Stopped) as stopped, signals.orderly():
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGINT):
            send(number)
    assert stopped.value.number == signal.SIGTERM
    assert capfd.readouterr().err.count("Stopping already") == 1


def test_what_a_signal_broke_is_no_error() -> None:
    with pytest.raises(Stopped), signals.orderly():
        send(signal.SIGINT)
        raise OSError("the tool was interrupted")


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


def test_an_ignored_signal_stays_ignored() -> None:
    """As nohup wants it."""
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with signals.orderly():
            send(signal.SIGHUP)
            assert signals.asked() is None
    finally:
        signal.signal(signal.SIGHUP, before)


def test_threads_pass_through() -> None:
    done: list[str] = []

    def work() -> None:
        with signals.orderly():
            done.append("worked")

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert done == ["worked"]


def test_a_signal_that_came_before_anybody_listened_is_heard() -> None:
    """`lab` holds signals back until Python has its handlers."""
    script = (
        "import os, signal, time\n"
        "from base.processes import signals\n"
        "os.kill(os.getpid(), signal.SIGTERM)\n"
        "try:\n    signals.listen()\n    time.sleep(60)\n"
        "except signals.Stopped as stopped:\n    print(stopped)"
    )
    command = ["env", "--block-signal=TERM", sys.executable, "-c", script]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=50)
    assert (done.stdout, done.stderr) == ("Stopped by SIGTERM.\n", "")


def test_a_terminal_that_hung_up_fails_no_write() -> None:
    script = (
        "import os, pty, signal, sys\n"
        "from base.processes import signals\n"
        "device, port = pty.openpty()\n"
        "os.dup2(port, 2); os.close(port); os.close(device)\n"
        "with signals.orderly():\n"
        "    os.kill(os.getpid(), signal.SIGHUP)\n"
        "    os.write(2, b'more')\n"
        "    print('stored', flush=True)"
    )
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True)
    assert done.stdout == "stored\n"


def test_a_signal_that_is_passed_on_is_not_noted() -> None:
    got: list[int] = []
    with signals.passed_on(got.append):
        send(signal.SIGTERM)
        send(signal.SIGINT)
    assert got == [signal.SIGTERM, signal.SIGINT]
    assert signals.asked() is None
    with pytest.raises(Stopped), signals.orderly():
        send(signal.SIGTERM)
