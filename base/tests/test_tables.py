"""Parquet files that state too much, or were damaged; and the pages of a run folder."""

from __future__ import annotations

import os
import random
import re
from collections.abc import Callable
from pathlib import Path
from typing import Literal

import numpy as np
import polars as pl
import pytest
from polars.exceptions import ComputeError, PanicException

from base.files.errors import CaptureError, TailscopeError
from base.metrology.summaries import PERCENTILES, Summary
from base.paths import ROOT
from base.run_folder import tables
from base.run_folder import tables as pages
from base.run_folder.edges import MOST_ROWS, MOST_ROWS_READ, EdgeList, read_parquet
from base.run_folder.manifest import Intervals, Manifest
from base.run_folder.quantities import KEYS
from base.run_folder.tables import (
    INTERRUPTS,
    MOST_STIMULI,
    OPERATIONS,
    PLAN,
    PagesError,
    check_extent,
    read_table,
    without_panic,
    write_table,
)

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
    with pytest.raises(PagesError, match="does not write"):
        check_extent(path, 5003)


def test_the_tables_of_the_longest_capture_fit() -> None:
    assert MOST_STIMULI >= 2 * MOST_ROWS
    bytes_per_stimulus = 4 * 8 + 8 + 4 + 2
    assert MOST_STIMULI * bytes_per_stimulus < pages.MOST_UNPACKED_BYTES


FEW_ROWS = 600
MUTATIONS = 200


def test_a_panic_is_an_error_and_its_words_are_not_seen(capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(ComputeError, match="contradict"), without_panic():
        os.write(2, b"thread 'async-executor-0' panicked\n")
        raise PanicException("called `Result::unwrap()`")
    assert capfd.readouterr().err == ""
    os.write(2, b"later\n")
    assert capfd.readouterr().err == "later\n"


def numbers(columns: pl.Schema) -> pl.DataFrame:
    return pl.DataFrame({name: pl.int_range(FEW_ROWS, eager=True) % 7 for name in columns}).cast(columns)


def write_edges(path: Path) -> None:
    EdgeList(
        np.arange(FEW_ROWS), (np.arange(FEW_ROWS) % 251).astype(np.uint8), 84_000_000, FEW_ROWS
    ).write_parquet(path)


@pytest.mark.parametrize(
    ("write", "read"),
    [
        (write_edges, read_parquet),
        *(
            (
                lambda path, columns=columns: write_table(path, numbers(columns)),
                lambda path, columns=columns: read_table(path, columns, FEW_ROWS),
            )
            for columns in (OPERATIONS, INTERRUPTS, PLAN)
        ),
    ],
    ids=["edges", "operations", "interrupts", "plan"],
)
def test_any_damage_is_read_or_refused_in_silence(
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
    write: Callable[[Path], None],
    read: Callable[[Path], object],
) -> None:
    path = tmp_path / "table.parquet"
    write(path)
    intact, drawn, refused = path.read_bytes(), random.Random(5), 0
    for _ in range(MUTATIONS):
        damaged = bytearray(intact)
        for _ in range(drawn.choice((1, 2, 8))):
            damaged[drawn.randrange(len(damaged))] = drawn.randrange(256)
        path.write_bytes(damaged)
        try:
            read(path)
        except TailscopeError as error:
            refused += 1
            said = str(error)
            assert said[-1] in ".?" and "\n" not in said and "anic" not in said
    assert refused > MUTATIONS // 4
    assert capfd.readouterr().err == ""


def page_of(name: str) -> str:
    return (ROOT / "docs" / "reference" / f"{name}.md").read_text(encoding="utf-8")


@pytest.mark.docs
@pytest.mark.parametrize(
    ("name", "schema"),
    [
        ("operations", pl.Schema([*OPERATIONS.items(), *tables.MEMORY_COLUMNS.items()])),
        ("interrupts", INTERRUPTS),
    ],
)
def test_the_columns_of_a_table_are_those_of_the_page(name: str, schema: pl.Schema) -> None:
    (table,) = re.findall(r"\| column \| type \| meaning \|\n\|[-|]+\n((?:\|.*\n)+)", page_of(name))
    rows = [line.split("|")[1:3] for line in table.splitlines()]
    kinds = {column: kind.strip() for names, kind in rows for column in re.findall(r"`(\w+)`", names)}
    assert kinds == {column: str(dtype) for column, dtype in schema.items()}


@pytest.mark.docs
def test_the_statistics_of_run_json_are_the_quantities() -> None:
    assert [name for name, field in Manifest.model_fields.items() if field.annotation is Summary] == [*KEYS]


@pytest.mark.docs
def test_the_models_have_the_percentiles_that_are_computed() -> None:
    """A model's fields are written out, so the names stand there again."""
    assert list(Summary.model_fields) == ["n", "min", "mean", "stdev", *PERCENTILES, "max", "open"]
    assert list(Intervals.model_fields) == [*PERCENTILES, "independence_p"]
