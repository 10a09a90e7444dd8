"""Taking turns in a folder that several processes build in."""

from __future__ import annotations

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from capture.files.whole import WriteError, why


@contextmanager
def taking_turns(folder: Path) -> Iterator[None]:
    """Waits until nobody else builds in `folder`; whoever comes next waits until the block ends.

    The turn is an flock(2) on FOLDER.lock beside the folder: it ends with the process, however that
    ends, and flock(1) can take it too. The file stays. Raises WriteError.
    """
    path = lock_of(folder)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        file = path.open("w")
    except OSError as error:
        raise WriteError(f"{path} cannot be written: {why(error)}.") from None
    with file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def lock_of(folder: Path) -> Path:
    """The file whose lock is the turn in `folder`."""
    return folder.with_name(f"{folder.name}.lock")
