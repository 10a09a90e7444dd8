"""Dumps after the habits of twenty writers, each of the same four edges, and what is no level."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

import pytest

from base.files.errors import CaptureError
from capture.importing.formats import Import, read
from tests.tables import beside, table

HABITS: dict[str, dict[str, Any]] = beside(__file__)["habits"]


def of(tmp_path: Path, text: str | bytes, name: str | None = "CRIT", hz: int | None = None) -> Import:
    path = tmp_path / "some.vcd"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read(path, None if name is None else {"CRIT": name}, hz)


@pytest.mark.parametrize("habit", HABITS)
def test_the_same_edges_are_read_of_every_writer(tmp_path: Path, habit: str) -> None:
    given = HABITS[habit]
    result = of(tmp_path, given["text"], given["name"])
    moved = result.edges.transitions("CRIT")
    unit = given["unit_ps"] * 1e-12 * result.edges.samplerate_hz
    assert moved.sample.tolist() == [round(at * unit) for at in (10, 14, 30, 37)]
    assert moved.level.tolist() == [True, False, True, False]
    assert result.edges.total_samples == round(40 * unit)
    assert (result.lost, result.losses) == (0, ())


@table
def test_what_has_no_level_of_its_own_is_refused(
    tmp_path: Path, was: str, becomes: str, name: str, words: str
) -> None:
    plain = HABITS["IEEE 1364, plain"]["text"]
    assert was in plain
    with pytest.raises(CaptureError, match=words):
        of(tmp_path, plain.replace(was, becomes), name)


def test_pulses_shorter_than_a_nanosecond_are_read_and_those_below_a_sample_counted(tmp_path: Path) -> None:
    """High for 400 ps and 900 ps; at 1 GHz the first is between two samples."""
    head = "$timescale 1 ps $end\n$var wire 1 ! CRIT $end\n$enddefinitions $end\n"
    text = head + "#0\n0!\n#1000\n1!\n#1400\n0!\n#3000\n1!\n#3900\n0!\n#5000\n"
    result = of(tmp_path, text)
    moved = result.edges.transitions("CRIT").sample.tolist()
    assert moved == [1000, 1400, 3000, 3900] and result.edges.samplerate_hz == 10**12
    coarse = of(tmp_path, text.replace("#5000", "#99000000000000"))  # 99 s: no sample is as short as 1 ps
    assert coarse.edges.samplerate_hz == 10**8 and coarse.lost == 4


# tb.irq is high from 10 to 15 and 20 to 28 ns, ack from 10.4 and 27.5 ns, bus is 2 from 10.4 to
# 20 ns, by vcd2fst and ghdl.
FST = (
    "AAAAAAAAAAFJAAAAAAAAAAAAAAAAAACcQGlXFIsKvwVAAAAAAAgAAAAAAAAAAAAAAgAAAAAAAAAFAAAAAAAAAAQAAAAAAAAA"
    "AfRmc3RXcml0ZXIAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
    "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAFNhdCBOb3YgMjggMTk6"
    "Mzg6NDUgMjAyNgoAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
    "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAACAAAAAAAAACDAAAAAAAAAAAAAAAAAACcQAAAAAAA"
    "AAAZDg4EeHh4eHh4AAAAAAAA+H8ENAAABggGCAAACgQKBAAAAAQgBAAAAQAAAAAAAAAAAw0NDwAAAAAAAAAEAJBOkAP4I4gn"
    "zDr0A+BdAAAAAAAAAA8AAAAAAAAADwAAAAAAAAAIAwAAAAAAAAAcAAAAAAAAAAQAAAAAAAAABAEBBAAGAAAAAAAAAEsAAAAA"
    "AAAAPvUE/gB0YgAAEABpcnEAAQD+AGR1dA8A8BMBEABhY2sAAQAQAGJ1cyBbNzo0XQAEAAMAdGVtcAAIAP//"
)
GHW = (
    "R0hETHdhdmUKEAABAQQBAFNUUgAAAAAAFgAAAHMAAAAnLScBMCcBMScBSCcBTCcBVScBVycBWCcBWicAUDAAYWNrAGJ1czQA"
    "aWRsZQFudGVnZXIBcnEAbmF0dXJhbABzdGFuZGFyZAJkX2xvZ2ljCV8xMTY0CnZlY3RvcgR1bG9naWMAdABFT1MAVFlQAAAA"
    "AAAGAAAAFxUJBggCAwkHBQQBIhIBFwAIGQ4iEAMZAP////8HHxQCAQQjAAWZBwQAV0tUAAAAAAADAQBISUUAAAAAAAEAAAAE"
    "AAAABwAAAAcRDwcTDwYWEA8CARALAgIQDQIDEAwGBAUGBw0KDwBFT0gAU05QAAAAAAAAAAAAAAAAAAICAAICAgJFU04AQ1lD"
    "AAAAAAAAAAAAAICt4gQBAwCAtRgCAwQDAMDhmAIBAgECAMCWsQIBAwUCAODhyQMCAwCgwh4BAgECAIC23AUAf0VDWQBESVIA"
    "AQQBAAgAAABTVFIAEAAAAFRZUACKAAAAV0tUAMAAAABISUUAywAAAEVPSAD+AAAAU05QAAIBAABDWUMAHQEAAERJUgBkAQAA"
    "RU9EAFRBSQABBAEAZAEAAA=="
)


@pytest.mark.parametrize(("data", "name", "end_ns"), [(FST, "tb.dut.irq", 40), (GHW, "t.irq", 28)])
def test_fst_and_ghw_are_read(tmp_path: Path, data: str, name: str, end_ns: int) -> None:
    path = tmp_path / "wave"
    path.write_bytes(base64.b64decode(data))
    bus = name.replace("irq", "bus" if data is FST else "bus4")
    result = read(path, {"CRIT": name, "ISR": "ack", "second": f"{bus}[lsb+1]"})
    unit = result.edges.samplerate_hz // 10**9
    assert result.edges.transitions("CRIT").sample.tolist() == [at * unit for at in (10, 15, 20, 28)]
    assert (result.edges.transitions("ISR").sample * 10 // unit).tolist() == [104, 150, 275, 280]
    assert (result.edges.transitions("second").sample * 10 // unit).tolist() == [104, 200]
    assert result.edges.total_samples // unit == end_ns
    for words, said in ((bus, "has 4 bits"), (f"{bus}[lsb+4]", "no channel"), (f"{bus}[1]", "no channel")):
        with pytest.raises(CaptureError, match=said):
            read(path, {"CRIT": words})
    for place in (100, 200, 300):
        path.write_bytes(base64.b64decode(data)[:place])
        with pytest.raises(CaptureError):
            read(path, {"CRIT": name})
