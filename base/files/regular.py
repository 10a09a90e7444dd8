"""Files that are read within a bound: nothing but a file is
opened, and no more read than may be there.

A named pipe would keep its reader waiting for ever, and a device has no end. What is refused is
refused as an OSError whose `strerror` says why, like what the system itself refuses.
"""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path
from typing import BinaryIO

NO_FILE = "it is a device or a pipe, not a file"


def read_bytes(path: Path, most_bytes: int) -> bytes:
    """What the file at `path` holds. Raises OSError, also where that is more than `most_bytes`."""
    with open_regular(path, most_bytes) as file:
        content = file.read(most_bytes + 1)
    if len(content) > most_bytes:  # it grew, or nobody knew its length, as under /proc
        raise _too_long(path, most_bytes)
    return content


def open_regular(path: Path, most_bytes: int) -> BinaryIO:
    """The file at `path`, open. Raises OSError where it is no file, or
    has more than `most_bytes`.
    """
    # Without O_NONBLOCK the opening of a named pipe waits for its other end.
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
    try:
        _check(path, os.fstat(descriptor), most_bytes)
    except BaseException:
        os.close(descriptor)
        raise
    return os.fdopen(descriptor, "rb")


def _check(path: Path, found: os.stat_result, most_bytes: int) -> None:
    if stat.S_ISDIR(found.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    if not stat.S_ISREG(found.st_mode):
        raise OSError(errno.EINVAL, NO_FILE, str(path))
    if found.st_size > most_bytes:
        raise _too_long(path, most_bytes)


def _too_long(path: Path, most_bytes: int) -> OSError:
    return OSError(errno.EFBIG, f"it has more than {most_bytes:,} bytes, the most that is read", str(path))
