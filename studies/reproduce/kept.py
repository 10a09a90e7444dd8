"""What was measured once, kept by the content of all it depends on.

A result is named by a digest of the question and of the sources behind it. Change either, and it
is measured anew; stop in the middle, and what was finished is there the next time.
"""

from __future__ import annotations

import io
from collections.abc import Hashable
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Protocol

import polars as pl
from polars.exceptions import PolarsError

from base import source_digest
from base.files.locks import taking_turns
from base.files.whole import write_bytes
from base.paths import COMPILED
from base.processes import signals

FOLDER = COMPILED / "reproduced" / "kept"
SOURCES = (
    *("firmware", "scenarios", "simulator", "base/run_folder", "capture/reading/probes.py"),
    *("analysis/fragmentation", "studies/sections.py", "studies/worst.py", "studies/reproduce/measure.py"),
    *("studies/reproduce/empty_section.c", "studies/adversary/study.py"),
)
"""Files and folders of the repository that every result depends on."""

_COMPILERS = ("arm-none-eabi-gcc", "gcc", "rustc")


class Work(Hashable, Protocol):
    """Something to measure. Its repr() is the whole question."""

    def measure(self) -> pl.DataFrame:
        """The result. Raises TailscopeError."""
        ...


def kept(work: Work, folder: Path = FOLDER) -> pl.DataFrame:
    """The result of `work`, measured if the folder does not have it.

    Raises TailscopeError, and Stopped where a signal asked for the end.
    """
    signals.check()
    path = folder / f"{sha256(f'{work!r} {_surroundings()}'.encode()).hexdigest()}.parquet"
    # Another process may be at the same work: the second takes the result of the first.
    with taking_turns(path):
        try:
            return pl.read_parquet(path.read_bytes())
        except (OSError, PolarsError):
            result, packed = work.measure(), io.BytesIO()
            result.write_parquet(packed)
            write_bytes(path, packed.getvalue())
            return result


@cache
def _surroundings() -> str:
    """What says that sources and compilers are the same."""
    digests = (source_digest.digest(place, leave_out=(".md",)) for place in SOURCES)
    return " ".join((*digests, *source_digest.tools(_COMPILERS)))
