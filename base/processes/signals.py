"""SIGINT, SIGTERM and SIGHUP as an orderly end: the one place that hears them.

    with signals.orderly():
        ...                     # a signal is noted here and interrupts nothing
        signals.check()         # where nothing would be lost, it raises Stopped

A signal that raises wherever the program happens to be would leave behind processes, temporary
folders and half a run. So a step that must not be cut is within orderly(). What waits there looks
at asked() now and then. Where the outermost such block ends, Stopped is raised if a signal came.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType

HEARD = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

POLL_S = 0.05
"""How often a wait within orderly() looks at asked()."""

_AGAIN = b"Stopping already: what was recorded is being stored.\n"


class Stopped(BaseException):
    """A signal asked for the end. `kept` says what became
    of what was recorded; str() is a sentence.

    It is no KeyboardInterrupt, which libraries turn into an exit status of their own.
    """

    def __init__(self, number: int, recorded: str = "") -> None:
        super().__init__(number, recorded)
        self.number = number
        self.kept = recorded

    def __str__(self) -> str:
        name = "Ctrl-C" if self.number == signal.SIGINT else signal.Signals(self.number).name
        return f"Stopped by {name}{'; ' * bool(self.kept)}{self.kept}."

    @property
    def exit_status(self) -> int:
        """128 + n, as a shell tells of a signal: 130 for Ctrl-C."""
        return 128 + self.number


class _State:
    """The signals that this process has heard. Handlers run in the main thread only."""

    asked: int | None = None
    told_again = False
    depth = 0
    listening = False


_state = _State()


def listen() -> None:
    """Hears the signals from now on, for as long as the
    process lives, those held back until now too.

    Outside orderly() a signal raises Stopped at once.
    """
    _install(_hear)
    _state.listening = True
    signal.pthread_sigmask(signal.SIG_UNBLOCK, HEARD)


def leave() -> None:
    """Hears no more: the exit status is decided."""
    for number in HEARD:
        signal.signal(number, signal.SIG_IGN)


def asked() -> int | None:
    """The number of the first signal that came within orderly(); None if none did."""
    return _state.asked


def check() -> None:
    """Raises Stopped if a signal came."""
    if _state.asked is not None:
        raise Stopped(_state.asked)


@contextmanager
def orderly() -> Iterator[None]:
    """Within, a signal is noted, and a second one answered with a sentence. Blocks may be nested.

    The outermost block raises Stopped at its end if a signal came, whatever else was raised: a tool
    that dies of the same Ctrl-C is no error. In a thread, which hears no signals, the block does
    nothing.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    # Polars, once it is imported, hears SIGINT before Python does, and raises within the block.
    for number in HEARD:
        if (handler := signal.getsignal(number)) is not None:
            signal.signal(number, handler)
    before = _install(_hear) if not (_state.listening or _state.depth) else {}
    _state.depth += 1
    stopped = False
    try:
        yield
    except Stopped:
        stopped = True
        raise
    finally:
        # A signal is noted up to here; from here on one raises. None comes in between.
        _state.depth -= 1
        if not _state.depth:
            noted, _state.asked, _state.told_again = _state.asked, None, False
            if _state.listening and noted is not None:
                leave()  # all that is left is to say so
        _restore(before)
        if not _state.depth and noted is not None and not stopped:
            raise Stopped(noted) from None


@contextmanager
def passed_on(to: Callable[[int], None]) -> Iterator[None]:
    """Within, a signal is another program's to act on: `to` gets its number, nothing is noted."""
    before = _install(lambda heard, _frame: to(heard))
    try:
        yield
    finally:
        _restore(before)


def _restore(before: dict[int, signal._HANDLER]) -> None:
    for number, handler in before.items():
        signal.signal(number, handler)


def _install(hear: signal._HANDLER) -> dict[int, signal._HANDLER]:
    """Takes over the signals that are not ignored, as nohup
    and a shell's & have it; returns who had them.
    """
    before: dict[int, signal._HANDLER] = {}
    for number in HEARD:
        handler = signal.getsignal(number)
        if handler is not signal.SIG_IGN:
            before[number] = handler
            signal.signal(number, hear)
    return before


def _hear(number: int, _frame: FrameType | None) -> None:
    if number == signal.SIGHUP:
        _let_go_of_the_terminal()
    if not _state.depth:
        raise Stopped(number)
    if _state.asked is None:
        _state.asked = number
    elif not _state.told_again:
        _state.told_again = True
        with suppress(OSError):
            os.write(2, _AGAIN)


def _let_go_of_the_terminal() -> None:
    """A terminal that hung up fails every write, and what
    is still to be stored must not fail with it.
    """
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError, AttributeError):
            descriptor = stream.fileno()
            try:
                os.write(descriptor, b"")
            except OSError:
                nowhere = os.open(os.devnull, os.O_WRONLY)
                os.dup2(nowhere, descriptor)
                os.close(nowhere)
