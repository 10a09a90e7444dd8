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


def test_json_is_all_that_is_printed(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    folders = write(tmp_path / "a"), write(tmp_path / "b", with_cycles({1: 9}))
    assert start.run(["compare", *map(str, folders), "--json"]) == 1
    assert json.loads(capfd.readouterr().out)["status"] == "worse"
