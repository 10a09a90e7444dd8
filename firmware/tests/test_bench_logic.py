"""The bench's logic that needs no board, compiled for the host: image check and recorder."""

from __future__ import annotations

import binascii
import ctypes
import re
import shutil
import struct
import subprocess
import tomllib
import zlib
from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firmware.build import board_table, boards
from firmware.tests.images import ALLOCATE, CALL, FREE, MARK, entry, image

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


@pytest.mark.parametrize(
    ("fields", "reason", "detail"),
    [
        ({"magic": 0xFFFFFFFF}, "magic", 0xFFFFFFFF),
        ({"version": 2}, "version", 2),
        ({"header_bytes": 68}, "header", 68),
        ({"entry_count": 21841}, "entries", 21841),
        ({"entry_count": 0xFFFF}, "entries", 0xFFFF),
        ({"clock": 3}, "clock", 3),
        ({"debugger_leaves": 2}, "reserved", 2),
        ({"baud_hundreds": 1151}, "baud", 1151),
        ({"baud_hundreds": 10001}, "baud", 10001),
        ({"slots": 2049}, "slots", 2049),
        ({"mode": 5}, "mode", 5),
        ({"records": 2}, "records", 2),
        ({"parameter": 1}, "stimulus", 1),
        ({"mode": 2, "parameter": 1}, "stimulus", 1),
        ({"mode": 3, "stimulus_period": 3999, "parameter": 7}, "stimulus", 7),
        ({"mode": 4, "parameter": 15}, "stimulus", 15),
        ({"mode": 4, "parameter": 3004}, "stimulus", 3004),
        ({"stimulus_period": 1999}, "period", 1999),
        ({"control_period": 999}, "period", 999),
        ({"name": b"n" * 32}, "name", 32),
        ({"name": b"a,b"}, "name", 32),
        ({"name": b"a\nb"}, "name", 32),
        ({"crc": 1}, "crc", zlib.crc32(b"".join(GOOD))),
    ],
)
def test_bad_header_is_named(bench: ctypes.CDLL, fields: dict[str, int], reason: str, detail: int) -> None:
    assert check(bench, image(*GOOD, **fields)) == (reason, detail)


def test_what_the_page_allows_is_taken(bench: ctypes.CDLL) -> None:
    again = (entry(ALLOCATE, 1, 8, flags=5), entry(ALLOCATE, 1, 1, flags=2))
    assert check(bench, image(*GOOD, *again)) == (None, 0)
    assert check(bench, image(*[GOOD[0]] * 21_840)) == (None, 0)  # (256 KiB - 64) / 12
    for fields in (
        {"stimulus_period": 0, "control_period": 1000},
        {"mode": 2, "stimulus_period": 0},
        {"mode": 3, "stimulus_period": 4000, "parameter": 65535},
        {"mode": 4, "parameter": 16},
        {"mode": 4, "parameter": 3003},
    ):
        assert check(bench, image(*GOOD, **fields)) == (None, 0)


def test_a_swept_operation_has_an_offset_and_a_mark_has_none(bench: ctypes.CDLL) -> None:
    swept = (entry(CALL, 0, 0, offset=32), entry(ALLOCATE, 0, 8, offset=65535), entry(FREE, 0, 0, offset=40))
    assert check(bench, image(*swept, mode=2)) == (None, 0)
    for bad in (entry(ALLOCATE, 0, 8, offset=31), entry(MARK, 0, 0, offset=40)):
        assert check(bench, image(*swept, bad, mode=2)) == ("offset", 3)


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        (entry(0, 0, 0), "kind"),
        (entry(5, 0, 0), "kind"),
        (entry(CALL, 1, 0), "reserved"),
        (entry(CALL, 0, 10), "call"),
        (entry(ALLOCATE, 4, 8), "slot"),
        (entry(FREE, 4, 0), "slot"),
        (entry(ALLOCATE, 0, 8, flags=8), "reserved"),
        (entry(ALLOCATE, 0, 8, flags=2), "retry"),  # behind a free
        (entry(FREE, 0, 0, flags=4), "reserved"),
        (entry(MARK, 0, 0, flags=2), "reserved"),
        (entry(ALLOCATE, 0, 8, offset=40), "offset"),
        (entry(ALLOCATE, 0, 8, reserved=1), "reserved"),
        (entry(FREE, 0, 8), "reserved"),
        (entry(FREE, 0, 0, align=3), "reserved"),
        (entry(MARK, 1, 0), "reserved"),
        (entry(ALLOCATE, 0, 8, align=32), "alignment"),
    ],
)
def test_bad_entry_is_named_with_its_index(bench: ctypes.CDLL, bad: bytes, reason: str) -> None:
    assert check(bench, image(*GOOD, bad)) == (reason, len(GOOD))


def is_acceptable(candidate: bytes, capacity_bytes: int) -> bool:
    """docs/reference/operation-image.md, said once more: what the firmware must not refuse."""
    magic, version, header_bytes, count, clock, leaves, crc, slots, baud = struct.unpack(
        "<IHHHBBIHH", candidate[:20]
    )
    stimulus, control, mode, records, parameter, name = struct.unpack("<IIBBH32s", candidate[20:64])
    letters, nul, _ = name.partition(b"\0")
    if (magic, version, header_bytes) != (0x504F5354, 1, 64):
        return False
    if (mode in (0, 1, 2) and parameter) or (mode == 3 and stimulus < 4000):
        return False
    if mode == 4 and not 16 <= parameter <= stimulus - 2000:
        return False
    if clock > 2 or leaves > 1 or (baud and not 1152 <= baud <= 10_000):
        return False
    if slots > 2048 or mode > 4 or records > 1 or 1 <= stimulus <= 1999 or 1 <= control <= 999:
        return False
    if not nul or re.search(rb"[^!-~]|[,*@]", letters) or 64 + 12 * count > capacity_bytes:
        return False
    body = candidate[64 : 64 + 12 * count]
    rows = list(struct.iter_unpack("<BBHIHBB", body))
    return (
        zlib.crc32(body) == crc
        and all(is_acceptable_entry(row, slots, mode) for row in rows)
        and all(
            before is not None and before[0] == ALLOCATE and before[2] == row[2] and not before[1] & 2
            for before, row in zip([None, *rows], rows, strict=False)
            if row[1] & 2
        )
    )


def is_acceptable_entry(row: tuple[int, ...], slots: int, mode: int) -> bool:
    kind, flags, slot, argument, offset, align, reserved = row
    if (
        flags > (7 if kind == ALLOCATE else 1)
        or reserved
        or (offset and (mode != 2 or kind == MARK or offset < 32))
    ):
        return False
    if kind == CALL:
        return slot == 0 and argument < 10 and align == 0
    if kind == ALLOCATE:
        return slot < slots and align <= 31
    if kind == FREE:
        return slot < slots and argument == 0 and align == 0
    return kind == MARK and slot == 0 and align == 0


def damaged(random: Random) -> bytes:
    """A good image with up to three bytes changed, most times under a checksum that fits."""
    candidate = bytearray(image(*GOOD, name=b"n" * random.randint(0, 31)))
    for _ in range(random.randint(0, 3)):
        place = random.choice([random.randrange(len(candidate)), 12, 13, 64 + random.randrange(36)])
        candidate[place] = random.choice([0, 1, 2, 3, 4, 32, 0x7F, 0xFF, random.randrange(256)])
    if random.random() < 0.8:
        count = min(int.from_bytes(candidate[8:10], "little"), len(GOOD))
        candidate[12:16] = zlib.crc32(candidate[64 : 64 + 12 * count]).to_bytes(4, "little")
    return bytes(candidate)


def test_damaged_images_are_refused_and_only_those(bench: ctypes.CDLL) -> None:
    random = Random(0x7A11)
    seen = {True: 0, False: 0}
    for _ in range(20_000):
        candidate = damaged(random)
        good = is_acceptable(candidate, len(candidate))
        seen[good] += 1
        assert (bench.image_check(candidate, len(candidate)).reason is None) == good, candidate.hex()
    assert min(seen.values()) > 2_000, seen


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


def test_records_by_rtt_leave_the_serial_line_quiet(bench: ctypes.CDLL, tmp_path: Path) -> None:
    # A copy of its own: the choice is made once in a run, and not taken back.
    alone = ctypes.CDLL(str(shutil.copy(bench._name, tmp_path / "bench.so")))
    alone.record_begin(b"END")
    alone.record_end()
    assert recorded(alone).startswith(b"@END*")
    alone.recorder_use_rtt()
    alone.record_begin(b"END")
    alone.record_decimal(7)
    alone.record_end()
    assert recorded(alone) == b""
    assert ctypes.c_uint.in_dll(alone, "rtt_starts").value == 1
    count = ctypes.c_uint.in_dll(alone, "in_ring_bytes").value
    in_ring = (ctypes.c_char * 4096).in_dll(alone, "in_ring").raw[:count]
    assert in_ring == b"@END,7*%04X\n" % binascii.crc_hqx(b"END,7", 0xFFFF)


@pytest.mark.parametrize(
    ("fields", "by_rtt"), [({}, False), ({"records": 1}, True), ({"records": 1, "magic": 0}, False)]
)
def test_what_is_no_image_keeps_the_serial_line(
    bench: ctypes.CDLL, fields: dict[str, int], by_rtt: bool
) -> None:
    bench.image_asks_for_rtt.restype = ctypes.c_bool
    assert bench.image_asks_for_rtt(image(*GOOD, **fields)) is by_rtt
