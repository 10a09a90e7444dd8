"""Files: locks on them, written whole, kept by digests."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import unicodedata
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import RootModel

from base import source_digest
from base.files import build_cache, locks
from base.files.documents import read_json
from base.files.locks import lock_of, taking_turns
from base.files.printable import printable, printable_lines, printable_values
from base.files.remembered import remembered
from base.files.whole import WriteError, read_bytes, write_bytes
from base.paths import ROOT
from base.run_folder.edge_stream import EdgeWriter, read_stream
from base.run_folder.edges import CHANNELS
from base.run_folder.progress_file import progress_file

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
    [(stream, read_the_stream), (taking_turns, take_a_turn), (progress_file, see_no_run)],
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
        with forked(), progress_file(tmp_path):
            assert held(tmp_path)
    finally:
        os.close(descriptor)


def test_a_file_is_read_up_to_its_bound(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"x" * 100)
    assert read_bytes(path, 100) == b"x" * 100
    with pytest.raises(OSError, match="more than 99 bytes"):
        read_bytes(path, 99)


def test_what_is_no_file_is_refused_at_once(tmp_path: Path) -> None:
    """A named pipe that nobody writes to would be waited for, for ever;
    so would /dev/zero be read.
    """
    pipe, folder, link, sparse = (tmp_path / name for name in ("pipe", "folder", "link", "sparse"))
    os.mkfifo(pipe)
    folder.mkdir()
    link.symlink_to(pipe)
    sparse.touch()
    os.truncate(sparse, 1 << 40)
    listening = socket.socket(socket.AF_UNIX)
    listening.bind(str(tmp_path / "socket"))
    for path, why in (
        (pipe, "a device or a pipe"),
        (link, "a device or a pipe"),
        (Path("/dev/zero"), "a device or a pipe"),
        (folder, "Is a directory"),
        (sparse, "more than 1,000 bytes"),
        (tmp_path / "socket", "No such device"),
        (tmp_path / "missing", "No such file"),
    ):
        with pytest.raises(OSError, match=why):
            read_bytes(path, 1000)
    listening.close()


def test_nothing_is_put_in_the_place_of_a_device_or_a_pipe(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(WriteError, match="a device or a pipe"):
        write_bytes(pipe, b"x")
    assert pipe.is_fifo()


def test_what_lies_where_a_file_is_made_is_not_written_to(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "file.part")  # to open it would wait for ever
    assert write_bytes(tmp_path / "file", b"x").read_bytes() == b"x"
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


COMMANDS = {
    "\x1b[31mred\x1b[0m": r"\x1b[31mred\x1b[0m",
    "\x1b]0;a title\x07": r"\x1b]0;a title\x07",
    "\x9b2J": r"\x9b2J",
    "one\rtwo\nAs good as the baseline.": r"one\rtwo\nAs good as the baseline.",
    "a\u202egpj.exe": r"a\u202egpj.exe",
    "plain, µ and 日本": "plain, µ and 日本",
}


@pytest.mark.parametrize(("text", "shown"), COMMANDS.items())
def test_what_is_hidden_is_told(text: str, shown: str) -> None:
    assert printable(text) == shown


@given(st.text())
def test_nothing_is_left_that_is_no_character_to_see(text: str) -> None:
    kinds = {unicodedata.category(character) for character in printable(text)}
    assert not kinds & {"Cc", "Zl", "Zp"}
    assert {it for it in printable_lines(text) if unicodedata.category(it) == "Cc"} <= {"\n", "\t"}


def test_texts_and_keys_of_a_document_come_so(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    for written in (json.dumps({"\x1b": ["\n", {"a": "\x9b"}]}), '{"\\u001b": ["\\n", {"a": "\x9b"}]}'):
        path.write_text(written, encoding="utf-8")
        assert read_json(path, RootModel[object]).root == {r"\x1b": [r"\n", {"a": r"\x9b"}]}
    assert printable_values([1, None, True, 0.5]) == [1, None, True, 0.5]


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(build_cache, "CACHE", tmp_path / "cache")
    monkeypatch.setattr(build_cache, "ROOT", tmp_path / "first")
    folder = tmp_path / "first" / "build"
    (folder / "objects").mkdir(parents=True)
    (folder / "objects" / "heap.obj").write_bytes(b"\0heap")
    (folder / "image.elf").write_bytes(b"\x7fELF")
    (folder / "image.elf").chmod(0o755)
    os.utime(folder / "image.elf", (1, 1))
    (folder / "placed-1.elf").write_bytes(b"\x7fELF")
    (folder / "build.ninja").write_text(f"build {tmp_path}/first/build/image.elf: link\n")
    build_cache.keep("digest", folder)
    return tmp_path / "cache"


@pytest.mark.usefixtures("cache")
def test_another_checkout_takes_the_build_with_paths_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(build_cache, "ROOT", tmp_path / "second")
    folder = tmp_path / "second" / "build"
    (folder / "old").mkdir(parents=True)
    assert build_cache.take("digest", folder)
    assert (folder / "objects" / "heap.obj").read_bytes() == b"\0heap"
    taken = (folder / "image.elf").stat()
    assert taken.st_mode & 0o777 == 0o755
    assert taken.st_mtime > 1, "sources of the second checkout are as old as the build"
    assert (folder / "build.ninja").read_text() == f"build {tmp_path}/second/build/image.elf: link\n"
    assert not (folder / "old").exists() and not (folder / "placed-1.elf").exists()
    assert [path.name for path in folder.parent.iterdir()] == ["build"]


@pytest.mark.parametrize("entry", ["cut short", "absent"])
def test_what_is_not_whole_is_not_taken(cache: Path, tmp_path: Path, entry: str) -> None:
    (packed,) = (cache / "built").iterdir()
    if entry == "absent":
        packed.unlink()
    else:
        packed.write_bytes(packed.read_bytes()[:150])
    (tmp_path / "here").mkdir()
    (tmp_path / "here" / "mine").touch()
    assert not build_cache.take("digest", tmp_path / "here")
    assert (tmp_path / "here" / "mine").exists()
    assert not list(tmp_path.glob("*.taken"))


def test_a_cache_that_cannot_be_written_keeps_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "cache").write_text("a file")
    monkeypatch.setattr(build_cache, "CACHE", tmp_path / "cache")
    (tmp_path / "build").mkdir()
    build_cache.keep("digest", tmp_path / "build")
    assert not build_cache.take("digest", tmp_path / "other")


class Square:
    """Computes once for each call, and counts."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.code = folder / "code.py"
        self.code.write_text("first")
        self.times = 0

    def __call__(self, number: int) -> Any:
        def compute() -> list[int]:
            self.times += 1
            return [number * number]

        return remembered("squares", [str(number).encode()], [self.code], compute, self.folder)


@pytest.fixture
def square(tmp_path: Path) -> Square:
    return Square(tmp_path)


def kept(square: Square) -> list[Path]:
    return sorted((square.folder / "squares").iterdir())


def test_it_is_computed_once(square: Square) -> None:
    assert [square(3), square(3), square(4), square(3)] == [[9], [9], [16], [9]]
    assert square.times == 2 and len(kept(square)) == 2


def test_other_code_computes_again(square: Square) -> None:
    square(3)
    square.code.write_text("second")
    assert square(3) == [9] and square.times == 2


@pytest.mark.parametrize("damage", [b"", b"[9", b"\xff"])
def test_what_is_damaged_is_computed_again_and_replaced(square: Square, damage: bytes) -> None:
    square(3)
    kept(square)[0].write_bytes(damage)
    assert [square(3), square(3)] == [[9], [9]] and square.times == 2


ROOMS = ("simulator", "firmware")


@pytest.fixture
def sources(tmp_path: Path) -> Path:
    for name in ("simulator/src/main.rs", "simulator/target/made", "firmware/heap/heap.c", "firmware/.made"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(name)
    return tmp_path


def digests(root: Path) -> dict[str, str]:
    source_digest.digest.cache_clear()
    return {room: source_digest.digest(room, root) for room in ROOMS}


def test_a_digest_is_of_what_is_written_and_not_of_what_is_made(sources: Path) -> None:
    before = digests(sources)
    (sources / "simulator/target/made").write_text("other")
    (sources / "firmware/.made").unlink()
    assert digests(sources) == before
    (sources / "firmware/heap/heap.c").rename(sources / "firmware/heap/other.c")
    assert digests(sources)["firmware"] != before["firmware"]
    assert digests(sources)["simulator"] == before["simulator"]
    (sources / "simulator/src/main.rs").write_text("other")
    assert digests(sources)["simulator"] != before["simulator"]
