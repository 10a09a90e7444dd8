"""The bench's logic that needs no board, compiled for the host: image check and recorder."""

from __future__ import annotations

import binascii
import ctypes
import shutil
import subprocess
import tomllib
import zlib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firmware.build import board_table, boards
from firmware.tests.images import ALLOCATE, FREE, MARK, entry, image
from tests.tables import table

FIRMWARE = Path(__file__).resolve().parents[1]
CAPACITY_BYTES = 256 * 1024


class ImageFault(ctypes.Structure):
    _fields_ = (("reason", ctypes.c_char_p), ("detail", ctypes.c_uint32))


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    folder = tmp_path_factory.mktemp("bench")
    library = folder / "bench.so"
    on = boards.default()
    table = tomllib.loads((on.folder / board_table.TABLE).read_text(encoding="utf-8"))
    (folder / "board_table.h").write_text(board_table.header(on.name, table), encoding="utf-8")
    sources = ["bench/crc.c", "bench/image.c", "bench/recorder.c", "tests/host.c"]
    # Debian's Python exports zlib's crc32. Without -Bsymbolic it would replace the firmware's.
    flags = [
        "-std=c11",
        "-Wall",
        "-Wextra",
        "-Werror",
        "-shared",
        "-fPIC",
        "-Wl,-Bsymbolic",
        "-I.",
        f"-I{folder}",
        "-DTAILSCOPE_SLOTS=2048",
    ]
    subprocess.run(["gcc", *flags, *sources, "-o", library], cwd=FIRMWARE, check=True)
    loaded = ctypes.CDLL(str(library))
    loaded.image_check.restype = ImageFault
    loaded.crc32.restype = ctypes.c_uint32
    loaded.crc32.argtypes = (ctypes.c_char_p, ctypes.c_size_t)
    return loaded


GOOD = (entry(MARK, 0, 7), entry(ALLOCATE, 3, 120, flags=1, align=6), entry(FREE, 3, 0))


def check(bench: ctypes.CDLL, candidate: bytes) -> tuple[str | None, int]:
    padded = ctypes.create_string_buffer(candidate.ljust(CAPACITY_BYTES, b"\xff"), CAPACITY_BYTES)
    fault = bench.image_check(padded, CAPACITY_BYTES)
    return (fault.reason.decode() if fault.reason else None), fault.detail


@table
def test_bad_header_is_named(bench: ctypes.CDLL, fields: dict[str, Any], reason: str, detail: int) -> None:
    assert check(bench, image(*GOOD, **fields)) == (reason, detail)


@table
def test_bad_entry_is_named_with_its_index(
    bench: ctypes.CDLL, of: tuple[int, int, int], fields: dict[str, int], reason: str
) -> None:
    assert check(bench, image(*GOOD, entry(*of, **fields))) == (reason, len(GOOD))


@given(data=st.binary(max_size=200))
def test_crc32_is_zlibs(bench: ctypes.CDLL, data: bytes) -> None:
    assert bench.crc32(data, len(data)) == zlib.crc32(data)


def recorded(bench: ctypes.CDLL) -> bytes:
    """What was sent since the last call."""
    count = ctypes.c_uint.in_dll(bench, "sent_bytes")
    text = (ctypes.c_char * 4096).in_dll(bench, "sent").raw[: count.value]
    count.value = 0
    return text


@given(number=st.integers(0, 2**32 - 1), name=st.from_regex(r"[a-z_]{0,31}", fullmatch=True))
def test_record_is_a_line_with_its_checksum(bench: ctypes.CDLL, number: int, name: str) -> None:
    drains = ctypes.c_uint.in_dll(bench, "drains")
    before = drains.value
    bench.record_begin(b"PLAN")
    bench.record_text(name.encode())
    bench.record_decimal(ctypes.c_uint32(number))
    bench.record_hex(ctypes.c_uint32(number))
    bench.record_letter(ord("A"))
    bench.record_end()
    content = f"PLAN,{name},{number},{number:08X},A".encode()
    # CRC-16/CCITT-FALSE is CRC-CCITT as binascii has it, started at 0xFFFF
    assert recorded(bench) == b"@%s*%04X\n" % (content, binascii.crc_hqx(content, 0xFFFF))
    assert drains.value == before + 1


def test_the_checksum_of_all_is_zlibs_over_every_byte(bench: ctypes.CDLL, tmp_path: Path) -> None:
    # A copy of its own: the checksum is of all that was sent since the start.
    alone = ctypes.CDLL(str(shutil.copy(bench._name, tmp_path / "bench.so")))
    alone.recorder_checksum.restype = ctypes.c_uint32
    assert alone.recorder_checksum() == zlib.crc32(b"")
    sent = b""
    for number in range(3):
        alone.record_begin(b"MARK")
        alone.record_decimal(number)
        alone.record_end()
        sent += recorded(alone)
        assert alone.recorder_checksum() == zlib.crc32(sent)
