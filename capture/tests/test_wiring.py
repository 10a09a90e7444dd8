"""The picture of docs/reference/wiring.md, read back from its SVG: each wire ends where the table
says."""

from __future__ import annotations

import math
import re
from collections import defaultdict

import pytest

from base.paths import ROOT
from capture.checks.wiring import clips, places, svg
from capture.desk.bench import read_bench
from capture.desk.presets import presets
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


PAGE = (ROOT / "docs" / "reference" / "wiring.md").read_text(encoding="utf-8")
ROWS = re.findall(
    r"^\| (\d+) MS/s \| ([\d.]+) ns \| ([\d.]+) \| (\d+)(?: to (\d+))? \| ([\d.]+) µs \|$",
    PAGE,
    re.MULTILINE,
)


def test_each_row_is_what_its_samplerate_gives() -> None:
    """A sample is what a width may be off; the shortest section has 18 cycles."""
    assert [int(row[0]) for row in ROWS] == [8, 12, 16, 24, 50, 84, 100]
    for rate, sample_ns, cycles, least, most, one_percent_us in ROWS:
        sample_cycles = 84 / int(rate)
        assert (sample_ns, cycles) == (f"{1000 / int(rate):.1f}", f"{sample_cycles:.2f}")
        shortest = 18 / sample_cycles
        assert (int(least), int(most or least)) == (math.floor(shortest), math.ceil(shortest))
        assert one_percent_us == f"{100 / int(rate):.2f}"


def test_the_page_has_the_sample_of_each_analyzer() -> None:
    row = re.compile(r"\| `([\w-]+)` \| (\d+) MS/s[^|]*\| ([\d.]+) ns, ([\d.]+) cycles \|")
    rows = row.findall(PAGE)
    assert len(rows) == 4
    for name, rate, sample_ns, sample_cycles in rows:
        fastest_hz = presets()[name].fastest_hz
        assert fastest_hz == int(rate) * 1_000_000
        assert float(sample_ns) == pytest.approx(1e9 / fastest_hz, abs=0.051)
        assert float(sample_cycles) == pytest.approx(84e6 / fastest_hz, abs=0.05)
