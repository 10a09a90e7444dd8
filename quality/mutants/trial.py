"""Tries mutants: runs the tests on a copy of the repository that has the mutant in it."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from queue import SimpleQueue
from typing import Literal

from base.files.errors import TailscopeError
from base.processes import children
from quality.mutants.drawing import Mutant

Fate = Literal["killed", "survived"]

# What a checkout holds beside its sources, and these tests do not need.
_NOT_COPIED = shutil.ignore_patterns(
    ".git", ".venv", ".lab", "build", "runs", "target", "__pycache__", ".*_cache", ".hypothesis"
)
# A mutant that runs for ever is killed after so many times what the tests take without one.
_PATIENCE = 4
_BASELINE_WITHIN_S = 1800.0


class MutantError(TailscopeError):
    """Mutants cannot be tried; the message says why."""


def fates(
    root: Path,
    rooms: Sequence[str],
    mutants: Sequence[Mutant],
    jobs: int,
    tell: Callable[[int], None] = lambda _: None,
) -> list[Fate]:
    """What the tests of `rooms`, folders in `root`, make of each mutant.

    They run on `jobs` copies of `root` at a time; `root` stays as it is. `tell` hears how many are
    done. Raises MutantError where the tests fail without any mutant.
    """
    with _copies(root, jobs) as copies:
        within_s = _PATIENCE * _seconds_without(copies, rooms)
        done: list[Fate] = []
        with ThreadPoolExecutor(jobs) as pool:
            for fate in pool.map(lambda mutant: _fate(copies, rooms, mutant, within_s), mutants):
                done.append(fate)
                tell(len(done))
    return done


@contextmanager
def _copies(root: Path, jobs: int) -> Iterator[SimpleQueue[Path]]:
    with tempfile.TemporaryDirectory(prefix="tailscope-mutants-") as folder:
        copies: SimpleQueue[Path] = SimpleQueue()
        for number in range(jobs):
            copies.put(Path(shutil.copytree(root, Path(folder, str(number)), ignore=_NOT_COPIED)))
        yield copies


def _seconds_without(copies: SimpleQueue[Path], rooms: Sequence[str]) -> float:
    began_s = time.monotonic()
    with _borrowed(copies) as copy:
        done = children.run(_tests(rooms), within_s=_BASELINE_WITHIN_S, folder=copy)
    if done.returncode:
        said = "; ".join(line for line in done.stdout.splitlines() if line.startswith(("FAILED", "ERROR")))
        raise MutantError(f"The tests fail without any mutant ({said}); mend them first.")
    return time.monotonic() - began_s


def _fate(copies: SimpleQueue[Path], rooms: Sequence[str], mutant: Mutant, within_s: float) -> Fate:
    """Tests that fail, cannot begin, or do not end have noticed."""
    with _borrowed(copies) as copy:
        file = copy / mutant.file
        code = file.read_bytes()
        file.write_text(mutant.code, encoding="utf-8")
        try:
            done = children.run(_tests(_own_first(rooms, mutant.file)), within_s=within_s, folder=copy)
        except subprocess.TimeoutExpired:
            return "killed"
        finally:
            file.write_bytes(code)
    return "killed" if done.returncode else "survived"


@contextmanager
def _borrowed(copies: SimpleQueue[Path]) -> Iterator[Path]:
    copy = copies.get()
    try:
        yield copy
    finally:
        copies.put(copy)


def _own_first(rooms: Sequence[str], file: str) -> list[str]:
    """The tests of the file's own room come first, since they are the likeliest to notice."""
    return sorted(rooms, key=lambda room: not file.startswith(f"{room}/"))


def _tests(rooms: Sequence[str]) -> list[str]:
    """Without compiled files, which could be those of the mutant before."""
    return [sys.executable, "-B", "-m", "pytest", "-x", "-q", *rooms]
