"""Parquet files that state more than they should, made by polars and then changed by the byte."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import polars as pl
import pytest

from base.files.errors import CaptureError
from base.run_folder import pages
from base.run_folder.edges import MOST_ROWS, MOST_ROWS_READ, read_parquet
from base.run_folder.pages import PagesError, check_extent
from base.run_folder.tables import MOST_STIMULI

ROWS = 100_003


def varint(number: int) -> bytes:
    """A positive number as Thrift's compact protocol writes it: zigzag, seven bits a byte."""
    number, out = number << 1, b""
    while number > 127:
        number, out = number >> 7, out + bytes([number & 127 | 128])
    return out + bytes([number])


def written(path: Path, frame: pl.DataFrame) -> bytes:
    frame.write_parquet(path, compression="uncompressed", statistics=False)
    return path.read_bytes()


def counting(rows: int) -> pl.DataFrame:
    return pl.DataFrame({"sample": pl.int_range(rows, eager=True)})


def changed(path: Path, old: bytes, new: bytes) -> None:
    content = path.read_bytes()
    assert old in content
    assert len(old) == len(new)
    path.write_bytes(content.replace(old, new))


@pytest.mark.parametrize("compression", ["uncompressed", "zstd", "snappy"])
def test_whatever_polars_writes_is_measured(
    tmp_path: Path, compression: Literal["uncompressed", "zstd", "snappy"]
) -> None:
    path = tmp_path / "t.parquet"
    frame = counting(ROWS).with_columns(
        word=pl.lit(1, pl.UInt8), name=pl.lit("x" * 20), none=pl.lit(None, pl.Float64), yes=pl.lit(value=True)
    )
    frame.write_parquet(path, compression=compression, row_group_size=30_000)
    check_extent(path, ROWS)
    with pytest.raises(PagesError, match=f"it states {ROWS} rows, more than the {ROWS - 1}"):
        check_extent(path, ROWS - 1)


def test_too_many_edges_are_refused_before_any_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "edges.parquet"
    rows = MOST_ROWS_READ + 1
    frame = pl.DataFrame({"sample": pl.zeros(rows, pl.Int64, eager=True)})
    frame.with_columns(word=pl.lit(0, pl.UInt8)).write_parquet(path)
    assert path.stat().st_size < 1 << 20
    monkeypatch.setattr(pl, "scan_parquet", lambda *_, **__: pytest.fail("polars was asked to read it"))
    with pytest.raises(CaptureError, match=f"states {rows} rows"):
        read_parquet(path)


def test_what_unpacks_to_too_much_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "t.parquet"
    pl.DataFrame({"text": ["x" * 3_000_000]}).write_parquet(path)
    assert path.stat().st_size < 10_000
    check_extent(path, 1)
    monkeypatch.setattr(pages, "MOST_UNPACKED_BYTES", 2_999_999)
    with pytest.raises(PagesError, match="unpacks to more than 2,999,999 bytes"):
        check_extent(path, 1)


def test_a_text_that_grows_by_repeating_the_one_before_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    frame = pl.DataFrame({"text": [f"{i:040d}" for i in range(5003)]})
    written(path, frame)
    field = b"\x15"  # one further than the field before, and a number
    old = field + varint(5003) + field
    at = path.read_bytes().index(old) + len(old)
    content = bytearray(path.read_bytes())
    content[at : at + 1] = varint(7)  # DELTA_BYTE_ARRAY
    path.write_bytes(content)
    with pytest.raises(PagesError, match="encoding"):
        check_extent(path, 5003)


def test_the_tables_of_the_longest_capture_fit() -> None:
    assert MOST_STIMULI >= 2 * MOST_ROWS
    bytes_per_stimulus = 4 * 8 + 8 + 4 + 2
    assert MOST_STIMULI * bytes_per_stimulus < pages.MOST_UNPACKED_BYTES
