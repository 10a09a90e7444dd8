"""The exit status of `./lab compare`, and one sentence for what it refuses."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from analysis.compare.tests.made import with_cycles, write
from cli.shell import start

STATUS: dict[str, tuple[Callable[[Path], Path], int]] = {
    "equal": (write, 0),
    "better": (lambda runs: write(runs, with_cycles({1: -9})), 0),
    "worse": (lambda runs: write(runs, with_cycles({1: 9})), 1),
    "truncated": (lambda runs: write(runs, verdict="truncated", reasons=("It was cut off.",)), 2),
}


@pytest.mark.parametrize("name", STATUS)
def test_the_exit_status(name: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    make, expected = STATUS[name]
    assert start.run(["compare", str(write(tmp_path / "a")), str(make(tmp_path / "b"))]) == expected
    assert "Traceback" not in "".join(capfd.readouterr())


def test_boards_are_set_side_by_side(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """600 cycles of the wire are 599 of the counter (synthetic.DISAGREEMENT_CYCLES) at 84 MHz."""
    write(tmp_path)
    fields = {"allocator": "seglist", "board": "nucleo-f446re"}
    write(tmp_path, board="virtual_nucleo_f446re", changes={"asked": fields})
    page = tmp_path / "page.html"
    assert start.run(["compare", "--by", "board", str(tmp_path), "--output", str(page), "--json"]) == 0
    (group,) = json.loads(capfd.readouterr().out)["groups"]
    assert [line["board_folder"] for line in group["boards"]] == ["nucleo-f401re", "nucleo-f446re"]
    first = group["boards"][0]["allocate"]
    assert (first["cycles"], first["counted"], first["n"]) == (599, True, 3)
    assert first["ns"] == pytest.approx(600 * 1e9 / 84e6)
    assert page.read_text(encoding="utf-8").startswith("<!")
