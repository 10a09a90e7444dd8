"""`progress.json`: what a run under way has shown so far, for other processes.

docs/reference/progress-json.md has its keys.

It is replaced a few times a second and gone once the run is stored. Whoever writes it holds a lock
on the run's folder, which a killed process lets go. So a reader knows whether the run still goes
on, without a clock.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Literal

from ..files import locks
from ..files.documents import Table, read_json
from ..files.errors import TailscopeError
from .folder import PROGRESS, check_members

MOST_BYTES = 64 << 10
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC


class Section(Table):
    """The longest critical section so far of a kind of operation, by DWT."""

    seq: int
    size: int
    cycles: int
    ns: float


class SoFar(Table):
    """What a run has shown so far. None stands for what is unknown yet, and in a run without
    records for good.
    """

    schema_: Literal[1] = 1
    scenario: str
    allocator: str
    board: str
    run: int
    """The number of this run, from 1, of `runs` of the command."""
    runs: int
    left_s: float | None
    """Seconds that the command still took, about, as the run began; null in its first."""
    began: str
    """ISO 8601, UTC; `elapsed_s` have gone by since then."""
    elapsed_s: float
    step: str
    """A few words: loading the board, capturing, writing, judging."""
    operations: int | None
    """Records `OP` so far, of the `planned_operations`."""
    planned_operations: int | None
    operations_per_s: float | None
    """Of the host's time; null before there is any."""
    samples: int | None
    """Of the analyzer; null before the capture."""
    asked_samples: int | None
    critical: Section | None
    """Of the measured allocations; null before there is one."""
    free: Section | None
    """The same of the measured frees."""


def read(folder: Path) -> SoFar | None:
    """The progress of the run in `folder`; None if it is over, or was killed."""
    with suppress(TailscopeError, OSError):
        descriptor = os.open(folder, _FOLDER)
        try:
            if locks.is_taken(descriptor):  # the process that fills it is still there
                check_members(folder)
                return read_json(folder / PROGRESS, SoFar, most_bytes=MOST_BYTES)
        finally:
            os.close(descriptor)
    return None


@contextmanager
def progress_file(folder: Path) -> Iterator[Callable[[SoFar], None]]:
    """Holds the run's `folder` while the block runs, and gives what writes the file, in place of
    the one before. It is not brought to the disk: after a crash nobody reads it.

    Nothing here raises: a run does not end because nobody can watch it.
    """
    path, temporary, descriptor = folder / PROGRESS, folder / f"{PROGRESS}.part", None

    def write(so_far: SoFar) -> None:
        with suppress(OSError):
            temporary.write_text(so_far.model_dump_json(by_alias=True), encoding="utf-8")
            temporary.replace(path)

    with suppress(OSError):
        descriptor = os.open(folder, _FOLDER)
        locks.take(descriptor)
    try:
        yield write
    finally:
        for file in (path, temporary):
            with suppress(OSError):
                file.unlink()
        if descriptor is not None:
            locks.let_go(descriptor)
            os.close(descriptor)
