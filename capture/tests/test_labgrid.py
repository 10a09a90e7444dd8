"""Places of labgrid, from what labgrid-client 26.0.1 printed for its own coordinator."""

from __future__ import annotations

from pathlib import Path

import pytest

from base.files.errors import CaptureError
from capture.desk import labgrid
from capture.desk.bench import read_bench

PRINTED = """\
targets:
  b1:
    resources:
    - NetworkSerialPort: {name: RawSerialPort, host: vm, port: 34665, speed: 1000000}
    - NetworkSigrokUSBDevice:
        driver: fx2lafw
        channels: D1=CRIT,D0=OP,D2=STIM,D3=ISR,D4=TASK,D5=CTRL,D6=CISR,D7=SYNC
        host: localhost
        path: 1-1
        busnum: 1
        devnum: 2
    - NetworkUSBDebugger: {host: localhost, path: 1-2, vendor_id: 1155, model_id: 14155}
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where a labgrid-client on the PATH reads what it prints, and counts its calls."""
    client = tmp_path / "labgrid-client"
    client.write_text(f'#!/bin/sh\necho "$@" >> {tmp_path}/calls\ncat {tmp_path}/says\n')
    client.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    (tmp_path / "1-2").mkdir()
    (tmp_path / "1-2" / "serial").write_text("066DFF33\n")
    monkeypatch.setattr(labgrid, "SYSFS", tmp_path)
    labgrid._environment.cache_clear()
    return tmp_path


def test_port_analyzer_and_probe_are_the_places(folder: Path) -> None:
    (folder / "says").write_text(PRINTED)
    resource = read_bench().board("place:nucleo-1")
    assert (resource.name, resource.serial_port) == ("nucleo_1", "rfc2217://vm:34665")
    assert (resource.analyzer.driver, resource.analyzer.connection) == ("fx2lafw", "1.2")
    assert (resource.analyzer.channels["CRIT"], resource.analyzer.channels["OP"]) == ("D1", "D0")
    assert (resource.loader.kind, resource.loader.probe) == ("pyocd", "066DFF33")
    read_bench().board("place:nucleo-1")
    assert (folder / "calls").read_text() == "-p nucleo-1 env\n", "asked once"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("busnum: 1", "busnum: null"),
        ("port: 34665", "port: null"),
        ("path: 1-2", "path: 1-9"),
        ("host: localhost", "host: far"),
        ("D7=SYNC", "D7=CRIT"),
        ("targets:", "{"),
    ],
)
def test_a_place_that_will_not_do_is_one_sentence(folder: Path, before: str, after: str) -> None:
    (folder / "says").write_text(PRINTED.replace(before, after))
    with pytest.raises(
        CaptureError, match=r"^What labgrid-client says of the place 'b1' will not do"
    ) as error:
        read_bench().board("place:b1")
    assert "Traceback" not in str(error.value)
