import errno
import os
import struct
import zlib
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from base.files.whole import WriteError
from base.run_folder.edge_stream import ROOM_BYTES, EdgeWriter, read_stream
from base.run_folder.edges import CHANNELS, EdgeList
from tests.tables import table

HZ = 24_000_000
ASKED = 14_400_000_000

# Rows and totals of a capture of ten minutes, in blocks; one brings samples and no edge.
BLOCKS = [
    ([0, 5, 4_294_967_290], [0, 1, 0], 4_294_967_291),
    ([4_294_967_300, 8_589_934_600], [2, 130], 8_589_934_601),
    ([], [], 12_000_000_000),
    ([12_000_000_007], [255], 12_000_000_008),
]
HEADER_END = b"\n"


def write(path: Path, blocks: list[tuple[list[int], list[int], int]]) -> None:
    with EdgeWriter(path, HZ, CHANNELS, ASKED) as writer:
        for sample, word, total in blocks:
            writer.append(np.array(sample, np.int64), np.array(word, np.uint8), total)


def expected(blocks: list[tuple[list[int], list[int], int]]) -> EdgeList:
    sample = [at for block, _, _ in blocks for at in block]
    word = [level for _, block, _ in blocks for level in block]
    return EdgeList(
        np.array(sample, np.int64), np.array(word, np.uint8), HZ, blocks[-1][2] if blocks else 0, CHANNELS
    )


def test_the_file_is_as_specified(tmp_path: Path) -> None:
    """By the words of docs/reference/edges.md, with the standard library alone."""
    write(tmp_path / "s", BLOCKS[:1])
    header, _, block = (tmp_path / "s").read_bytes().partition(b"\n")
    assert header == (
        b'{"schema":2,"samplerate_hz":24000000,"asked_samples":14400000000,'
        b'"channels":["CRIT","OP","STIM","ISR","TASK","CTRL","CISR","SYNC"]}'
    )
    counted = struct.pack("<IQB", 3, 4_294_967_291, 4)
    rows = struct.pack("<3I", 0, 5, 4_294_967_285) + bytes([0, 1, 0])
    assert block == b"edge" + counted + struct.pack("<I", zlib.crc32(counted + rows)) + rows


@table
def test_a_row_takes_as_few_bytes_as_its_block_allows(tmp_path: Path, most: int, width: int) -> None:
    blocks = [([0, most], [0, 1], most + 3), ([2 * most + 3], [0], 2 * most + 4)]
    write(tmp_path / "s", blocks)
    assert read_stream(tmp_path / "s").edges == expected(blocks)
    after_header = (tmp_path / "s").read_bytes().partition(b"\n")[2]
    assert len(after_header) == 2 * 21 + 3 * (width + 1)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.integers(0, 300), st.integers(0, 7))
def test_wherever_it_is_cut_or_damaged_the_whole_blocks_before_are_read(
    tmp_path: Path, place: int, bit: int
) -> None:
    path = tmp_path / "s"
    path.unlink(missing_ok=True)
    write(path, BLOCKS)
    stream = read_stream(path)
    assert (stream.edges, stream.asked_samples) == (expected(BLOCKS), ASKED)
    content = path.read_bytes()
    begin = content.index(HEADER_END) + 1
    ends = [begin]
    for (sample, _, _), distance_bytes in zip(BLOCKS, (4, 8, 1, 1), strict=True):
        ends.append(ends[-1] + 21 + (distance_bytes + 1) * len(sample))
    assert ends[-1] == len(content)
    at = begin + place % (len(content) - begin)
    whole = sum(end <= at for end in ends[1:])
    path.write_bytes(content[:at])
    assert read_stream(path).edges == expected(BLOCKS[:whole])
    damaged = bytearray(content)
    damaged[at] ^= 1 << bit
    path.write_bytes(damaged)
    assert read_stream(path).edges == expected(BLOCKS[:whole])


def test_a_full_disk_takes_no_part_of_a_block(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The system takes half of it, and then says that there is no room."""
    path, write_some = tmp_path / "s", os.pwrite
    answers: list[int | OSError] = [10, OSError(errno.ENOSPC, "No space left on device")]

    def fill(descriptor: int, data: memoryview, offset: int) -> int:
        answer = answers.pop(0)
        if isinstance(answer, OSError):
            raise answer
        return write_some(descriptor, data[:answer], offset)

    with EdgeWriter(path, HZ, CHANNELS, ASKED) as writer:
        writer.append(np.array([0, 7]), np.array([1, 0], np.uint8), 9)
        with monkeypatch.context() as full:
            full.setattr(os, "pwrite", fill)
            with pytest.raises(WriteError, match="the disk is full, make room"):
                writer.append(np.array([10]), np.array([1], np.uint8), 20)
        writer.append(np.array([30]), np.array([1], np.uint8), 40)
    assert read_stream(path).edges.sample.tolist() == [0, 7, 30]


class Disk(NamedTuple):
    f_bavail: int
    f_frsize: int = 1


def test_room_to_store_the_run_is_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with EdgeWriter(tmp_path / "s", HZ, CHANNELS, ASKED) as writer:
        writer.append(np.arange(1000), np.arange(1000).astype(np.uint8), 1000)
        needed = ROOM_BYTES + 36 * 1000
        monkeypatch.setattr(os, "fstatvfs", lambda _: Disk(needed))
        writer.check_room()
        monkeypatch.setattr(os, "fstatvfs", lambda _: Disk(needed - 1))
        with pytest.raises(WriteError, match=rf"has {needed - 1:,} bytes left.* make room and run again"):
            writer.check_room()
