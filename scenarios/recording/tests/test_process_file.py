"""Files of the recorder that a program has written into: nothing in them is trusted."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scenarios import trace
from scenarios.recording.record import MAGIC, Conversion, open_file

NOTHING, ALLOCATED, FREEING, MOVING, MOVED = range(5)


def written(folder: Path, *records: tuple[int, ...], claimed: int | None = None, room: int = 64) -> Path:
    """`records` are (kind, block, size, origin, alignment_log2), from the left as many as count."""
    head = struct.pack("<QQQII", MAGIC, room, len(records) if claimed is None else claimed, 7, 1)
    content = bytearray(4096 + 24 * room)
    content[: len(head)] = head
    content[len(head) : len(head) + 13] = b"/usr/bin/true"
    for number, record in enumerate(records):
        kind, block, size, origin, log2 = (*record, 0, 0, 0, 0)[:5]
        struct.pack_into("<QQIB2xB", content, 4096 + 24 * number, block, size, origin, log2, kind)
    path = folder / "1"
    path.write_bytes(content)
    return path


def converted(path: Path) -> tuple[list[str], Conversion]:
    file = open_file(path)
    assert file is not None
    conversion = Conversion(file)
    return list(conversion.lines()), conversion


def test_a_block_keeps_its_number_while_its_old_place_is_anothers(tmp_path: Path) -> None:
    """A thread moves block 1, and before it is back another has got the place that it left."""
    records = ((ALLOCATED, 64, 10), (MOVING, 64, 99), (ALLOCATED, 64, 20), (MOVED, 128, 99, 1))
    lines, _ = converted(written(tmp_path, *records, (FREEING, 64), (FREEING, 128)))
    assert lines == ["a,1,10", "a,2,20", "r,1,99", "f,2", "f,1"]


@given(st.binary(min_size=24, max_size=24 * 30), st.booleans())
def test_whatever_the_records_are_the_trace_can_be_read(
    tmp_path_factory: pytest.TempPathFactory, noise: bytes, tame: bool
) -> None:
    folder = tmp_path_factory.getbasetemp()
    room = len(noise) // 24
    path = written(folder, claimed=2**63, room=room)
    content = bytearray(path.read_bytes())
    content[4096 : 4096 + 24 * room] = noise[: 24 * room]
    if tame:  # few addresses and kinds, so that they meet
        records = np.frombuffer(content, dtype=np.uint8, offset=4096).reshape(room, 24)
        records[:, 1:8] = records[:, 12:16] = 0
        records[:, (0, 16, 23)] %= 5
        records[:, 17:20] = 0
    path.write_bytes(content)
    lines, conversion = converted(path)
    assert conversion.account.operations == len(lines)
    (folder / "trace.csv").write_text("# from noise\na,x,8\n" + "".join(f"{line}\n" for line in lines))
    assert len(trace.read(folder / "trace.csv").operations) == 1 + len(lines)
