"""The tables of docs/reference/wiring.md, held to arithmetic and to captures."""

from __future__ import annotations

import math
import re

import pytest

from base.paths import ROOT
from capture.desk.presets import presets
from capture.reading.glitches import SHORTEST_CYCLES

PAGE = (ROOT / "docs" / "reference" / "wiring.md").read_text(encoding="utf-8")
ROWS = re.findall(
    r"^\| (\d+) MS/s \| ([\d.]+) ns \| ([\d.]+) \| (\d+)(?: to (\d+))? \| ([\d.]+) µs \| (.*) \|$",
    PAGE,
    re.MULTILINE,
)


def test_each_row_is_what_its_samplerate_gives() -> None:
    """A sample is what a width may be off; a glitch is at most half of the shortest section."""
    assert [int(row[0]) for row in ROWS] == [8, 12, 16, 24, 50, 84, 100]
    for rate, sample_ns, cycles, least, most, one_percent_us, glitch in ROWS:
        sample_cycles = 84 / int(rate)
        assert (sample_ns, cycles) == (f"{1000 / int(rate):.1f}", f"{sample_cycles:.2f}")
        shortest = SHORTEST_CYCLES / sample_cycles
        assert (int(least), int(most or least)) == (math.floor(shortest), math.ceil(shortest))
        assert one_percent_us == f"{100 / int(rate):.2f}"
        assert glitch == (str(math.floor(shortest / 2)) if shortest >= 2 else "cannot be told")


def test_the_page_has_the_sample_of_each_analyzer() -> None:
    row = re.compile(r"\| `([\w-]+)` \| (\d+) MS/s[^|]*\| ([\d.]+) ns, ([\d.]+) cycles \|")
    rows = row.findall(PAGE)
    assert len(rows) == 4
    for name, rate, sample_ns, sample_cycles in rows:
        fastest_hz = presets()[name].fastest_hz
        assert fastest_hz == int(rate) * 1_000_000
        assert float(sample_ns) == pytest.approx(1e9 / fastest_hz, abs=0.051)
        assert float(sample_cycles) == pytest.approx(84e6 / fastest_hz, abs=0.05)
