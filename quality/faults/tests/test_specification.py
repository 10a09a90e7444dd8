"""docs/reference/planted-faults.md, against the kinds that there are and what the report says."""

from __future__ import annotations

import re

import pytest

from base.paths import ROOT
from quality.faults import series
from quality.faults.series import Healthy

pytestmark = pytest.mark.docs

PAGE = (ROOT / "docs" / "reference" / "planted-faults.md").read_text(encoding="utf-8")


def test_the_kinds_are_those_of_the_page(run: Healthy) -> None:
    rows = [line.split("|")[1] for line in PAGE.splitlines() if line.startswith("| `")]
    kinds = {name.split(".")[0] for row in rows for name in re.findall(r"`([\w.]+)`", row)}
    assert kinds == {kind.split(".")[0] for kind in run.kinds}


def test_the_keys_of_the_report_are_those_of_the_page(run: Healthy) -> None:
    page = PAGE.split("## JSON\n")[1]
    report = series.run_series([run], 1, seed=1)
    keys = {*report.as_json(), *report.outcomes[0].as_json(), "headline", "before", "after", "allowed"}
    assert keys <= set(re.findall(r"\w+", page))
