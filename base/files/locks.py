"""Locks on open files, and taking turns in a folder that several processes build in:
flock(2), which a process that ends lets go, however it ends.

A lock belongs to the open file, which a child shares from its fork until its program starts. So
closing alone does not free it: it is let go first.
"""

from __future__ import annotations

import errno
import fcntl
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from ..processes import signals
from .whole import WriteError, why


def take(descriptor: int) -> None:
    """Takes the lock for this file alone. Raises BlockingIOError where another has it, and OSError
    where the file system has no locks.
    """
    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)


def let_go(descriptor: int) -> None:
    """Frees the lock, if there is one; call it before the file is closed."""
    with suppress(OSError):
        fcntl.flock(descriptor, fcntl.LOCK_UN)


def is_taken(descriptor: int) -> bool:
    """True if another open file has the lock."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError as error:
        return error.errno == errno.EWOULDBLOCK
    let_go(descriptor)
    return False


WAIT_MOST_S = 3600.0
"""The longest that another's turn is waited for."""


@contextmanager
def taking_turns(folder: Path) -> Iterator[None]:
    """Waits until nobody else builds in `folder`; whoever comes next waits until the block ends.

    The turn is an flock(2) on FOLDER.lock beside the folder: it ends with the process, however that
    ends, and flock(1) can take it too. The file stays. Raises WriteError, and
    signals.Stopped where a signal comes before the turn does.
    """
    path = lock_of(folder)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        file = path.open("w")
    except OSError as error:
        raise WriteError(f"{path} cannot be written: {why(error)}.") from None
    with file:
        # Asked again and again: a wait in flock(2) would have no end, and hear no signal.
        deadline_s = time.monotonic() + WAIT_MOST_S
        while True:
            with suppress(BlockingIOError):
                take(file.fileno())
                break
            signals.check()
            if time.monotonic() >= deadline_s:
                raise WriteError(
                    f"{path} is locked by another process for {WAIT_MOST_S:g} s; end that first."
                )
            time.sleep(signals.POLL_S)
        try:
            yield
        finally:
            let_go(file.fileno())


def lock_of(folder: Path) -> Path:
    """The file whose lock is the turn in `folder`."""
    return folder.with_name(f"{folder.name}.lock")
