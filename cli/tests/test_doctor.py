"""What the doctor prints of a board, and when it says that the bench can run."""

from __future__ import annotations

import json
from dataclasses import replace

from capture.checks import devices
from capture.checks.devices import Facts
from capture.checks.findings import Finding
from capture.desk.bench import read_bench
from cli import doctor
from cli.doctor import Report

NUCLEO = replace(read_bench().board("nucleo"), serial_port="/dev/ttyACM0")
PYTHON = Finding("python", "right", "3.11.2")
CARGO = Finding("cargo", "wrong", "MISSING (always; builds the virtual Nucleo): apt-get install cargo-web")


def test_the_virtual_board_needs_nothing() -> None:
    report = doctor.report("virtual")
    assert report.can_run
    assert report.as_text().endswith("\n\nThe bench can run with the board virtual.")


def test_a_board_that_is_not_there() -> None:
    report = Report({"tools": (PYTHON,), "desk": tuple(devices.plugged_in(NUCLEO, Facts()))}, "nucleo")
    assert not report.can_run
    assert report.as_text().splitlines() == [
        "python  3.11.2",
        "",
        "board nucleo",
        "  analyzer  WRONG    None of the driver fx2lafw answers: plug it in, have its firmware "
        "(sigrok-firmware-fx2lafw, or as sigrok's wiki says), or name another preset in bench.toml. Of "
        "those with a preset there is none.",
        "  probe     WRONG    None of the probes that pyOCD finds may be the board's, and one must be: "
        "connect it by the USB connector of its ST-Link (CN1), or write the id of one as probe into "
        "bench.toml: none.",
        "  port      WRONG    No ports are /dev/ttyACM0, and one must be: connect the board by USB, or write "
        "a port or the probe's whole id into bench.toml. There is none.",
        "",
        "The bench cannot run yet with the board nucleo.",
    ]
    described = json.loads(json.dumps(report.as_json()))
    assert described["can_run"] is False and described["board"] == "nucleo"
    assert [row["state"] for row in described["findings"]] == ["right", *["wrong"] * 3]


def test_without_a_board_only_the_tools_count() -> None:
    assert Report({"tools": (PYTHON,)}).can_run and Report({"tools": (PYTHON,)}).as_json()["board"] is None
    assert not Report({"tools": (PYTHON, CARGO)}).can_run
    assert "\n\nInstall first: cargo. What a board" in Report({"tools": (PYTHON, CARGO)}).as_text()
