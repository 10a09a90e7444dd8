"""docs/SPEC.md, section 9, against the kinds that there are and what the report says."""

from __future__ import annotations

import re

import pytest

from base.paths import ROOT
from quality.faults import campaign
from quality.faults.planting import Healthy

pytestmark = pytest.mark.docs

SECTION = (
    (ROOT / "docs" / "SPEC.md")
    .read_text(encoding="utf-8")
    .split("\n## 9. Planted faults\n")[1]
    .split("\n## ")[0]
)


def test_the_kinds_are_those_of_the_page(run: Healthy) -> None:
    rows = [line.split("|")[1] for line in SECTION.splitlines() if line.startswith("| `")]
    told = {name.split(".")[0] for row in rows for name in re.findall(r"`([\w.]+)`", row)}
    assert told == {kind.split(".")[0] for kind in run.kinds}


def test_the_keys_of_the_report_are_those_of_the_page(run: Healthy) -> None:
    page = SECTION.split("JSON:\n")[1]
    report = campaign.run([run], 1, seed=1)
    keys = {*report.as_json(), *report.outcomes[0].as_json(), "headline", "before", "after", "allowed"}
    assert keys <= set(re.findall(r"\w+", page))
