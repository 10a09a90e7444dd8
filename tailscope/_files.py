"""Files of strangers: no link is followed, no pipe is opened, and what is read is bounded."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Mapping
from pathlib import Path

from tailscope._errors import Error
from tailscope._texts import printable

__tracebackhide__ = True  # pytest shows the line of the test


def shown(path: Path) -> str:
    """The path for a sentence."""
    return printable(str(path))


def check_members(folder: Path) -> None:
    """Raises Error where something in `folder`, or in a folder of it, is a symbolic link."""
    waiting = [folder]
    while waiting:
        try:
            entries = list(os.scandir(waiting.pop()))
        except OSError as error:
            raise Error(f"{shown(folder)}: cannot be read ({error.strerror}); name a run folder.") from None
        for entry in entries:
            if entry.is_symlink():
                raise Error(
                    f"{printable(entry.path)}: is a symbolic link, and none is followed in a run folder; "
                    "put the file itself there."
                )
            if entry.is_dir(follow_symlinks=False):
                waiting.append(Path(entry.path))


def read(path: Path, most_bytes: int, remedy: str) -> bytes:
    """The content of a file. Raises Error where it is missing, no file, or longer than that."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(descriptor, "rb") as file:
            found = os.fstat(file.fileno())
            if not stat.S_ISREG(found.st_mode):
                raise Error(f"{shown(path)}: is no file; {remedy}.")
            content = file.read(most_bytes + 1)
    except FileNotFoundError:
        raise Error(f"{shown(path)}: is missing; {remedy}.") from None
    except OSError as error:
        raise Error(f"{shown(path)}: cannot be read ({error.strerror}); {remedy}.") from None
    if len(content) > most_bytes:
        raise Error(f"{shown(path)}: has more than {most_bytes:,} bytes, the most that is read; {remedy}.")
    return content


def digest(path: Path, most_bytes: int = 256 << 20) -> str | None:
    """The SHA-256 of a file; None where it is missing, no file, or longer than that."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    found = os.fstat(descriptor)
    if not stat.S_ISREG(found.st_mode) or found.st_size > most_bytes:
        os.close(descriptor)
        return None
    with os.fdopen(descriptor, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def altered(folder: Path, digests: Mapping[str, str]) -> str | None:
    """The first file of these whose digest is another; None where there is none. What is missing,
    no file or too long whoever reads it refuses.
    """
    found = ((name, digest(folder / name), told) for name, told in digests.items())
    return next((name for name, is_, told in found if is_ not in (None, told)), None)
