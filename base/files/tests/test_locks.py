from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import pytest

from base.files import locks
from base.files.locks import lock_of, taking_turns
from base.paths import ROOT
from base.run_folder.edge_stream import EdgeWriter, read_stream
from base.run_folder.edges import CHANNELS
from base.run_folder.progress_file import ProgressFile

HOLDER = """
import sys, time
from pathlib import Path
from base.files.locks import taking_turns
with taking_turns(Path(sys.argv[1])):
    print("mine", flush=True)
    time.sleep(60)
"""


def holder(folder: Path) -> subprocess.Popen[str]:
    """Another process whose turn it is, for a minute."""
    command = [sys.executable, "-c", HOLDER, str(folder)]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "mine\n"
    return process


def is_taken(folder: Path) -> bool:
    """As flock(1) sees it."""
    return subprocess.run(["flock", "--nonblock", lock_of(folder), "true"]).returncode != 0


def test_a_turn_is_one_processs_and_ends_with_it(tmp_path: Path) -> None:
    folder = tmp_path / "not-yet-there" / "build"
    with holder(folder) as other:
        assert is_taken(folder)
        assert not is_taken(folder.with_name("another"))
        other.kill()
    with taking_turns(folder):
        assert is_taken(folder)
    assert not is_taken(folder)


@contextmanager
def forked() -> Iterator[None]:
    """A child of this moment, which has not started its program yet."""
    child = os.fork()
    if not child:
        signal.pause()
        os._exit(0)
    try:
        yield
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


def stream(folder: Path) -> EdgeWriter:
    return EdgeWriter(folder / "s", 1_000_000, CHANNELS, 1)


def read_the_stream(folder: Path) -> None:
    read_stream(folder / "s")


def take_a_turn(folder: Path) -> None:
    with taking_turns(folder):
        pass


def held(folder: Path) -> bool:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        return locks.is_taken(descriptor)
    finally:
        os.close(descriptor)


def see_no_run(folder: Path) -> None:
    assert not held(folder)


@pytest.mark.parametrize(
    ("holder", "then"),
    [(stream, read_the_stream), (taking_turns, take_a_turn), (ProgressFile, see_no_run)],
)
def test_a_fork_keeps_no_lock(
    holder: Callable[[Path], AbstractContextManager[object]],
    then: Callable[[Path], None],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("base.files.locks.WAIT_MOST_S", 0.0)
    with holder(tmp_path):
        child = forked()
        child.__enter__()
    try:
        then(tmp_path)
    finally:
        child.__exit__(None, None, None)


def test_a_reader_that_forks_keeps_no_writer_out(tmp_path: Path) -> None:
    """Who looks whether a lock is taken has it for a moment."""
    descriptor = os.open(tmp_path, os.O_RDONLY)
    try:
        assert not locks.is_taken(descriptor)
        with forked(), ProgressFile(tmp_path):
            assert held(tmp_path)
    finally:
        os.close(descriptor)
