"""Each page of a report looks as it did."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from dashboards.tests.pictures import FOLDER, MADE_WITH, PAGES, differing, made_with, pictures

MOST_PIXELS = 40
"""That may differ, of 256,000: what another machine rounds otherwise."""


@pytest.fixture
def alike() -> None:
    """Other fonts and browsers draw other pixels."""
    expected, here = MADE_WITH.read_text(encoding="utf-8"), made_with()
    if here != expected:
        pytest.skip(
            f"The pictures are made with {expected.strip()}; here is {here.strip() or 'no Chromium'}."
        )


@pytest.mark.long
@pytest.mark.usefixtures("alike")
def test_each_page_looks_as_it_did(tmp_path: Path) -> None:
    path = tmp_path.parent / f"{tmp_path.name}-pictures"
    path.mkdir()
    differences = []
    for made in pictures(tmp_path):
        shutil.copy(made, path / made.name)
        if (count := differing(FOLDER / made.name, made)) > MOST_PIXELS:
            differences.append(f"{count:g} pixels differ: {FOLDER / made.name} and {path / made.name}")
    assert not differences, "\n".join((*differences, "If that is meant: python -m dashboards.tests.pictures"))


def test_the_pictures_are_those_of_the_pages_and_small() -> None:
    paths = list(FOLDER.glob("*.png"))
    assert {path.stem for path in paths} == set(PAGES)
    assert sum(path.stat().st_size for path in paths) < 500_000
