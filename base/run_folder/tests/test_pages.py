"""Parquet files that state more than they should, made by polars and then changed by the byte."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from typing import Literal

import polars as pl
import pytest

from base.files.documents import JSON_BYTES_MAX, TOML_BYTES_MAX
from base.files.errors import CaptureError, RunError
from base.paths import ROOT
from base.run_folder import pages, session_file, tables
from base.run_folder.edges import MOST_EDGES, MOST_ROWS, MOST_ROWS_READ, MOST_SAMPLES, read_parquet
from base.run_folder.folder import MOST_BYTES
from base.run_folder.manifest import Curve, CurveBudgets
from base.run_folder.pages import PagesError, check_extent
from base.run_folder.records import MOST_LINES, MOST_LOG_BYTES
from base.run_folder.tables import MOST_OPERATIONS, MOST_STIMULI, PLAN, read_table
from scenarios.operations import MAX_ENTRIES

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


def test_pages_with_more_rows_than_the_footer_says_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    content = written(path, counting(ROWS))
    footer = content.rindex(varint(ROWS), 0, len(content))
    path.write_bytes(content[:footer] + varint(ROWS - 1) + content[footer + len(varint(ROWS)) :])
    with pytest.raises(PagesError, match="other numbers of rows"):
        check_extent(path, ROWS)


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


def test_long_texts_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "plan.parquet"
    row = {"seq": 0, "measured": True, "label": "x" * 257, "trial": 1, "depth": 1}
    pl.DataFrame([row, row], schema=PLAN).write_parquet(path)
    with pytest.raises(RunError, match="texts of more than 256 bytes"):
        read_table(path, PLAN, 2)
    pl.DataFrame([row | {"label": None}], schema=PLAN).write_parquet(path)
    assert read_table(path, PLAN, 2)["label"].to_list() == [None]


@pytest.mark.parametrize("content", [b"", b"PAR1", b"PAR1\0\0\0\0PAR1", b"\xff" * 7 + b"\x7fPAR1"])
def test_what_is_no_parquet_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "t").write_bytes(content)
    with pytest.raises(PagesError):
        check_extent(tmp_path / "t", 1)


def test_any_damage_is_refused_or_measured(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    content = written(path, counting(10))
    for position in range(len(content)):
        for value in (0, 0xFF):
            path.write_bytes(content[:position] + bytes([value]) + content[position + 1 :])
            with suppress(PagesError):
                check_extent(path, 10)


def test_the_tables_of_the_longest_capture_fit() -> None:
    assert MOST_STIMULI >= 2 * MOST_ROWS
    bytes_per_stimulus = 4 * 8 + 8 + 4 + 2
    assert MOST_STIMULI * bytes_per_stimulus < pages.MOST_UNPACKED_BYTES


def test_the_largest_manifest_fits() -> None:
    """Each label takes a mark and an operation of the image."""
    labels = MAX_ENTRIES // 2
    curve = Curve(
        label="x" * 256,
        depth=MAX_ENTRIES,
        n=MAX_ENTRIES,
        disturbed=MAX_ENTRIES,
        latency_max_ns=123456789.12345679,
        undisturbed_max_ns=123456789.12345679,
        critical_ns=123456789.12345679,
        entry_ns=123456789.12345679,
        seq=MAX_ENTRIES,
        within_budget=False,
        budgets_ns=CurveBudgets(
            latency_max=10.123456789012345,
            undisturbed_max=10.123456789012345,
            critical=10.123456789012345,
            entry=10.123456789012345,
        ),
    )
    text = json.dumps({"sweep": {"curves": [curve.model_dump()]}}, indent=2)
    beside_curves = 1 << 20
    assert labels == 10_920
    assert labels * len(text) + beside_curves < JSON_BYTES_MAX


def test_the_bounds_are_those_of_the_specification() -> None:
    page = (ROOT / "docs" / "reference" / "run-folder.md").read_text()
    table = page[page.index("## What is read is bounded") :]
    for line in (
        f"| `run.json` | {JSON_BYTES_MAX >> 20} MiB; of a sweep with {MAX_ENTRIES // 2:,} labels of 256",
        f"| {MOST_LOG_BYTES >> 20} MiB; of the lines after `BOOT` {MOST_LINES:,} are read",
        f"| {pages.MOST_FILE_BYTES >> 20} MiB, {pages.MOST_PAGES:,} pages, and "
        f"{pages.MOST_UNPACKED_BYTES >> 20} MiB once",
        f"| {MOST_ROWS_READ:,} (a capture ends after {MOST_EDGES:,} edges) |",
        f"| rows of `operations.parquet` | {tables.MOST_ROWS:,} (an image has {MOST_OPERATIONS:,} at most) |",
        f"| rows of `plan.parquet` | {MOST_OPERATIONS:,} |",
        f"rows of `interrupts.parquet` | {MOST_STIMULI:,} |",
    ):
        assert line in table
    assert MOST_OPERATIONS == MAX_ENTRIES
    assert MOST_BYTES["operations.bin"] == 64 + 12 * MAX_ENTRIES
    assert MOST_SAMPLES == 2**36
    assert session_file.MOST_SAMPLES == 2**33
    assert TOML_BYTES_MAX == 256 << 10
