"""Places of labgrid, from what labgrid-client 26.0.1 printed for its own coordinator."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from base.files.errors import CaptureError
from capture.desk import labgrid
from capture.desk.bench import BoardResource, read_bench
from tests.sentences import Sentences
from tests.tables import table

PRINTED = """\
targets:
  b1:
    resources:
    - NetworkSerialPort:
        name: RawSerialPort
        host: vm
        port: 34665
        speed: 1000000
    - NetworkSigrokUSBDevice:
        driver: fx2lafw
        devnum: 2
        channels: D1=CRIT,D0=OP,D2=STIM,D3=ISR,D4=TASK,D5=CTRL,D6=CISR,D7=SYNC
        host: localhost
        path: 1-1
        model_id: 24716
        vendor_id: 7504
        busnum: 1
    - NetworkUSBDebugger:
        devnum: 3
        host: localhost
        path: 1-2
        model_id: 14155
        busnum: 1
        vendor_id: 1155
"""
CLIENT = """\
#!{python}
import pathlib, sys
folder = pathlib.Path({folder!r})
with (folder / "asked").open("a") as asked:
    asked.write(" ".join(sys.argv[1:]) + "\\n")
print((folder / "says").read_text())
why = (folder / "complains").read_text()
sys.exit(why or 0)
"""

Says = Callable[..., None]


@pytest.fixture
def client(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Says]:
    """A labgrid-client on the PATH, and what sets its words; a probe that the kernel lists."""
    (tmp_path / "bin").mkdir()
    program = tmp_path / "bin" / "labgrid-client"
    program.write_text(CLIENT.format(python=sys.executable, folder=str(tmp_path)))
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}{os.pathsep}{os.environ['PATH']}")
    (tmp_path / "sysfs" / "1-2").mkdir(parents=True)
    (tmp_path / "sysfs" / "1-2" / "serial").write_text("066DFF33\n")
    monkeypatch.setattr(labgrid, "SYSFS", tmp_path / "sysfs")

    def says(words: str = "", complains: str = "") -> None:
        labgrid.ask.cache_clear()
        (tmp_path / "says").write_text(words)
        (tmp_path / "complains").write_text(complains)

    yield says
    labgrid.ask.cache_clear()


def board(place: str, bench: Path | None = None) -> BoardResource:
    return (read_bench(bench) if bench else read_bench()).board(f"place:{place}")


def test_port_analyzer_and_probe_are_the_places(client: Says, tmp_path: Path) -> None:
    client(PRINTED)
    resource = board("nucleo-1")
    assert (resource.name, resource.serial_port) == ("nucleo_1", "rfc2217://vm:34665")
    assert (resource.analyzer.driver, resource.analyzer.connection) == ("fx2lafw", "1.2")
    assert (resource.analyzer.channels["CRIT"], resource.analyzer.channels["OP"]) == ("D1", "D0")
    assert (resource.loader.kind, resource.loader.probe) == ("pyocd", "066DFF33")
    board("nucleo-1")
    assert (tmp_path / "asked").read_text() == "-p nucleo-1 env\n", "asked once"


@table
def test_a_place_that_will_not_do_is_one_sentence(
    client: Says, old: str, new: str, sentences: Sentences
) -> None:
    client(PRINTED.replace(old, new))
    with sentences.raised(CaptureError):
        board("b1")
