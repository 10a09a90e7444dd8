"""A signal ends a command in order, and its sentence says what is kept."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from base.processes import signals

if TYPE_CHECKING:
    from capture.store import RunResult


@contextmanager
def told(results: Sequence[RunResult], nothing: str) -> Iterator[None]:
    """Signals are orderly within. That of signals.Stopped names the folder of the last of `results`
    as they are by then, or says `nothing`.
    """
    try:
        with signals.orderly():
            yield
    except signals.Stopped as stopped:
        words = f"what was recorded is kept in {results[-1].folder}" if results else nothing
        raise signals.Stopped(stopped.number, words) from None


def tell_step(step: str) -> None:
    """Says on stderr what is under way."""
    print(f"{step} …", file=sys.stderr, flush=True)


def tell(sentence: str) -> None:
    """Says on stderr what the command does that the user should know of."""
    print(sentence, file=sys.stderr, flush=True)
