"""Boards and analyzers in files of the user's own, outside the repository."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from base.files.errors import CaptureError
from capture.desk.bench import BOARDS, read_bench
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


def test_what_the_user_writes_stands_before_what_comes_along(tmp_path: Path) -> None:
    table = (BOARDS / "virtual.toml").read_text().replace('"pty"', '"tcp"').replace("[", "[boards.virtual.")
    (tmp_path / "bench.toml").write_text(f'default = "virtual"\n{table}')
    assert read_bench().board("virtual").serial_port == "pty"
    assert read_bench(tmp_path / "bench.toml").board().serial_port == "tcp"


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        ("my_board.toml", 'kind = "pyocd"', 'kind = "none"'),
        ("my_board.toml", "mine.toml", "nowhere.toml"),
        ("analyzers/mine.toml", '"A7"', '"A7", "A8"'),
        ("analyzers/mine.toml", "title", "name"),
    ],
)
def test_a_mistake_names_its_file(board: Path, file: str, old: str, new: str, sentences: Sentences) -> None:
    path = board.parent / file
    path.write_text(path.read_text().replace(old, new))
    with sentences.raised(CaptureError):
        read_bench().board(str(board))


@pytest.mark.parametrize("name", ["my-board.toml", ".toml", "ü.toml"])
def test_a_board_is_called_as_run_folders_can_be(board: Path, name: str) -> None:
    shutil.copy(board, board.with_name(name))
    with pytest.raises(CaptureError, match="a board is called as its file is"):
        read_bench().board(str(board.with_name(name)))


def test_a_board_that_is_nowhere_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(CaptureError, match=r"none\.toml: the file does not exist"):
        read_bench().board(str(tmp_path / "none.toml"))
