"""A command under way: on which desk it runs, what it shows meanwhile on standard error (in place
on a terminal, elsewhere as lines), and what is kept where a signal ends it.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from base.files.errors import CaptureError
from base.processes import children, signals
from base.tell import Tell

if TYPE_CHECKING:
    from rich.status import Status

    from capture.conduct import RunResult

LINE_EVERY_S = 5.0
"""Elsewhere than on a terminal, steps that come faster than this are left out of the lines."""


class Steps:
    """Shows one step instead of the one before it. A terminal that hung up ends nothing."""

    def __init__(self, status: Status, every_s: float = LINE_EVERY_S) -> None:
        self._status = status
        self._every_s = every_s
        self._next_line_s = 0.0

    def __call__(self, step: str) -> None:
        """Shows a step in place; elsewhere as a line, unless one came a moment ago."""
        from rich.markup import escape  # takes a while

        with suppress(OSError):
            self._status.update(escape(step))
            now_s = time.monotonic()
            if not self._status.console.is_terminal and now_s >= self._next_line_s:
                self._next_line_s = now_s + self._every_s
                self.line(step)

    def line(self, *sentences: str) -> None:
        """Prints lines that stay."""
        with suppress(OSError):
            for sentence in sentences:
                self._status.console.print(sentence, markup=False, soft_wrap=True)


class Counted:
    """Counts steps that take about equally long: `3 of 27, about 40 s left: tlsf`."""

    def __init__(self, tell: Tell, total: int) -> None:
        self._tell = tell
        self._total = total
        self._number = 0
        self._began_s = time.monotonic()

    def __call__(self, step: str, over: int = 0) -> None:
        """The next step begins; or, with 1 `over`, another is done of several under way."""
        left_s = time_left_s(self._began_s, self._number + over, self._total - self._number - over)
        self._number += 1
        self._tell(f"{place(self._number, self._total, left_s)}: {step}")


def time_left_s(began_s: float, done: int, to_go: int) -> float | None:
    """Seconds for the steps to go, each as long as the mean of those done since then; None before
    one is done.
    """
    return (time.monotonic() - began_s) / done * to_go if done else None


def place(number: int, total: int, left_s: float | None) -> str:
    """`3 of 27, about 40 s left`."""
    return f"{number:,} of {total:,}{'' if left_s is None else f', about {duration(left_s)} left'}"


def duration(seconds: float) -> str:
    """`40 s` or `3 min`: as exactly as an estimate deserves."""
    return f"{seconds:.0f} s" if seconds < 99.5 else f"{seconds / 60:,.0f} min"


@contextmanager
def shown(every_s: float = LINE_EVERY_S) -> Iterator[Steps]:
    """What to call with each step, which is shown until the block ends."""
    from rich.console import Console  # takes a while

    with Console(stderr=True, highlight=False).status("") as status:
        yield Steps(status, every_s)


def tell(sentence: str) -> None:
    """Says on stderr what the command does that the user should know of."""
    print(sentence, file=sys.stderr, flush=True)


def tell_step(step: str) -> None:
    """Says on stderr what is under way."""
    tell(f"{step} …")


@contextmanager
def stoppable(nothing: str, results: Sequence[RunResult] = ()) -> Iterator[None]:
    """A signal ends the command in order. That of signals.Stopped names the folder of the last of
    `results` as they are by then, or says `nothing`.
    """
    try:
        with signals.orderly():
            yield
    except signals.Stopped as stopped:
        words = f"what was recorded is kept in {results[-1].folder}" if results else nothing
        raise signals.Stopped(stopped.number, words) from None


def on_desk(*boards: str | None, clips: str = "", options: Sequence[str] | None = None) -> None:
    """Returns where the command sees the devices of these boards (None: the default).

    `clips` goes behind those that bench.toml has for the inputs of an emulated desk's analyzer, and
    `options` are those of somebody's own program there. Otherwise the whole command runs again on
    the board's emulated desk, and SystemExit carries its exit status. Raises TailscopeError where
    there is no such board, or no desk can be; CaptureError where a desk is emulated for one of
    several: only one can be.
    """
    from capture.desk import emulated
    from capture.desk.bench import read_bench
    from simulator.run import STRICT

    children.keep()
    bench = read_bench()
    for resource in (bench.board(board) for board in boards):
        if len(boards) > 1 and resource.emulated is not None:
            raise CaptureError(
                f"The desk of {resource.name} is emulated for one command alone: give it a --board by itself."
            )
        if not emulated.is_seen(resource):
            of_program = STRICT if options is None else options
            raise SystemExit(emulated.run_again(emulated.clipped(resource, clips), of_program))
