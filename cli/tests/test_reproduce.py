"""`./lab heap reproduce`: what it writes, what it refuses, and what a signal leaves."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from base.files.tests.sentences import is_sentence
from cli.heap import reproduce
from cli.shell import start
from cli.tests.typed import refused
from studies.reproduce.published import UnknownTableError

FREE = ("thesis-1", "thesis-2", "deck2-ranges")
"""Tables that need no run."""


def test_it_writes_a_file_for_each_table_and_the_page(tmp_path: Path) -> None:
    done = reproduce.run(FREE, output=tmp_path, jobs=1)
    names = {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*.*")}
    assert names == {*(f"{name}.csv" for name in FREE), "reproduced.html"}
    with (tmp_path / "deck2-ranges.csv").open(encoding="utf-8", newline="") as file:
        lines = list(csv.DictReader(file))
    assert [line["difference"] for line in lines] == ["100", "0"]
    summary = [*reproduce.as_text(done, tmp_path)]
    assert summary[0] == "thesis-1      nothing to compare"
    assert summary[1].startswith("thesis-2      cannot be told: O1Heap is the fastest")
    assert summary[4].startswith("deck2-ranges  reverses: The list (10, 5) holds blocks")
    assert summary[-2] == "deck2-ranges  1 of 2 equal"


def test_what_is_no_table_is_refused_before_anything_runs(tmp_path: Path) -> None:
    with pytest.raises(UnknownTableError) as raised:
        reproduce.run(["thesis-1", "thesis-99"], output=tmp_path, jobs=1)
    assert is_sentence(str(raised.value), "There is no table 'thesis-99': * Did you mean thesis-9?")
    assert refused("heap", "reproduce", "thesis-1", "--jobs", "none").startswith("--jobs none: give")
    assert list(tmp_path.iterdir()) == []


def test_json_begins_with_the_conclusions_and_has_the_rows_of_the_csv(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert start.run(["heap", "reproduce", "deck2-ranges", "--json", "--output", str(tmp_path)]) == 0
    (result,) = json.loads(capsys.readouterr().out)
    assert list(result) == ["table", "conclusions", "figures"]
    assert [conclusion["verdict"] for conclusion in result["conclusions"]] == ["reverses"]
    assert "gives 1,184 for the 1,084" in result["conclusions"][0]["cause"]
    assert [conclusion["here"] for conclusion in result["figures"]] == [1184, 1216]
