from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import pytest

from base.files import locks, scratch
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


_KILLED = """
import os, signal, tempfile
from base.files import scratch
with scratch.own():
    open(os.path.join(tempfile.mkdtemp(), "file"), "w").close()
    os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.fixture(autouse=True)
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))


def test_all_lies_in_one_folder_that_goes_with_the_program(tmp_path: Path) -> None:
    with scratch.own():
        made = Path(tempfile.mkdtemp())
        assert made.parent.parent == tmp_path and made.parent.name.startswith(scratch.PREFIX)
        path = Path(tempfile.mkdtemp(dir=scratch.lasting()))
    assert [*tmp_path.iterdir()] == [path]


def test_what_a_killed_program_left_the_next_one_removes(tmp_path: Path) -> None:
    command = [sys.executable, "-c", _KILLED]
    subprocess.run(command, cwd=ROOT, env={**os.environ, "TMPDIR": str(tmp_path)}, check=False)
    (left,) = tmp_path.iterdir()
    assert [*left.glob("*/file")]
    with scratch.own():
        assert left.exists(), "it may be one that begins"
    os.utime(left, (0, 0))
    with scratch.own():
        assert not left.exists()


def test_what_a_live_program_or_another_tool_has_stays(tmp_path: Path) -> None:
    (tmp_path / "tailscope-kept-1").mkdir()
    os.utime(tmp_path / "tailscope-kept-1", (0, 0))
    with scratch.own():
        (live,) = tmp_path.glob(f"{scratch.PREFIX}*")
        os.utime(live, (0, 0))
        scratch._remove_left(tmp_path)
        assert live.exists()
    assert [path.name for path in tmp_path.iterdir()] == ["tailscope-kept-1"]
