"""Whatever is damaged in a table, a reader gets the table or one sentence, and nobody a panic."""

from __future__ import annotations

import os
import random
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from polars.exceptions import ComputeError, PanicException

from base.files.errors import TailscopeError
from base.run_folder.edges import EdgeList, read_parquet
from base.run_folder.panics import without_panic
from base.run_folder.tables import INTERRUPTS, OPERATIONS, PLAN, read_table, write_table

ROWS = 600
MUTATIONS = 200


def test_a_panic_is_an_error_and_its_words_are_not_seen(capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(ComputeError, match="contradict"), without_panic():
        os.write(2, b"thread 'async-executor-0' panicked\n")
        raise PanicException("called `Result::unwrap()`")
    assert capfd.readouterr().err == ""
    os.write(2, b"later\n")
    assert capfd.readouterr().err == "later\n"


def numbers(columns: pl.Schema) -> pl.DataFrame:
    return pl.DataFrame({name: pl.int_range(ROWS, eager=True) % 7 for name in columns}).cast(columns)


def write_edges(path: Path) -> None:
    EdgeList(np.arange(ROWS), (np.arange(ROWS) % 251).astype(np.uint8), 84_000_000, ROWS).write_parquet(path)


@pytest.mark.parametrize(
    ("write", "read"),
    [
        (write_edges, read_parquet),
        *(
            (
                lambda path, columns=columns: write_table(path, numbers(columns)),
                lambda path, columns=columns: read_table(path, columns, ROWS),
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
