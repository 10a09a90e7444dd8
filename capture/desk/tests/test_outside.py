"""Boards and analyzers in files of the user's own, outside the repository."""

from __future__ import annotations

from pathlib import Path

import pytest

from base.files.errors import CaptureError
from capture.desk.bench import read_bench
from tests.sentences import Sentences

ANALYZER = """\
title = "An analyzer of my own"
sources = ["its manual: samplerates"]
driver = "fx2lafw"
inputs = ["A0", "A1", "A2", "A3", "A4", "A5", "A6", "A7"]
rates_hz = [8_000_000, 16_000_000]
"""
BOARD = """\
[loader]
kind = "pyocd"
target = "stm32f401retx"
[serial]
port = "/dev/ttyACM7"
[analyzer]
preset = "analyzers/mine.toml"
"""


@pytest.fixture
def board(tmp_path: Path) -> Path:
    (tmp_path / "analyzers").mkdir()
    (tmp_path / "analyzers" / "mine.toml").write_text(ANALYZER)
    (tmp_path / "my_board.toml").write_text(BOARD)
    return tmp_path / "my_board.toml"


def test_a_boards_file_is_named_by_its_path(board: Path) -> None:
    resource = read_bench().board(str(board))
    assert (resource.name, resource.serial_port) == ("my_board", "/dev/ttyACM7")


def test_an_analyzers_file_is_named_by_its_place_beside_the_boards(board: Path) -> None:
    analyzer = read_bench().board(str(board)).analyzer
    assert (analyzer.driver, analyzer.samplerate_hz) == ("fx2lafw", 16_000_000)
    assert analyzer.channels["SYNC"] == "A7"
    with pytest.raises(CaptureError, match=r"^The samplerate cannot be 24,000,000 .*choose 8, 16 MS/s\.$"):
        analyzer.check_rate(24_000_000)


def test_bench_toml_too_may_name_an_analyzers_file(board: Path) -> None:
    bench = board.with_name("bench.toml")
    lines = [f"[boards.mine.{line[1:]}" if line.startswith("[") else line for line in BOARD.splitlines()]
    bench.write_text("\n".join(['default = "mine"', *lines]))
    desk = read_bench(bench)
    assert desk.board().analyzer == read_bench().board(str(board)).analyzer
    assert list(desk.boards) == ["mine", "virtual", "desk"]


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        ("my_board.toml", 'kind = "pyocd"', 'kind = "none"'),
        ("analyzers/mine.toml", '"A7"', '"A7", "A8"'),
    ],
)
def test_a_mistake_names_its_file(board: Path, file: str, old: str, new: str, sentences: Sentences) -> None:
    path = board.parent / file
    path.write_text(path.read_text().replace(old, new))
    with sentences.raised(CaptureError):
        read_bench().board(str(board))
