"""Simulators with a planted fault, to stand in for the built one."""

from __future__ import annotations

from pathlib import Path

from simulator import build as simulator

_MOVE = """
import struct, zlib
data = bytearray(open("edges.stream", "rb").read())
head = data.index(b"\\n") + 1
rows, total, width = struct.unpack_from("<IQB", data, head + 4)
at = head + 21 + width * (rows // 2)
for place, by in ((at, 1), (at + width, -1)):
    moved = int.from_bytes(data[place:place + width], "little") + by
    data[place:place + width] = moved.to_bytes(width, "little")
checked = data[head + 4:head + 17] + data[head + 21:head + 21 + rows * (width + 1)]
struct.pack_into("<I", data, head + 17, zlib.crc32(checked))
open("edges.stream", "wb").write(data)
"""


def program(folder: Path, script: str) -> Path:
    """A simulator that behaves as the built one, with `script` behind it."""
    path = folder / "virtual-nucleo"
    path.write_text(f"#!/bin/sh\nbuilt={simulator.build()}\n{script}\n")
    path.chmod(0o755)
    return path


def one_edge_late(folder: Path) -> Path:
    """One edge in the middle comes a sample late, as by a fault in the sampler.

    The records are right: only the wire tells. The stream's checksum is made anew.
    """
    move = folder / "move.py"
    move.write_text(_MOVE, encoding="utf-8")
    return program(folder, f'"$built" "$@" && exec python3 -S {move}')
