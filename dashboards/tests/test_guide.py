"""docs/how-to/dashboard.md explains every page that the report has, under its own name."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from base.paths import ROOT
from dashboards import pages

pytestmark = pytest.mark.docs

GUIDE = ROOT / "docs" / "how-to" / "dashboard.md"
TITLES = {
    title
    for path in Path(pages.__file__).parent.glob("*.py")
    for title in re.findall(r'\bPage\(\s*"\w+",\s*"([^"]+)"', path.read_text(encoding="utf-8"))
}


def test_every_page_is_explained_and_no_other() -> None:
    assert len(TITLES) >= 10
    matches = re.findall(r"^\*\*([^*]+)\*\*: ", GUIDE.read_text(encoding="utf-8"), re.MULTILINE)
    assert sorted(matches) == sorted(TITLES)
