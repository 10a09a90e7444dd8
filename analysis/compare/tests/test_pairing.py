"""The runs of a side: what is read, what is broken, and what a later run makes up for."""

from __future__ import annotations

from pathlib import Path

from analysis.compare.pairing import find
from analysis.compare.tests import made
from tests.tables import table

WHOLE = "20260101T000002Z-made-seglist-virtual"


@table
def test_only_a_later_run_of_the_same_makes_up_for_a_broken_one(
    tmp_path: Path, broken: str, made_up_for: bool
) -> None:
    made.write(tmp_path).rename(tmp_path / WHOLE)
    (tmp_path / broken).mkdir()
    (tmp_path / broken / "run.json").write_text("{")
    side = find(tmp_path)
    assert [run.name for run in side.runs] == [WHOLE]
    assert (len(side.left_out), len(side.broken)) == ((1, 0) if made_up_for else (0, 1))
