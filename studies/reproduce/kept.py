"""What was measured once, kept by the content of all it depends on.

A result is named by a digest of what was asked and of the sources behind it. Change either, and it
is measured anew; stop in the middle, and what was finished is there the next time.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterable
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any, ClassVar, Protocol

import polars as pl
from polars.exceptions import PolarsError

from base.files.turns import taking_turns
from base.files.whole import write_bytes
from base.paths import COMPILED, ROOT
from base.processes import signals

FOLDER = COMPILED / "reproduced" / "kept"

_NO_SOURCE = {"tests", "target", "build", "__pycache__"}
_COMPILERS = ("arm-none-eabi-gcc", "gcc", "rustc")


class Work(Protocol):
    """Something to measure. Its repr() says all that was asked."""

    SOURCES: ClassVar[tuple[str, ...]]
    """Files and folders of the repository that the result depends on."""

    def measure(self) -> pl.DataFrame:
        """The result. Raises TailscopeError."""
        ...


class Kept:
    """Results in a folder. `tell` hears what is measured, and not what was there already."""

    def __init__(self, folder: Path = FOLDER, tell: Callable[[str], None] = lambda _: None) -> None:
        self._folder = folder
        self._tell = tell

    def __call__(self, work: Work) -> pl.DataFrame:
        """The result of `work`, measured if it is not there.

        Raises TailscopeError, and Stopped where a signal asked for the end.
        """
        signals.check()
        path = self._folder / f"{digest(work)}.json"
        if (found := _read(path)) is not None:
            return found
        # Another process may be at the same work: the second one finds what the first one kept.
        with taking_turns(path):
            if (found := _read(path)) is None:
                self._tell(str(work))
                found = work.measure()
                write_bytes(path, _packed(found))
        return found


def digest(work: Work) -> str:
    """SHA-256 of what was asked, of the sources and of the compilers."""
    parts = (repr(work), sources_digest(type(work).SOURCES), _compilers())
    return sha256("\n".join(parts).encode()).hexdigest()


@cache
def sources_digest(places: tuple[str, ...]) -> str:
    """A digest of every file at these places: its name and its content."""
    total = sha256()
    for path in sorted(path for place in places for path in _files(ROOT / place)):
        total.update(f"{path.relative_to(ROOT)}\0{sha256(path.read_bytes()).hexdigest()}\n".encode())
    return total.hexdigest()


def _files(place: Path) -> Iterable[Path]:
    if place.is_file():
        return [place]
    return [
        path
        for path in place.rglob("*")
        if path.is_file() and path.suffix != ".md" and not _NO_SOURCE & set(path.relative_to(ROOT).parts)
    ]


@cache
def _compilers() -> str:
    """Which files the compilers are, by place, size and date: another one makes other code."""
    found = ((name, shutil.which(name)) for name in _COMPILERS)
    return " ".join(f"{name}={_stamp(Path(path))}" for name, path in found if path)


def _stamp(path: Path) -> str:
    known = path.resolve().stat()
    return f"{path.resolve()}:{known.st_size}:{known.st_mtime_ns}"


def _packed(result: pl.DataFrame) -> bytes:
    body = json.dumps(result.to_dict(as_series=False)).encode()
    return sha256(body).hexdigest().encode() + b"\n" + body


def _read(path: Path) -> pl.DataFrame | None:
    """None where there is nothing, or not what was written."""
    try:
        stamp, _, body = path.read_bytes().partition(b"\n")
        if sha256(body).hexdigest().encode() != stamp:
            return None
        columns: dict[str, list[Any]] = json.loads(body)
        return pl.DataFrame(columns, strict=False, infer_schema_length=None)
    except (OSError, ValueError, PolarsError):
        return None
