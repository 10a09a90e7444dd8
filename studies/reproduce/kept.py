"""What was measured once, kept by the content of all it depends on.

A result is named by a digest of the question and of the sources behind it. Change either, and it
is measured anew; stop in the middle, and what was finished is there the next time.
"""

from __future__ import annotations

import io
import shutil
from collections.abc import Callable
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Protocol

import polars as pl
from polars.exceptions import PolarsError

from base.files.locks import taking_turns
from base.files.whole import write_bytes
from base.paths import COMPILED, ROOT
from base.processes import signals

FOLDER = COMPILED / "reproduced" / "kept"
SOURCES = (
    *("firmware", "scenarios", "simulator", "base/run_folder", "capture/reading/probes.py"),
    *("analysis/fragmentation", "studies/worst", "studies/reproduce/measure.py"),
    "studies/reproduce/empty_section.c",
)
"""Files and folders of the repository that every result depends on."""

_NO_SOURCE = {"tests", "target", "build", "__pycache__"}
_COMPILERS = ("arm-none-eabi-gcc", "gcc", "rustc")


class Work(Protocol):
    """Something to measure. Its repr() is the whole question."""

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
        path = self._folder / f"{digest(work)}.parquet"
        # Another process may be at the same work: the second takes the result of the first.
        with taking_turns(path):
            try:
                return pl.read_parquet(path.read_bytes())
            except (OSError, PolarsError):
                self._tell(str(work))
                result, packed = work.measure(), io.BytesIO()
                result.write_parquet(packed)
                write_bytes(path, packed.getvalue())
                return result


def digest(work: Work) -> str:
    """SHA-256 of the question, of the sources and of the compilers."""
    return sha256(f"{work!r}\n{sources_digest()}\n{_compilers()}".encode()).hexdigest()


@cache
def sources_digest() -> str:
    """A digest of every source file: its name and its content."""
    total = sha256()
    for place in map(ROOT.joinpath, SOURCES):
        for path in sorted(place.rglob("*")) if place.is_dir() else [place]:
            name = path.relative_to(ROOT)
            if path.is_file() and path.suffix != ".md" and not _NO_SOURCE & set(name.parts):
                total.update(f"{name}\0{sha256(path.read_bytes()).hexdigest()}\n".encode())
    return total.hexdigest()


@cache
def _compilers() -> str:
    """Which files the compilers are, by place, size and date: another one makes other code."""
    paths = [Path(path).resolve() for name in _COMPILERS if (path := shutil.which(name))]
    return " ".join(f"{path}:{path.stat().st_size}:{path.stat().st_mtime_ns}" for path in paths)
