"""What the tools say, from what they print: their formats are those of the tools' own sources."""

from __future__ import annotations

from capture.checks.devices import analyzers_of, listed
from capture.checks.host import Analyzer
from capture.desk.bench import read_bench

NUCLEO = read_bench().board("nucleo")
EIGHT = tuple(f"D{number}" for number in range(8))
SCAN = """\
The following devices were found:
fx2lafw:conn=1.12 - Saleae Logic with 8 channels: D0 D1 D2 D3 D4 D5 D6 D7
fx2lafw:conn=3.4 - sigrok FX2 LA (8ch) with 8 channels: D0 D1 D2 D3 D4 D5 D6 D7
dreamsourcelab-dslogic:conn=1.9 - DreamSourceLab DSLogic Plus [S/N: 1] with 3 channels: 0 1 2
beaglelogic - BeagleLogic 1.0 with 2 channels: P8_45 P8_46
fx2lafw - with 1 channel: D0
"""


def test_the_scan_is_read() -> None:
    assert listed(SCAN) == (
        Analyzer("fx2lafw", "1.12", "Saleae Logic", EIGHT),
        Analyzer("fx2lafw", "3.4", "sigrok FX2 LA (8ch)", EIGHT),
        Analyzer("dreamsourcelab-dslogic", "1.9", "DreamSourceLab DSLogic Plus [S/N: 1]", ("0", "1", "2")),
        Analyzer("beaglelogic", None, "BeagleLogic 1.0", ("P8_45", "P8_46")),
        Analyzer("fx2lafw", None, "", ("D0",)),
    )
    assert listed("") == listed("No devices found.\n") == ()


def test_the_real_tool_is_read() -> None:
    """sigrok-cli's demo device, which is always there."""
    analyzer = NUCLEO.analyzer.model_copy(update={"driver": "demo"})
    analyzers, chosen = analyzers_of(analyzer)
    (demo,) = analyzers
    assert (demo.title, demo.inputs[:8]) == ("Demo device", EIGHT)
    assert chosen == analyzers
