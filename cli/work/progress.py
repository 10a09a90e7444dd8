"""What is under way, on standard error: in place on a terminal, elsewhere as lines."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from rich.console import Console
from rich.markup import escape
from rich.status import Status

from base.tell import Tell

LINE_EVERY_S = 5.0
"""Elsewhere than on a terminal, steps that come faster than this are left out of the lines."""


class Steps:
    """Shows one step instead of the one before it. A terminal that hung up ends nothing."""

    def __init__(self, status: Status, every_s: float = LINE_EVERY_S) -> None:
        self._status = status
        self._every_s = every_s
        self._next_line_s = 0.0

    @property
    def in_place(self) -> bool:
        """Whether steps replace each other, as on a terminal."""
        return self._status.console.is_terminal

    def __call__(self, step: str) -> None:
        """Shows a step in place; elsewhere as a line, unless one came a moment ago."""
        with suppress(OSError):
            self._status.update(escape(step))
            now_s = time.monotonic()
            if not self.in_place and now_s >= self._next_line_s:
                self._next_line_s = now_s + self._every_s
                self._print(step)

    def line(self, sentence: str) -> None:
        """Prints a line that stays."""
        with suppress(OSError):
            self._print(sentence)

    def _print(self, words: str) -> None:
        self._status.console.print(escape(words), soft_wrap=True)


class Counted:
    """Counts steps that take about equally long: `3 of 27, about 40 s left: tlsf`.

    `until` says until what the time is, where something else follows: `to build, then 27 runs`.
    """

    def __init__(
        self, tell: Tell, total: int, clock: Callable[[], float] = time.monotonic, until: str = "left"
    ) -> None:
        self._tell = tell
        self._until = until
        self._total = total
        self._begun = 0
        self._clock = clock
        self._start_s = clock()

    @property
    def left_s(self) -> float | None:
        """Seconds for the step under way and all after it; None until one is done."""
        done = self._begun - 1
        if done < 1:
            return None
        return (self._clock() - self._start_s) / done * (self._total - done)

    def done(self, step: str) -> None:
        """A step is done, of several that are under way at a time."""
        self._begun += 1
        left_s = (self._clock() - self._start_s) / self._begun * (self._total - self._begun)
        self._tell(f"{place(self._begun, self._total, left_s, self._until)}{step}: done")

    def __call__(self, step: str) -> None:
        """The next step begins."""
        self._begun += 1
        self._tell(f"{place(self._begun, self._total, self.left_s, self._until)}{step}")


def place(number: int, total: int, left_s: float | None, until: str = "left") -> str:
    """`3 of 27, about 40 s left: `; nothing of a single one."""
    if total <= 1:
        return ""
    return f"{number:,} of {total:,}{'' if left_s is None else f', about {duration(left_s)} {until}'}: "


def duration(seconds: float) -> str:
    """`40 s`, `3 min`, `2 h 5 min`: as exactly as an estimate deserves."""
    if seconds < 99.5:
        return f"{max(seconds, 1):.0f} s"
    minutes = round(seconds / 60)
    if minutes < 100:
        return f"{minutes} min"
    return f"{minutes // 60} h {minutes % 60} min"


@contextmanager
def shown(every_s: float = LINE_EVERY_S) -> Iterator[Steps]:
    """What to call with each step, which is shown until the block ends."""
    with Console(stderr=True, highlight=False).status("") as status:
        yield Steps(status, every_s)
