"""Digests of source files, by which a document says what made it."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

from .paths import INSTALLED, ROOT

NOTE = "SOURCES"
"""The file in the private folder of the package with the digest of the simulator's sources."""
_BUILT = {"target", "__pycache__"}


@cache
def digest(room: str, root: Path = ROOT, leave_out: tuple[str, ...] = ()) -> str:
    """Of every file in the room of a checkout, or of one file, by name and content, in hexadecimal.

    Left out is what builds make, what begins with a dot, and names that end as one of `leave_out`.
    """
    return digest_of((path for path in _files(root / room) if not path.name.endswith(leave_out)), root)


def digest_of(files: Iterable[Path], root: Path) -> str:
    """Of these files by their names below `root` and their content, in that order."""
    whole = hashlib.sha256()
    for path in files:
        content = hashlib.sha256(path.read_bytes()).hexdigest()
        whole.update(f"{content} {path.relative_to(root).as_posix()}\n".encode())
    return whole.hexdigest()


def tools(names: Iterable[str]) -> list[str]:
    """What says that the same tools are on the PATH: of each that is there, where it lies, its size
    and its time.
    """
    paths = sorted({Path(place).resolve() for name in names if (place := shutil.which(name))})
    return [f"{path} {path.stat().st_size} {path.stat().st_mtime_ns}" for path in paths]


def simulator() -> str:
    """The digest of the simulator's sources: those here, or those of the installed package."""
    return (ROOT / NOTE).read_text("ascii").strip() if INSTALLED else digest("simulator")


def _files(folder: Path) -> Iterator[Path]:
    for path in sorted(folder.iterdir()) if folder.is_dir() else (folder,):
        if path.name in _BUILT or path.name.startswith("."):
            continue
        if path.is_dir():
            yield from _files(path)
        elif path.is_file():
            yield path
