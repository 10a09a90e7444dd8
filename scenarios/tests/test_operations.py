"""The image against docs/reference/operation-image.md, byte by byte, and against hostile input."""

from __future__ import annotations

import struct
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scenarios.errors import ImageError
from scenarios.operations import Allocate, Free, Image, Mark, body_crc32, decode, encode
from scenarios.stimulus import Stimulus
from scenarios.tests.strategies import IMAGES
from tests.sentences import Sentences
from tests.tables import beside

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
    assert decode(HEADER + BODY) == IMAGE
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


def test_hostile_image_gets_its_sentence(sentences: Sentences) -> None:
    changed = [patched(offset, bytes.fromhex(new)) for offset, new in beside(__file__)["changes"]]
    for data in (b"", HEADER[:63], HEADER + BODY[:-1], HEADER + BODY + b"\xff", *changed):
        with sentences.raised(ImageError):
            decode(data)
