"""The analyzer before a run: the demo device is asked in earnest, others by a stand-in."""

from __future__ import annotations

import stat
from dataclasses import replace
from pathlib import Path

import pytest

from base.files.errors import CaptureError
from base.files.tests.sentences import is_sentence
from capture.acquisition.analyzers import check_analyzer, devices, listed
from capture.acquisition.saleae import Device
from capture.desk.bench import AnalyzerResource, BoardResource, read_bench
from tests.tables import table

EIGHT = tuple(f"D{number}" for number in range(8))
SCAN = """\
The following devices were found:
fx2lafw:conn=1.12 - Saleae Logic with 8 channels: D0 D1 D2 D3 D4 D5 D6 D7
fx2lafw:conn=3.4 - sigrok FX2 LA (8ch) with 8 channels: D0 D1 D2 D3 D4 D5 D6 D7
dreamsourcelab-dslogic:conn=1.9 - DreamSourceLab DSLogic Plus [S/N: 1] with 3 channels: 0 1 2
beaglelogic - BeagleLogic 1.0 with 2 channels: P8_45 P8_46
fx2lafw - with 1 channel: D0
"""
NUCLEO = read_bench().board("nucleo")


def test_the_scan_is_read() -> None:
    assert listed(SCAN) == (
        Device("fx2lafw", "1.12", "Saleae Logic", EIGHT),
        Device("fx2lafw", "3.4", "sigrok FX2 LA (8ch)", EIGHT),
        Device("dreamsourcelab-dslogic", "1.9", "DreamSourceLab DSLogic Plus [S/N: 1]", ("0", "1", "2")),
        Device("beaglelogic", None, "BeagleLogic 1.0", ("P8_45", "P8_46")),
        Device("fx2lafw", None, "", ("D0",)),
    )
    assert listed("") == listed("No devices found.\n") == ()


def test_the_real_tool_is_read() -> None:
    """sigrok-cli's demo device, which is always there."""
    (demo,) = devices(NUCLEO.analyzer.model_copy(update={"driver": "demo"}))
    assert (demo.title, demo.inputs[:8]) == ("Demo device", EIGHT)
    with pytest.raises(CaptureError, match=r"--driver moon --scan fails \(Driver moon not found\)"):
        devices(NUCLEO.analyzer.model_copy(update={"driver": "moon"}))


def board(**analyzer: object) -> BoardResource:
    """The Nucleo of bench.toml with another analyzer, which a preset fills in."""
    values = analyzer if "preset" in analyzer else {"samplerate_hz": 1_000_000, **analyzer}
    return replace(NUCLEO, analyzer=AnalyzerResource.model_validate(values))


@table
def test_an_analyzer_that_will_not_do_is_refused(
    tmp_path: Path, lines: tuple[int, ...], values: dict[str, object], sentence: str
) -> None:
    """`lines` are those of SCAN that the tool prints."""
    tool = tmp_path / "other-sigrok"
    shown = "\n".join(SCAN.splitlines()[line] for line in lines)
    tool.write_text(f"#!/bin/sh\ncat <<'EOF'\n{shown}\nEOF\n", encoding="utf-8")
    tool.chmod(tool.stat().st_mode | stat.S_IXUSR)
    watched = board(**values, sigrok=str(tool))
    if not sentence:
        check_analyzer(watched, 1_000_000, 1.0)
        return
    with pytest.raises(CaptureError) as refusal:
        check_analyzer(watched, 1_000_000, 1.0)
    assert is_sentence(str(refusal.value), sentence), str(refusal.value)
