"""The page of the crate `tlsf`: its table comes out by running it, its text sizes by its recipe."""

from __future__ import annotations

import shutil

import pytest

from base.paths import ROOT
from firmware.build import crate_page

PAGE = ROOT / "docs" / "reference" / "footprint.md"

pytestmark = pytest.mark.skipif(shutil.which("cargo") is None, reason="cargo is not installed")


@pytest.fixture(scope="module")
def levels() -> tuple[crate_page.Level, ...]:
    return crate_page.levels()


def test_every_fll_has_the_published_header_and_largest_request(
    levels: tuple[crate_page.Level, ...],
) -> None:
    published = tuple((level.fll, level.largest_bytes, level.header_bytes) for level in levels)
    assert published == crate_page.PUBLISHED_LEVELS


def test_the_published_table_is_what_its_rules_give(levels: tuple[crate_page.Level, ...]) -> None:
    """16 lists of 2 bytes and a bitmap of 2 for each first level, and one of 2 above."""
    for level in levels:
        words = -(-(2 + 34 * level.fll) // 4)
        assert level.header_bytes == 4 * words
        octave = 1 << (5 + level.fll)
        assert level.largest_bytes == octave - max(4, octave // 32)


@pytest.mark.long
@pytest.mark.docs
def test_text_sizes_are_those_of_the_page_here() -> None:
    table = crate_page.text_table()
    if f"rustc {crate_page.rustc_version()} |" not in PAGE.read_text(encoding="utf-8"):
        pytest.skip("docs/reference/footprint.md has the sizes of another compiler")
    assert table in PAGE.read_text(encoding="utf-8")
