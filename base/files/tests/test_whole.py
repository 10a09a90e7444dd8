import os
import socket
from pathlib import Path

import pytest

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
