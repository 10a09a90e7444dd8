"""Locks on open files: flock(2), which a process that ends lets go, however it ends.

A lock belongs to the open file, which a child shares from its fork until its program starts. So
closing alone does not free it: it is let go first.
"""

from __future__ import annotations

import errno
import fcntl
from contextlib import suppress


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
