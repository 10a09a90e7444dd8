from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from base.files.errors import CaptureError
from base.run_folder.edges import CHANNELS, EdgeList
from base.run_folder.extract import EdgeExtractor

# Runs of equal bytes, long enough for whole quiet 64-bit words, between dense stretches.
STREAMS = st.lists(
    st.one_of(
        st.binary(max_size=40),
        st.builds(lambda byte, count: bytes([byte]) * count, st.integers(0, 255), st.integers(0, 200)),
        st.builds(lambda pair, count: pair * count, st.binary(min_size=8, max_size=8), st.integers(0, 12)),
    ),
    max_size=12,
).map(b"".join)


def naive(stream: bytes, bits: tuple[int, ...]) -> list[tuple[int, int]]:
    rows: list[tuple[int, int]] = []
    for index, byte in enumerate(stream):
        word = 0
        for channel, bit in enumerate(bits):
            if byte & (1 << bit):
                word += 2**channel
        if not rows or rows[-1][1] != word:
            rows.append((index, word))
    return rows


def rows(edges: EdgeList) -> list[tuple[int, int]]:
    return list(zip(edges.sample.tolist(), edges.word.tolist(), strict=True))


def cut(stream: bytes, borders: list[int]) -> list[bytes]:
    places = sorted({min(border, len(stream)) for border in borders} | {0, len(stream)})
    return [stream[a:b] for a, b in pairwise(places)]


@given(STREAMS, st.lists(st.integers(0, 2000), max_size=6))
def test_equals_a_plain_loop_across_chunk_borders(stream: bytes, borders: list[int]) -> None:
    extractor = EdgeExtractor(84_000_000)
    for piece in cut(stream, borders):
        extractor.feed(piece)
    edges = extractor.finish()
    assert rows(edges) == naive(stream, tuple(range(8)))
    assert edges.total_samples == len(stream)


@given(STREAMS, st.permutations(range(8)), st.integers(1, 8), st.lists(st.integers(0, 2000), max_size=3))
def test_channels_may_sit_on_any_bits(
    stream: bytes, order: list[int], count: int, borders: list[int]
) -> None:
    bits = tuple(order[:count])
    extractor = EdgeExtractor(24_000_000, CHANNELS[:count], bits)
    for piece in cut(stream, borders):
        extractor.feed(piece)
    edges = extractor.finish()
    assert rows(edges) == naive(stream, bits)


def test_blocks_larger_than_the_cache_are_joined_without_loss() -> None:
    stream = bytearray(600_000)
    for start in (0, 262_143, 262_144, 262_145, 524_287, 524_288, 599_999):
        stream[start] ^= 1
    extractor = EdgeExtractor(84_000_000)
    extractor.feed(stream)
    edges = extractor.finish()
    assert edges.sample.tolist() == [0, 1, 262_143, 262_146, 524_287, 524_289, 599_999]
    assert edges.word.tolist() == [1, 0, 1, 0, 1, 0, 1]


def test_a_floating_input_ends_in_a_sentence_and_keeps_what_came() -> None:
    extractor = EdgeExtractor(84_000_000, most_edges=10)
    with pytest.raises(CaptureError, match="floating"):
        extractor.feed(b"\x00\x01" * 50)
    assert (extractor.finish().total_samples, extractor.finish().sample.size) == (100, 100)
    assert extractor.edges == 99


def test_what_was_taken_is_handed_over_once() -> None:
    extractor = EdgeExtractor(84_000_000)
    extractor.feed(b"\x00\x00\x01")
    assert extractor.rows_held == 2
    sample, word = extractor.take()
    assert (sample.tolist(), word.tolist(), extractor.rows_held) == ([0, 2], [0, 1], 0)
    extractor.feed(b"\x01\x03")
    sample, word = extractor.take()
    assert (sample.tolist(), word.tolist()) == ([4], [3])
    assert (extractor.edges, extractor.total_samples) == (2, 5)


def test_two_channels_cannot_share_a_bit() -> None:
    with pytest.raises(CaptureError, match="bit of its own"):
        EdgeExtractor(84_000_000, ("CRIT", "OP"), (3, 3))
