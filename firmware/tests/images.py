"""Operation images for tests, packed as docs/reference/operation-image.md says, without
`scenarios`."""

from __future__ import annotations

import struct
import zlib

ALLOCATE, FREE, MARK, CALL = 1, 2, 3, 4


def entry(kind: int, id_: int, argument: int, **fields: int) -> bytes:
    """One entry; `fields` are flags, offset, align and reserved."""
    flags, offset, align, reserved = ({"flags": 0, "offset": 0, "align": 0, "reserved": 0} | fields).values()
    return struct.pack("<BBHIHBB", kind, flags, id_, argument, offset, align, reserved)


def image(*entries: bytes, **fields: int | str) -> bytes:
    """A whole image; `fields` replace those of a good header."""
    body = b"".join(entries)
    header = {
        "magic": 0x504F5354,
        "version": 1,
        "header_bytes": 64,
        "entry_count": len(entries),
        "clock": 0,
        "debugger_leaves": 0,
        "crc": zlib.crc32(body),
        "slots": 4,
        "baud_hundreds": 0,
        "stimulus_period": 5003,
        "control_period": 7919,
        "mode": 1,
        "records": 0,
        "parameter": 0,
        "name": "mem_frag",
    }
    *numbers, name = (header | fields).values()
    return struct.pack("<IHHHBBIHHIIBBH32s", *numbers, str(name).encode()) + body
