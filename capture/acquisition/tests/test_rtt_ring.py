"""The ring of records in a memory made by hand, whole, wrapped around, empty and damaged."""

from __future__ import annotations

import struct
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from capture.acquisition.rtt_ring import RttError, RttRing

BASE = 0x2000_0000
BLOCK, RING = BASE + 0x40, BASE + 0x101  # a ring need not be aligned
RING_BYTES = 37
WRITE_OFFSET, READ_OFFSET = 36, 40  # within the control block, counted by hand from SEGGER's structure


class Board:
    """SRAM with a control block, and a firmware that puts bytes into
    the ring as long as they fit.
    """

    def __init__(self) -> None:
        self.sram = bytearray(0x400)
        self.transfers = 0
        self.patch(BLOCK, b"SEGGER RTT" + bytes(6) + struct.pack("<ii", 1, 0))
        self.patch(BLOCK + 24, struct.pack("<6I", 0, RING, RING_BYTES, 0, 0, 2))

    def patch(self, address: int, content: bytes) -> None:
        self.sram[address - BASE : address - BASE + len(content)] = content

    def word(self, address: int) -> int:
        return int.from_bytes(self.sram[address - BASE : address - BASE + 4], "little")

    def read_words(self, address: int, count: int) -> Sequence[int]:
        assert address % 4 == 0
        self.transfers += 1
        return [self.word(address + 4 * index) for index in range(count)]

    def write_word(self, address: int, value: int) -> None:
        assert address % 4 == 0
        self.patch(address, value.to_bytes(4, "little"))

    def put(self, content: bytes) -> int:
        """Puts bytes until the ring is full; returns how many it took."""
        for taken, byte in enumerate(content):
            at = self.word(BLOCK + WRITE_OFFSET)
            following = (at + 1) % RING_BYTES
            if following == self.word(BLOCK + READ_OFFSET):
                return taken
            self.patch(RING + at, bytes([byte]))
            self.write_word(BLOCK + WRITE_OFFSET, following)
        return len(content)


@given(st.lists(st.binary(max_size=50)))
def test_everything_comes_once_and_in_order(pieces: list[bytes]) -> None:
    board = Board()
    ring = RttRing(board, BLOCK)
    put, received = b"", b""
    for piece in pieces:
        put += piece[: board.put(piece)]
        received += ring.read()
    assert received == put
    assert ring.read() == b""


def test_a_look_at_an_empty_ring_is_one_transfer() -> None:
    board = Board()
    assert RttRing(board, BLOCK).read() == b""
    assert board.transfers == 1


def test_what_an_earlier_run_left_is_forgotten() -> None:
    board = Board()
    board.put(b"old")
    ring = RttRing(board, BLOCK)
    ring.forget()
    assert ring.read() == b""
    board.patch(BLOCK, b"SEGG")
    assert ring.read() == b"old"


@pytest.mark.parametrize(
    ("offset", "value"), [(16, 0), (32, 0), (WRITE_OFFSET, RING_BYTES), (READ_OFFSET, 0xFFFF_FFFF)]
)
def test_a_damaged_control_block_is_named(offset: int, value: int) -> None:
    board = Board()
    board.put(b"x")
    board.write_word(BLOCK + offset, value)
    with pytest.raises(RttError, match="offsets"):
        RttRing(board, BLOCK).read()
