from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from base.files.errors import CaptureError, RunError
from base.run_folder.edges import CHANNELS, EdgeExtractor, EdgeList, read_parquet
from base.run_folder.folder import EDGES
from base.run_folder.manifest import Manifest, read_edges
from tests.sentences import Sentences
from tests.tables import table


def edge_list(rows: list[tuple[int, int]], total: int, samplerate_hz: int = 84_000_000) -> EdgeList:
    sample, word = zip(*rows, strict=True) if rows else ((), ())
    return EdgeList(np.array(sample, np.int64), np.array(word, np.uint8), samplerate_hz, total)


@st.composite
def edge_lists(draw: st.DrawFn) -> EdgeList:
    gaps = draw(st.lists(st.integers(1, 2**31), max_size=30))
    words = [draw(st.integers(0, 255))]
    for _ in gaps:
        words.append(words[-1] ^ draw(st.integers(1, 255)))
    sample = [0, *np.cumsum(gaps).tolist()]
    return edge_list(list(zip(sample, words, strict=True)), sample[-1] + draw(st.integers(1, 10**9)))


def test_the_initial_level_is_not_a_transition() -> None:
    edges = edge_list([(0, 0b01), (5, 0b10), (9, 0b11), (12, 0b00)], 20)
    assert edges.initial_level("CRIT") and not edges.initial_level("OP")
    crit, op = edges.transitions("CRIT"), edges.transitions("OP")
    assert (crit.sample.tolist(), crit.level.tolist()) == ([5, 9, 12], [False, True, False])
    assert (op.sample.tolist(), op.level.tolist()) == ([5, 12], [True, False])


def test_what_is_not_a_capture_is_refused(sentences: Sentences) -> None:
    zero, low = np.zeros(1, np.int64), np.zeros(1, np.uint8)
    number: Any = np.array
    rows: tuple[list[tuple[int, int]], ...] = (
        *([(1, 0)], [(0, 0), (5, 1), (5, 0)], [(0, 0), (5, 1), (4, 0)], [(0, 0), (10, 1)]),
        *([(0, 0), (3, 1), (4, 1)], []),
    )
    for each in rows:
        with sentences.raised(CaptureError):
            edge_list(each, 10)
    for fields in (
        *((zero, low, 1, -1), (zero, number([256]), 1, 1), (zero, number([0.5]), 1, 1), (zero, low, 0, 1)),
        *((zero, low, 1, 1, ("CRIT", "CRIT")), (zero, number([4]), 1, 1, ("CRIT", "OP"))),
    ):
        with sentences.raised(CaptureError):
            EdgeList(*fields)
    with sentences.raised(CaptureError):
        EdgeList(zero, low, 1, 1, ("CRIT", "OP")).transitions("TASK")


@given(edge_lists())
def test_parquet_is_exact_and_repeatable(tmp_path_factory: pytest.TempPathFactory, edges: EdgeList) -> None:
    folder = tmp_path_factory.mktemp("parquet")
    edges.write_parquet(folder / "a")
    read_parquet(folder / "a").write_parquet(folder / "b")
    assert read_parquet(folder / "b") == edges
    assert (folder / "a").read_bytes() == (folder / "b").read_bytes()


def test_parquet_has_the_columns_and_metadata_of_the_specification(tmp_path: Path) -> None:
    edge_list([(0, 0), (7, 128)], 9).write_parquet(tmp_path / "edges.parquet")
    frame = pl.read_parquet(tmp_path / "edges.parquet")
    assert frame.schema == {"sample": pl.Int64, "word": pl.UInt8}
    assert frame.rows() == [(0, 0), (7, 128)]
    assert json.loads(pl.read_parquet_metadata(tmp_path / "edges.parquet")["tailscope"]) == {
        "schema": 1,
        "samplerate_hz": 84_000_000,
        "total_samples": 9,
        "channels": list(CHANNELS),
    }


GOOD = {"schema": 1, "samplerate_hz": 1, "total_samples": 5, "channels": ["CRIT"]}


def test_a_wrong_damaged_or_missing_file_is_one_sentence(tmp_path: Path, sentences: Sentences) -> None:
    path = tmp_path / "edges.parquet"
    types = {"sample": pl.Int64, "word": pl.UInt8}
    good: dict[str, Any] = {"sample": [0], "word": [0]}
    cases: list[tuple[dict[str, Any], str | None]] = [(good, None), (good, "{")]
    for more in ({"schema": 2}, {"total_samples": 5.0}, {"channels": "CRIT"}):
        cases.append((good, json.dumps({**GOOD, **more})))
    for columns in ({**good, "word": [2]}, {"sample": [0, None], "word": [0, 1]}, {"sample": [0]}):
        cases.append((columns, json.dumps(GOOD)))
    for columns, description in cases:
        frame = pl.DataFrame(columns, schema={name: types[name] for name in columns})
        frame.write_parquet(path, metadata={"tailscope": description} if description is not None else {})
        with sentences.raised(CaptureError):
            read_parquet(path)
    path.unlink()
    with sentences.raised(CaptureError):
        read_parquet(path)
    edge_list([(0, 0), (7, 128)], 9).write_parquet(path)
    path.write_bytes(path.read_bytes()[:-20])
    with sentences.raised(CaptureError):
        read_parquet(path)


@table
def test_a_capture_of_another_rate_or_length_is_not_the_runs(
    tmp_path: Path, samplerate_hz: int, total: int
) -> None:
    manifest = Manifest.model_construct(samplerate_hz=84_000_000, total_samples=20)
    edge_list([(0, 0b01), (5, 0b10)], total, samplerate_hz).write_parquet(tmp_path / EDGES)
    if (samplerate_hz, total) == (84_000_000, 20):
        assert read_edges(tmp_path, manifest).total_samples == 20
        return
    with pytest.raises(RunError, match=f"{samplerate_hz:,} Hz"):
        read_edges(tmp_path, manifest)


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
    edges = extractor.finish()
    assert (edges.total_samples, edges.sample.size) == (100, 100)
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
