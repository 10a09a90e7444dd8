"""The page of the crate `tlsf`: its table comes out by running it."""

from __future__ import annotations

import shutil

import pytest

from firmware.build import crate_page
from tests.tables import beside

PUBLISHED_LEVELS: tuple[tuple[int, ...], ...] = beside(__file__)["published_levels"]
"""FLL, MAX_ALLOC_SIZE and HEADER_SIZE of the page's table "Parameters"."""

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(shutil.which("cargo") is None, reason="cargo is not installed"),
]


@pytest.fixture(scope="module")
def levels() -> list[crate_page.Level]:
    return crate_page.levels()


def test_every_fll_has_the_published_header_and_largest_request(
    levels: list[crate_page.Level],
) -> None:
    published = tuple((level.fll, level.largest_bytes, level.header_bytes) for level in levels)
    assert published == PUBLISHED_LEVELS


def test_the_published_table_is_what_its_rules_give(levels: list[crate_page.Level]) -> None:
    """16 lists of 2 bytes and a bitmap of 2 for each first level, and one of 2 above."""
    for level in levels:
        words = -(-(2 + 34 * level.fll) // 4)
        assert level.header_bytes == 4 * words
        octave = 1 << (5 + level.fll)
        assert level.largest_bytes == octave - max(4, octave // 32)
