"""The step under way, in place on the terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial

from rich.console import Console
from rich.markup import escape
from rich.status import Status


def tell(status: Status, step: str) -> None:
    """Shows the step instead of the one before it."""
    with suppress(OSError):  # a terminal that hung up ends nothing
        status.update(escape(step))


@contextmanager
def shown() -> Iterator[Callable[[str], None]]:
    """What to call with each step, which is shown until the block ends."""
    with Console(stderr=True, highlight=False).status("") as status:
        yield partial(tell, status)
