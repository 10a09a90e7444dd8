"""The table of docs/reference/wiring.md is the code's, and the code is held to captures."""

from __future__ import annotations

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
from capture.reading.vectorised import pulses
from capture.wiring.resolution import CORE_HZ, RATES_HZ, Resolution, table
from firmware.build import image as firmware
from scenarios import catalogue


def captured(samplerate_hz: int, runs: Path) -> EdgeList:
    plan = catalogue.load("mem_frag", {"depth": 8}, stimulus="none").compile()
    request = RunRequest(
        plan, firmware.build("tlsf"), board="virtual", samplerate_hz=samplerate_hz, runs=runs
    )
    return Direct(request).taken()[1].edges


@pytest.fixture(scope="module")
def exact_ns(tmp_path_factory: pytest.TempPathFactory) -> npt.NDArray[np.float64]:
    """The widths of CRIT to the cycle, in ns."""
    widths = pulses(captured(CORE_HZ, tmp_path_factory.mktemp("runs")), "CRIT").width
    exact: npt.NDArray[np.float64] = widths.astype(np.float64) * 1e9 / CORE_HZ
    return exact


@pytest.mark.parametrize("samplerate_hz", RATES_HZ)
def test_no_width_is_off_by_more_than_a_sample_and_some_by_half_of_one(
    samplerate_hz: int, exact_ns: npt.NDArray[np.float64], tmp_path: Path
) -> None:
    resolution = Resolution(samplerate_hz)
    widths = pulses(captured(samplerate_hz, tmp_path), "CRIT").width
    off = np.abs(widths * resolution.sample_ns - exact_ns)
    assert off.max() < resolution.sample_ns
    assert samplerate_hz == CORE_HZ or off.max() > 0.5 * resolution.sample_ns
    assert widths.min() >= resolution.shortest_samples[0]
    assert widths.min() > resolution.glitch_samples


def test_the_page_has_the_table() -> None:
    assert table() in (ROOT / "docs" / "reference" / "wiring.md").read_text(encoding="utf-8")


def test_the_page_has_the_sample_of_each_analyzer() -> None:
    page = (ROOT / "docs" / "reference" / "wiring.md").read_text(encoding="utf-8")
    row = re.compile(r"\| `([\w-]+)` \| (\d+) MS/s[^|]*\| ([\d.]+) ns, ([\d.]+) cycles \|")
    rows = row.findall(page)
    assert len(rows) == 4
    for name, rate, sample_ns, sample_cycles in rows:
        fastest_hz = presets()[name].fastest_hz
        assert fastest_hz == int(rate) * 1_000_000
        assert float(sample_ns) == pytest.approx(1e9 / fastest_hz, abs=0.051)
        assert float(sample_cycles) == pytest.approx(84e6 / fastest_hz, abs=0.05)


def test_an_fx2_by_hand() -> None:
    """84 / 24 = 3.5 cycles a sample; 18 of them are 5.14 samples, and half of that 2.57."""
    resolution = Resolution(24_000_000)
    assert (resolution.sample_cycles, resolution.shortest_samples, resolution.glitch_samples) == (
        3.5,
        (5, 6),
        2,
    )
    assert resolution.sample_ns == pytest.approx(41.667, abs=1e-3)
