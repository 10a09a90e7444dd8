"""The presets of analyzers, and what bench.toml may say beside one."""

from __future__ import annotations

from pathlib import Path

import pytest

from base.files.errors import CaptureError
from base.paths import ROOT
from base.run_folder.edges import CHANNELS
from capture.desk.bench import AnalyzerResource, read_bench
from capture.desk.presets import presets
from tests.sentences import Sentences

USABLE = [name for name, preset in presets().items() if not preset.refused]

BENCH = """\
default = "desk"
[boards.desk.loader]
kind = "pyocd"
target = "stm32f401retx"
[boards.desk.serial]
port = "/dev/ttyACM0"
[boards.desk.analyzer]
"""


def analyzer(tmp_path: Path, words: str) -> AnalyzerResource:
    path = tmp_path / "bench.toml"
    path.write_text(BENCH + words, encoding="utf-8")
    return read_bench(path).board().analyzer


@pytest.mark.parametrize("name", USABLE)
def test_a_preset_alone_is_enough(tmp_path: Path, name: str) -> None:
    resource = analyzer(tmp_path, f'preset = "{name}"\n')
    preset = presets()[name]
    assert (resource.driver, resource.samplerate_hz) == (preset.driver, preset.fastest_hz)
    assert tuple(resource.channels) == CHANNELS and len(set(resource.channels.values())) == len(CHANNELS)


@pytest.mark.parametrize(
    ("name", "rates", "no_rates"),
    [
        # 48 MHz / n by the FX2's GPIF; libsigrok knows 48 MHz itself, which no USB 2 link carries.
        ("fx2lafw", (24_000_000, 12_000_000, 1_000_000), (48_000_000, 25_000_000, 84_000_000)),
        # Eight inputs at 32 MS/s are 256 of its 300 MS/s; at 40 MS/s they are 320.
        ("saleae-logic16", (32_000_000, 12_500_000), (40_000_000, 50_000_000, 100_000_000)),
        ("dslogic", (25_000_000, 20_000_000), (50_000_000, 24_000_000)),
        # 84 MS/s would become 100 MS/s without a word: the Logic Sniffer divides 100 MHz.
        ("openbench-ols", (100_000_000, 50_000_000), (84_000_000, 200_000_000)),
        ("kingst-la2016", (200_000_000, 20_000_000), (84_000_000, 500_000_000)),
        # 120 MHz over a whole number, and no more than 60 MHz with eight inputs.
        ("sigrok-pico", (60_000_000, 1_500_000), (120_000_000, 84_000_000)),
        ("beaglelogic", (100_000_000, 50_000_000, 25_000_000), (84_000_000, 200_000_000, 33_333_333)),
    ],
)
def test_the_rates_are_those_of_the_drivers(
    name: str, rates: tuple[int, ...], no_rates: tuple[int, ...]
) -> None:
    assert all(presets()[name].can_sample_at(rate) for rate in rates)
    assert not any(presets()[name].can_sample_at(rate) for rate in no_rates)


@pytest.mark.parametrize(
    "words",
    [
        'preset = "fx2lafw"\nsamplerate_hz = 25_000_000\n',
        'preset = "fx2lafv"\n',
        'preset = "rigol-ds"\n',
        'preset = "fx2lafw"\ndriver = "demo"\n',
        'preset = "dslogic"\n[boards.desk.analyzer.channels]\n'
        + "".join(f'{name} = "D{number}"\n' for number, name in enumerate(CHANNELS)),
    ],
)
def test_what_the_analyzer_does_not_have_is_refused(tmp_path: Path, words: str, sentences: Sentences) -> None:
    with sentences.raised(CaptureError):
        analyzer(tmp_path, words)


def test_what_is_set_goes_to_the_driver_before_what_a_preset_sets(tmp_path: Path) -> None:
    resource = analyzer(
        tmp_path,
        'preset = "dslogic"\nsettings = { voltage_threshold = 1.6, rle = true, continuous = "off" }\n',
    )
    assert resource.words == ("continuous=off", "voltage_threshold=1.6-1.6", "rle=on")
    assert (resource.sample_bytes, resource.device_inputs) == (2, tuple("01234567"))
    assert analyzer(tmp_path, 'preset = "dslogic"\n').words == ("continuous=on",)
    ranged = analyzer(tmp_path, 'preset = "dslogic"\nsettings = { voltage_threshold = "0.7-1.4" }\n')
    assert ranged.words[1] == "voltage_threshold=0.7-1.4"


def test_the_page_says_what_the_presets_say() -> None:
    """docs/how-to/analyzers.md, row by row."""
    page = (ROOT / "docs" / "how-to" / "analyzers.md").read_text(encoding="utf-8")
    rows = {
        cells[0].strip("` "): cells for line in page.splitlines() if (cells := line.strip("|").split("|"))
    }
    for name, preset in presets().items():
        if preset.refused:
            assert rows[name][2].replace("`", "").strip() == preset.refused
            continue
        rates = preset.rates_in_words().replace(" MS/s", "").replace(" or ", ", or ")
        assert rows[name][2].strip() == rates
        assert rows[name][3].strip() in (
            ", ".join(preset.inputs),
            f"{preset.inputs[0]} to {preset.inputs[-1]}",
        )
