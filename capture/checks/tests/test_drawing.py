"""The picture of docs/reference/wiring.md, read back from its SVG: each wire ends where the table
says."""

from __future__ import annotations

import re
from collections import defaultdict

from base.paths import ROOT
from capture.checks.wiring import clips, places, svg
from capture.desk.bench import read_bench
from firmware.build import boards

PLACES = places(boards.default())
DOCS = ROOT / "docs" / "reference"
NUCLEO = read_bench().board("nucleo")
PICTURE = (DOCS / "wiring.svg").read_text()


def test_the_picture_is_that_of_the_table() -> None:
    assert svg(clips(NUCLEO)) == PICTURE, (
        "draw it again: ./lab wiring plan --board nucleo --svg docs/reference/wiring.svg"
    )


def test_each_wire_leads_from_its_pin_to_its_input() -> None:
    """A text stands 5 below the middle of its line; the board ends at 600, left of the analyzer."""
    words = defaultdict(set)
    for x, y, text in re.findall(r'<text x="(\d+)" y="(\d+)"[^>]*>([^<]+)<', PICTURE):
        words[int(y) - 5, int(x) > 600].add(text)
    path = r'd="M(\d+) (\d+)H[^"]*V(\d+)H856" fill="none" stroke="#\w+" stroke-width="3"'
    ends = re.findall(path, PICTURE)
    assert len(ends) == len(PLACES) + 1
    named = NUCLEO.analyzer.channels
    for (_, from_y, to_y), place in zip(ends, PLACES, strict=False):
        assert {place.header, place.channel} <= words[int(from_y), False]
        assert words[int(to_y), True] == {named[place.channel], place.channel}


def test_the_page_has_the_same_pins() -> None:
    """The table of docs/reference/wiring.md, row by row."""
    page = (DOCS / "wiring.md").read_text()
    for number, place in enumerate(PLACES):
        cells = (place.channel, place.pin, place.header, place.connector, place.morpho)
        assert f"| {number} | {' | '.join(cells)} |" in page
    assert "(wiring.svg)" in page
