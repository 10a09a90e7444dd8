"""All temporary files of this program in one folder, which the next start removes where this one
was killed.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from . import locks

PREFIX = "tailscope."
YOUNG_S = 60.0
"""A folder this young may be one whose lock is about to be taken."""

_above: list[str] = []


def lasting() -> str:
    """Where a folder goes that is to be there when the program has ended."""
    return _above[-1] if _above else tempfile.gettempdir()


@contextmanager
def own() -> Iterator[None]:
    """Within, `tempfile` makes all in a folder of this process, which is gone at the end."""
    above = tempfile.gettempdir()
    _remove_left(Path(above))
    try:
        folder = tempfile.mkdtemp(prefix=PREFIX, dir=above)
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError:  # whoever needs a temporary file says so
        yield
        return
    before, tempfile.tempdir = tempfile.tempdir, folder
    _above.append(above)
    try:
        with suppress(OSError):  # not every file system has locks
            locks.take(descriptor)
        yield
    finally:
        tempfile.tempdir = before
        _above.pop()
        shutil.rmtree(folder, ignore_errors=True)
        locks.let_go(descriptor)
        os.close(descriptor)


def _remove_left(above: Path) -> None:
    """Removes this user's folders that no process holds."""
    with suppress(OSError):
        for entry in os.scandir(above):
            if entry.name.startswith(PREFIX) and entry.is_dir(follow_symlinks=False):
                _remove_if_left(Path(entry.path))


def _remove_if_left(folder: Path) -> None:
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
        try:
            of = os.fstat(descriptor)
            old = time.time() - of.st_mtime > YOUNG_S
            if of.st_uid == os.getuid() and old and not locks.is_taken(descriptor):
                shutil.rmtree(folder, ignore_errors=True)
        finally:
            os.close(descriptor)
