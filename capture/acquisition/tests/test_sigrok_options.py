"""What a driver says of its analyzer, and what is refused of bench.toml because of it.

What sigrok-cli prints of a DSLogic Plus is put together by the format of its show.c, with what the
driver's api.c lists; the demo device, and a tool that is not there, are asked in earnest.
"""

from __future__ import annotations

import shlex
import stat
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from base.files.errors import CaptureError
from base.files.tests.sentences import is_sentence
from capture.acquisition.sigrok_options import check_analyzer, read_drivers, read_options
from capture.desk.bench import AnalyzerResource, BoardResource, read_bench
from tests.tables import table

SIXTEEN = " ".join(map(str, range(16)))
VOLTS = ", ".join(f"{tenth / 10:.1f}-{tenth / 10:.1f}" for tenth in range(51)).replace(
    "1.4-1.4", "1.4-1.4 (current)"
)
DSLOGIC = f"""\
Driver functions:
    Logic analyzer
Scan options:
    conn
dreamsourcelab-dslogic:conn=1.9 - DreamSourceLab DSLogic Plus [S/N: 1] with 16 channels: {SIXTEEN}
Supported configuration options:
    continuous: on (current), off
    limit_samples: 0 (current)
    conn: 1.9 (current)
    voltage_threshold: {VOLTS}
    samplerate - supported samplerates:
      10 kHz
      1 MHz
      10 MHz
      20 MHz
      25 MHz (current)
      50 MHz
    Supported triggers: 0 1 r f e
    captureratio: 0 (current)
    clock_edge: rising (current), falling
"""
OLS = """\
ols - Sump Logic Analyzer v1.0 with 8 channels: 0 1 2 3 4 5 6 7
Supported configuration options:
    Maximum number of samples: 24576
    samplerate (10 Hz - 200 MHz in steps of 1 Hz)
    rle: on, off (current)
"""
NUCLEO = read_bench().board("nucleo")


def test_what_the_driver_lists_is_read() -> None:
    options = read_options(DSLOGIC)
    assert options.inputs == tuple(map(str, range(16)))
    assert options.rates_hz == (10_000, 1_000_000, 10_000_000, 20_000_000, 25_000_000, 50_000_000)
    assert options.keys["continuous"] == ("on", "off") and options.keys["limit_samples"] == ()
    assert options.keys["clock_edge"] == ("rising", "falling")
    assert len(options.keys["voltage_threshold"]) == 51 and "1.6-1.6" in options.keys["voltage_threshold"]
    assert [rate for rate in (24_000_000, 25_000_000) if options.can_sample_at(rate)] == [25_000_000]


def test_the_real_tool_is_read() -> None:
    done = subprocess.run(
        ["sigrok-cli", "--driver", "demo", "--show"], capture_output=True, text=True, check=True
    )
    options = read_options(done.stdout)
    assert options.inputs[:8] == tuple(f"D{number}" for number in range(8))
    assert options.steps_hz == (1, 1_000_000_000, 1)
    listed = subprocess.run(["sigrok-cli", "--list-supported"], capture_output=True, text=True, check=True)
    drivers = read_drivers(listed.stdout)
    assert {"beaglelogic", "demo", "fx2lafw", "saleae-logic16"} <= set(drivers)
    assert not {"csv", "binary", "uart"} & set(drivers), "formats and decoders are no drivers"


def board(**analyzer: object) -> BoardResource:
    """The Nucleo of bench.toml with another analyzer, which a preset fills in."""
    values = analyzer if "preset" in analyzer else {"samplerate_hz": 1_000_000, **analyzer}
    return replace(NUCLEO, analyzer=AnalyzerResource.model_validate(values))


def showing(tmp_path: Path, shown: str) -> str:
    """A sigrok-cli that prints `shown`, and so many notes of how it was called."""
    tool, text = tmp_path / "other-sigrok", tmp_path / "shown"
    text.write_text(shown, encoding="utf-8")
    tool.write_text(
        f'#!/bin/sh\necho "$@" >> {shlex.quote(str(tmp_path / "calls"))}\ncat {shlex.quote(str(text))}\n',
        encoding="utf-8",
    )
    tool.chmod(tool.stat().st_mode | stat.S_IXUSR)
    return str(tool)


SHOWN = {"dslogic": DSLOGIC, "ols": OLS, "nothing": ""}


@table
def test_what_the_analyzer_does_not_have_is_refused(
    tmp_path: Path, shown: str, values: dict[str, object], rate_hz: int, sentence: str
) -> None:
    watched = board(**values, sigrok=showing(tmp_path, SHOWN[shown]))
    if not sentence:
        check_analyzer(watched, rate_hz, 1.0)
        return
    with pytest.raises(CaptureError) as refusal:
        check_analyzer(watched, rate_hz, 1.0)
    assert is_sentence(str(refusal.value), sentence), str(refusal.value)
