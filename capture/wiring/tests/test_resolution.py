"""The tables of docs/reference/wiring.md, held to arithmetic and to captures."""

from __future__ import annotations

import math
import re
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from base.paths import ROOT
from base.run_folder.edges import EdgeList
from capture.acquisition.direct import Direct
from capture.acquisition.source import RunRequest
from capture.desk.presets import presets
from capture.reading.glitches import SHORTEST_CYCLES
from capture.reading.vectorised import pulses
from firmware.build import boards
from firmware.build import image as firmware
from scenarios import catalogue

CORE_HZ = boards.default().core_hz
PAGE = (ROOT / "docs" / "reference" / "wiring.md").read_text(encoding="utf-8")
ROWS = re.findall(
    r"^\| (\d+) MS/s \| ([\d.]+) ns \| ([\d.]+) \| (\d+)(?: to (\d+))? \| ([\d.]+) µs \| (.*) \|$",
    PAGE,
    re.MULTILINE,
)


def captured(samplerate_hz: int, runs: Path) -> EdgeList:
    plan = catalogue.load("mem_frag", {"depth": 8}, stimulus="none").compile()
    request = RunRequest(plan, firmware.build("tlsf"), samplerate_hz=samplerate_hz, runs=runs)
    return Direct(request).taken()[1].edges


@pytest.fixture(scope="module")
def exact_ns(tmp_path_factory: pytest.TempPathFactory) -> npt.NDArray[np.float64]:
    """The widths of CRIT to the cycle, in ns."""
    widths = pulses(captured(CORE_HZ, tmp_path_factory.mktemp("runs")), "CRIT").width
    exact: npt.NDArray[np.float64] = widths.astype(np.float64) * 1e9 / CORE_HZ
    return exact


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


@pytest.mark.parametrize("row", [row for row in ROWS if row[0] in ("8", "24", "100")], ids="-".join)
def test_no_width_is_off_by_more_than_a_sample_and_some_by_half_of_one(
    row: tuple[str, ...], exact_ns: npt.NDArray[np.float64], tmp_path: Path
) -> None:
    samplerate_hz, shortest = int(row[0]) * 1_000_000, int(row[3])
    widths = pulses(captured(samplerate_hz, tmp_path), "CRIT").width
    sample_ns = 1e9 / samplerate_hz
    assert 0.5 * sample_ns < np.abs(widths * sample_ns - exact_ns).max() < sample_ns
    assert widths.min() >= shortest


def test_the_page_has_the_sample_of_each_analyzer() -> None:
    row = re.compile(r"\| `([\w-]+)` \| (\d+) MS/s[^|]*\| ([\d.]+) ns, ([\d.]+) cycles \|")
    rows = row.findall(PAGE)
    assert len(rows) == 4
    for name, rate, sample_ns, sample_cycles in rows:
        fastest_hz = presets()[name].fastest_hz
        assert fastest_hz == int(rate) * 1_000_000
        assert float(sample_ns) == pytest.approx(1e9 / fastest_hz, abs=0.051)
        assert float(sample_cycles) == pytest.approx(84e6 / fastest_hz, abs=0.05)
