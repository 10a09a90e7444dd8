"""Files that are written whole or not at all, and files that are read within a bound.

Nothing but a file is opened for reading, and no more read than may be there: a named pipe would
keep its reader waiting for ever, and a device has no end. What is refused is refused as an OSError
whose `strerror` says why, like what the system itself refuses.
"""

from __future__ import annotations

import errno
import os
import re
import stat
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from io import BufferedReader
from pathlib import Path

from .errors import TailscopeError, first_line

NO_FILE = "it is a device or a pipe, not a file"


def read_bytes(path: Path, most_bytes: int) -> bytes:
    """The bytes of the file at `path`. Raises OSError, also if there are more than `most_bytes`."""
    with open_regular(path, most_bytes) as file:
        content = file.read(most_bytes + 1)
    if len(content) > most_bytes:  # it grew, or nobody knew its length, as under /proc
        raise _too_long(path, most_bytes)
    return content


def open_regular(path: Path, most_bytes: int) -> BufferedReader:
    """The file at `path`, open. Raises OSError where it is no file, or
    has more than `most_bytes`.
    """
    # Without O_NONBLOCK the opening of a named pipe waits for its other end.
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
    try:
        status = os.fstat(descriptor)
        if stat.S_ISDIR(status.st_mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
        if not stat.S_ISREG(status.st_mode):
            raise OSError(errno.EINVAL, NO_FILE, str(path))
        if status.st_size > most_bytes:
            raise _too_long(path, most_bytes)
    except BaseException:
        os.close(descriptor)
        raise
    return os.fdopen(descriptor, "rb")


def _too_long(path: Path, most_bytes: int) -> OSError:
    return OSError(errno.EFBIG, f"it has more than {most_bytes:,} bytes, the most that is read", str(path))


_TEMPORARY_SUFFIX = ".part"
# As Rust ends the sentence of an error of the system.
_OF_SYSTEM = re.compile(r"\(os error (\d{1,4})\)")


class WriteError(TailscopeError):
    """A file cannot be written; the message says which, why and what to do."""


def write_whole(path: Path, writer: Callable[[Path], object]) -> Path:
    """Has `writer` write a file beside `path`, brings it to
    the disk and gives it its name; returns `path`.

    A reader never sees half a file, and what had that name before stays until the new one is whole.
    Folders above `path` are made where they are missing. Raises WriteError.
    """
    _write({path: writer})
    return path


def write_bytes(path: Path, content: bytes) -> Path:
    """Writes `content` to `path`, whole or not at all. Raises WriteError."""
    return write_whole(path, lambda temporary: temporary.write_bytes(content))


def write_all(contents: Mapping[Path, bytes]) -> None:
    """Writes many files, each whole or not at all.

    All of them are on the disk on return. They are brought there together: one after another they
    take some times as long. Raises WriteError, of which some files may have come about.
    """
    _write({path: partial(Path.write_bytes, data=content) for path, content in contents.items()})


def _write(writers: Mapping[Path, Callable[[Path], object]]) -> None:
    temporaries = {path: path.with_name(path.name + _TEMPORARY_SUFFIX) for path in writers}
    path = Path()
    try:
        for path, temporary in temporaries.items():
            # A device or a pipe, such as /dev/null, is refused: root could replace it.
            with suppress(FileNotFoundError):
                mode = path.lstat().st_mode
                if not (stat.S_ISREG(mode) or stat.S_ISLNK(mode) or stat.S_ISDIR(mode)):
                    raise OSError(errno.EINVAL, NO_FILE)
            path.parent.mkdir(parents=True, exist_ok=True)
            temporary.unlink(missing_ok=True)  # what another left there may be a pipe, or lead elsewhere
            writers[path](temporary)
        for path, temporary in temporaries.items():
            sync(temporary)
            temporary.replace(path)
        for folder in {path.parent for path in writers}:
            sync(folder)
    except _refusals() as error:
        raise WriteError(f"{path} cannot be written: {why(error)}; what was there before is kept.") from None
    finally:
        for temporary in temporaries.values():
            with suppress(OSError):
                temporary.unlink(missing_ok=True)


def _refusals() -> tuple[type[Exception], ...]:
    """The exceptions of a refused write. polars takes a while to load."""
    from polars.exceptions import PolarsError

    return OSError, PolarsError


def why(error: Exception) -> str:
    """The reason of a refused write, and for a full disk what to do."""
    # The system's number of an error that polars tells in words of its own, too.
    match = _OF_SYSTEM.search(str(error))
    number = error.errno if isinstance(error, OSError) else int(match[1]) if match else None
    if number in (errno.ENOSPC, errno.EDQUOT):
        return "the disk is full, make room and run again"
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    return os.strerror(number) if number else first_line(error)


def sync(path: Path) -> None:
    """Brings a file, or the names in a folder, to the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
