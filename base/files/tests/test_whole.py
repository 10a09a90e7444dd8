from __future__ import annotations

import json
import os
import socket
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import RootModel

from base.files.documents import read_json
from base.files.printable import printable, printable_lines, printable_values
from base.files.whole import WriteError, read_bytes, write_bytes


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
