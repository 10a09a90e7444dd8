"""The image against docs/reference/operation-image.md, byte by byte, and against hostile input."""

from __future__ import annotations

import struct
import zlib
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scenarios.errors import ImageError
from scenarios.operations import Allocate, Free, Image, Mark, Operation, body_crc32, decode, encode
from scenarios.stimulus import NO_STIMULUS, Stimulus
from scenarios.tests.strategies import IMAGES

# Written by hand from the two tables of operation-image.md: four entries, then the header for them.
BODY = bytes.fromhex(
    "03 00 0000 02010000 0000 00 00"  # mark, label 0x102
    "01 01 0700 78000000 0000 00 00"  # allocate, measured, slot 7, 120 bytes
    "01 00 0100 00100000 0000 06 00"  # allocate, slot 1, 4,096 bytes, aligned to 64
    "02 01 0700 00000000 0000 00 00"  # free, measured, slot 7
)
HEADER = (
    b"TSOP"
    + bytes.fromhex("0100 4000 04000000")
    + zlib.crc32(BODY).to_bytes(4, "little")
    + bytes.fromhex("08000000 8B130000 EF1E0000 01 000000")  # 8 slots, periodic 5,003 and 7,919
    + b"by_hand".ljust(32, b"\0")
)
IMAGE = Image(
    "by_hand",
    Stimulus("periodic", 5003, 7919),
    (Mark(0x102), Allocate(7, 120), Allocate(1, 4096, measured=False, align_log2=6), Free(7)),
)


def patched(offset: int, new: bytes) -> bytes:
    """The hand-written image with some bytes replaced and its CRC made right again."""
    data = bytearray(HEADER + BODY)
    data[offset : offset + len(new)] = new
    if offset >= 64:
        struct.pack_into("<I", data, 12, zlib.crc32(bytes(data[64:])))
    return bytes(data)


def test_encodes_what_the_specification_says() -> None:
    assert encode(IMAGE) == HEADER + BODY


def test_decodes_what_the_specification_says() -> None:
    assert decode(HEADER + BODY) == IMAGE


def test_a_debugger_that_leaves_is_the_byte_behind_the_clock() -> None:
    assert encode(replace(IMAGE, debugger_leaves=True)) == HEADER[:11] + b"\1" + HEADER[12:] + BODY


def test_marks_use_no_slots() -> None:
    assert encode(replace(IMAGE, operations=(Mark(3),)))[16:20] == bytes(4)


def test_crc_is_that_of_the_body_alone() -> None:
    assert body_crc32(HEADER + BODY) == zlib.crc32(BODY)


@given(IMAGES)
def test_round_trip(image: Image) -> None:
    data = encode(image)
    assert decode(data) == image
    assert len(data) == 64 + 12 * len(image.operations)


@given(IMAGES, st.data())
def test_every_flipped_bit_is_noticed_or_means_something_else(image: Image, data: st.DataObject) -> None:
    original = encode(image)
    bit = data.draw(st.integers(0, 8 * len(original) - 1))
    damaged = bytearray(original)
    damaged[bit // 8] ^= 1 << bit % 8
    try:
        read = decode(bytes(damaged))
    except ImageError:
        return
    assert bit // 8 < 64  # in the body the CRC sees it
    assert read.operations == image.operations
    assert encode(read) == bytes(damaged)


@given(st.binary(max_size=200))
def test_arbitrary_bytes_are_no_image(data: bytes) -> None:
    with pytest.raises(ImageError):
        decode(data)


@given(st.lists(st.tuples(*[st.integers(0, 3)] * 7), max_size=6))
def test_arbitrary_entries_are_refused_or_reproduced(fields: list[tuple[int, ...]]) -> None:
    body = b"".join(struct.pack("<BBHIHBB", *entry) for entry in fields)
    slots = max((entry[2] for entry in fields if entry[0] != 3), default=-1) + 1
    header = HEADER[:8] + struct.pack("<III", len(fields), zlib.crc32(body), slots) + HEADER[20:]
    try:
        image = decode(header + body)
    except ImageError:
        return
    assert encode(image) == header + body


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (b"", "ends after 0 bytes"),
        (HEADER[:63], "ends after 63 bytes"),
        (patched(0, b"TSOQ"), "no operation image"),
        (patched(4, b"\2"), "version 2"),
        (patched(6, b"\x50"), "header of 80 bytes"),
        (HEADER + BODY[:-1], "announces 4 entries, 112 bytes, but has 111"),
        (HEADER + BODY + b"\xff", "but has 113"),
        (patched(8, b"\xff\xff"), "announces 65,535 entries"),
        (patched(10, b"\3"), "clock"),
        (patched(11, b"\2"), "sets a field that must be 0"),
        (patched(18, b"\1"), "100 baud; choose 115,200 to 1,000,000"),
        (patched(18, b"\xff\xff"), "6553500 baud"),
        (patched(12, b"\0"), "damaged: CRC-32"),
        (patched(16, b"\7"), "announces 7 slots, but the entries use 8"),
        (patched(16, b"\x09"), "announces 9 slots, but the entries use 8"),
        (patched(20, bytes(4)), "at least one tick"),
        (patched(28, b"\0"), "yet a period is given"),
        (patched(28, b"\5"), "stimulus mode 5, which is reserved"),
        (patched(29, b"\2"), "transport 2, which is reserved"),
        (patched(30, b"\1"), "no further number"),
        (patched(28, b"\4"), "edges of a burst"),
        (patched(32, bytes(7)), "at least one character"),
        (patched(32, b"\xff"), "not UTF-8"),
        (patched(40, b"x"), "not padded"),
        (patched(32, b"x" * 32), "not padded"),
        (patched(64, b"\5"), "Entry 0 has the unknown kind 5"),
        (patched(64, b"\4"), "Entry 0 makes call"),
        (patched(65, b"\1"), "Entry 0 sets a field"),  # a mark is not measured
        (patched(66, b"\1"), "Entry 0 sets a field"),  # nor has it a slot
        (patched(77, b"\x09"), "Entry 1 sets a field"),  # reserved flag
        (patched(77, b"\3"), "Entry 1 is a retry, but no allocation"),
        (patched(101, b"\3"), "Entry 3 sets a field"),  # a free is no retry
        (patched(84, b"\1"), "stimulus_offset 1 is outside"),
        (patched(84, b"\x40"), "the mode is periodic"),
        (patched(87, b"\1"), "Entry 1 sets a field"),  # reserved byte
        (patched(104, b"\1"), "Entry 3 sets a field"),  # a free has no size
        (patched(110, b"\1"), "Entry 3 sets a field"),  # nor an alignment
        (patched(80, bytes(4)), "Entry 1: size 0 is outside 1…"),
        (patched(98, b"\x20"), "Entry 2: align_log2 32 is outside 0…31"),
        (patched(78, b"\0\x08"), "Entry 1: slot 2048 is outside 0…2047"),
        (patched(90, b"\7"), "Entry 2 allocates into slot 7, which is live"),
        (patched(102, b"\6"), "Entry 3 frees slot 6, which holds no block"),
    ],
)
def test_hostile_image_gets_its_sentence(data: bytes, sentence: str) -> None:
    with pytest.raises(ImageError) as refusal:
        decode(data)
    assert sentence in str(refusal.value)
    assert str(refusal.value).endswith(".")
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize(
    ("operations", "sentence"),
    [
        ((Free(0),), "Entry 0 frees slot 0"),
        ((Allocate(0, 8), Free(0), Free(0)), "Entry 2 frees slot 0"),
        ((Allocate(3, 8), Mark(0), Allocate(3, 8)), "Entry 2 allocates into slot 3"),
        ((Allocate(2048, 8),), "slot 2048 is outside"),
        ((Free(-1),), "slot -1 is outside"),
        ((Allocate(0, 0),), "size 0 is outside"),
        ((Allocate(0, 2**32),), "size 4294967296 is outside"),
        ((Mark(-1),), "label -1 is outside"),
        ((Mark(0),) * 21_841, "21,841 entries do not fit"),
    ],
)
def test_malformed_operations_are_refused(operations: tuple[Operation, ...], sentence: str) -> None:
    with pytest.raises(ImageError, match=sentence):
        Image("x", NO_STIMULUS, operations)


def test_the_fullest_image_fits_its_flash() -> None:
    full = Image("x", NO_STIMULUS, (Mark(0),) * 21_840)
    assert 256 * 1024 - 12 < len(encode(full)) <= 256 * 1024
    assert decode(encode(full)) == full


@pytest.mark.parametrize("name", ["", "a\0b", "x" * 32, "é" * 16, "\ud800"])
def test_names_that_do_not_fit_are_refused(name: str) -> None:
    with pytest.raises(ImageError, match="name"):
        replace(IMAGE, name=name)


def test_the_longest_name_fits() -> None:
    assert decode(encode(replace(IMAGE, name="x" * 31))).name == "x" * 31
