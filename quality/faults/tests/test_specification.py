"""docs/reference/planted-faults.md, against the kinds that there are and what the report says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from base.paths import ROOT
from base.run_folder import folder as names
from quality.faults import folders, series
from quality.faults.planting import Healthy

pytestmark = pytest.mark.docs

PAGE = (ROOT / "docs" / "reference" / "planted-faults.md").read_text(encoding="utf-8")


def test_the_kinds_are_those_of_the_page(run: Healthy, tmp_path: Path) -> None:
    rows = [line.split("|")[1] for line in PAGE.splitlines() if line.startswith("| `")]
    kinds = {name.split(".")[0] for row in rows for name in re.findall(r"`([\w.]+)`", row)}
    runs = [tmp_path / "run", tmp_path / "other"]
    for folder in runs:
        folder.mkdir()
        (folder / names.OBSERVED_FILES[0]).write_bytes(b"1")
    of_folders = dict(folders.kinds(runs[0], (runs[1],)))
    assert kinds == {kind.split(".")[0] for kind in (*run.kinds, *of_folders)}


def test_the_keys_of_the_report_are_those_of_the_page(run: Healthy) -> None:
    page = PAGE.split("## JSON\n")[1]
    report = series.run([run], 1, seed=1)
    keys = {*report.as_json(), *report.outcomes[0].as_json(), "headline", "before", "after", "allowed"}
    assert keys <= set(re.findall(r"\w+", page))
