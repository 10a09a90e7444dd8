"""Each format, written by another hand, gives the edges that were written."""

from __future__ import annotations

import base64
import struct
import zipfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from base.files.errors import CaptureError
from base.run_folder.edges import EdgeList
from capture.importing.formats import Import, read
from capture.tests import writers
from capture.tests.writers import CHANNELS
from tests.tables import beside, table

RATE_HZ = 84_000_000


def random_edges(seed: int, count: int, widest: int = 3000, rate_hz: int = RATE_HZ) -> EdgeList:
    """Any words at any places, with a quiet end."""
    random = np.random.default_rng(seed)
    sample = np.concatenate((np.zeros(1, np.int64), np.cumsum(random.integers(1, widest + 1, count))))
    word = np.bitwise_xor.accumulate(random.integers(1, 256, count + 1)).astype(np.uint8)
    return EdgeList(sample, word, rate_hz, int(sample[-1]) + 500)


Write = Callable[[Path, EdgeList], Path]


@settings(max_examples=12)
@given(
    seed=st.integers(0, 2**32 - 1),
    count=st.integers(0, 300),
    rate_hz=st.sampled_from([24_000_000, RATE_HZ, 25_000_000]),
)
def test_what_was_written_is_read(
    seed: int, count: int, rate_hz: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """DSView's comment has the count of samples in thousands, to six digits: an end that is told so
    may lie before the last line, or is the end.
    """
    edges = random_edges(seed, count, widest=40, rate_hz=rate_hz)
    folder = tmp_path_factory.mktemp("written")
    short = edges.until(int(edges.sample[-1]) + 1)
    cases: list[tuple[Write, EdgeList, str, str]] = [
        (writers.vcd, edges, "VCD", "option"),
        (writers.logic_2_csv, short, "Saleae CSV", "option"),
        (partial(writers.logic_2_csv, before_trigger=177), short, "Saleae CSV", "option"),
        (writers.logic_1_csv, short, "Saleae CSV", "option"),
        (writers.logic_2_binary, edges, "Saleae binary", "option"),
        (partial(writers.logic_2_binary, version=1), edges, "Saleae binary", "file"),
        (writers.dsview_csv, edges, "DSView CSV", "file"),
        (partial(writers.dsview_csv, original=True), edges, "DSView CSV", "file"),
    ]
    for write, expected, kind, rate_from in cases:
        path = write(folder, edges)
        imported = read(path, CHANNELS, rate_hz)
        assert imported.losses == () and imported.edges == expected, path
        assert (imported.origin.format, imported.origin.samplerate_from) == (kind, rate_from)


@pytest.mark.parametrize(
    ("write", "rate_hz"),
    [
        (writers.dsview_csv, None),
        (partial(writers.dsview_csv, original=True), None),
        (writers.vcd, 25_000_000),
        (writers.logic_2_csv, 25_000_000),
        (writers.logic_1_csv, 25_000_000),
        (lambda folder, edges: writers.by_sigrok(folder, edges, "csv", "-O", "csv"), None),
        (lambda folder, edges: writers.logic_2_binary(folder, edges) / "digital_0.bin", 25_000_000),
    ],
)
def test_of_a_file_that_is_cut_what_came_is_kept(tmp_path: Path, write: Write, rate_hz: int | None) -> None:
    """Cut at fifteen places of its last third: the edges are those up to some sample, and
    the cut is told of unless it fell between two lines.
    """
    edges = random_edges(21, 60, widest=30, rate_hz=25_000_000)
    path = write(tmp_path, edges)
    data = path.read_bytes()
    by_name = {"CRIT": "CRIT" if b"CRIT" in data[:400] else "D0"}
    moved = edges.transitions("CRIT").sample.tolist()
    cuts = 0
    for place in range(2 * len(data) // 3, len(data) - 1, max(len(data) // 45, 7)):
        path.write_bytes(data[:place])
        imported = read(path, by_name, rate_hz)
        got = imported.edges.transitions("CRIT").sample.tolist()
        assert got == moved[: len(got)] and imported.edges.total_samples <= edges.total_samples
        # a line whose end alone is missing is whole
        assert imported.losses or b"\n" in data[place - 1 : place + 1], data[place - 20 : place]
        cuts += bool(imported.losses)
    assert cuts > 3


# At round rates libsigrok's unit of time is one sample or half a one.
@pytest.mark.parametrize(
    "rate_hz", [500_000, 10**6, 10**7, 12_345_678, 24_000_000, RATE_HZ, 10**8, 5 * 10**8]
)
@table
def test_what_sigrok_exports_is_read_with_its_names_and_rate(
    tmp_path: Path, suffix: str, options: tuple[str, ...], kind: str, rate_hz: int
) -> None:
    edges = random_edges(5, 60, widest=200, rate_hz=rate_hz)
    imported = read(writers.by_sigrok(tmp_path, edges, suffix, *options))
    assert imported.edges == edges
    assert (imported.origin.format, imported.origin.samplerate_from) == (kind, "file")
    assert imported.origin.channels == {name: name for name in edges.channels}


def test_channels_are_chosen_by_name_in_our_order(tmp_path: Path) -> None:
    edges = random_edges(6, 100)
    path = writers.logic_2_binary(tmp_path, edges)
    imported = read(path, {"ISR": "D3", "STIM": "digital_2"}, RATE_HZ)
    assert imported.origin.channels == {"STIM": "digital_2", "ISR": "digital_3"}
    for name in ("STIM", "ISR"):
        assert np.array_equal(imported.edges.transitions(name).sample, edges.transitions(name).sample)
    assert read(path / "digital_1.bin", {"OP": "D1"}, RATE_HZ).edges.channels == ("OP",)


@pytest.mark.parametrize("unit_bytes", [1, 3, 5])
def test_an_old_session_in_one_piece_and_without_a_samplerate_is_read(
    tmp_path: Path, unit_bytes: int
) -> None:
    """Version 1, in units of which libsigrok writes few; the last byte moves at samples 3 and 5."""
    levels = [0, 0, 0, 4, 4, 0, 0]
    with zipfile.ZipFile(tmp_path / "old.sr", "w") as archive:
        archive.writestr("version", "1")
        probes = "".join(f"probe{n + 1}=D{n}\n" for n in range(8 * unit_bytes))
        head = f"[device 1]\ncapturefile=logic-1\ntotal probes={8 * unit_bytes}\n"
        archive.writestr("metadata", f"{head}{probes}unitsize={unit_bytes}\n")
        archive.writestr("logic-1", b"".join(bytes(unit_bytes - 1) + bytes([level]) for level in levels))
    names = {"CRIT": f"D{8 * unit_bytes - 6}"}
    with pytest.raises(CaptureError, match="--samplerate"):
        read(tmp_path / "old.sr", names)
    result = read(tmp_path / "old.sr", names, 10**6)
    assert result.edges.transitions("CRIT").sample.tolist() == [3, 5]
    assert (result.edges.samplerate_hz, result.origin.samplerate_from) == (10**6, "option")


SMALL: dict[str, dict[str, str]] = beside(__file__)["small"]


@pytest.mark.parametrize("habit", SMALL)
def test_habits_of_text_are_read(tmp_path: Path, habit: str) -> None:
    """High from 10 to 14 µs."""
    small = SMALL[habit]
    (tmp_path / "small.csv").write_text(small["text"], encoding="utf-8")
    edges = read(tmp_path / "small.csv", {"CRIT": small["name"]}).edges
    unit = edges.samplerate_hz // 10**6
    assert [sample // unit for sample in edges.transitions("CRIT").sample.tolist()] == [10, 14]


def test_without_a_samplerate_it_is_the_resolution_and_that_is_stated(tmp_path: Path) -> None:
    """At 84 MS/s edges lie 11.9 ns apart. Without the rate they lie at rounded nanoseconds."""
    edges = random_edges(9, 50)
    for path, rate_hz in (
        (writers.vcd(tmp_path, edges), 10**11),
        (writers.logic_2_csv(tmp_path, edges), 10**9),
        (writers.logic_2_binary(tmp_path, edges), 10**9),
    ):
        imported = read(path, CHANNELS)
        assert imported.origin.samplerate_from == "resolution"
        assert imported.edges.samplerate_hz == rate_hz
        assert imported.edges.word.tolist() == edges.word.tolist()
        exact_ns = edges.sample * 1e9 / RATE_HZ
        assert np.abs(imported.edges.sample * 1e9 / rate_hz - exact_ns).max() <= 1.0


@pytest.mark.parametrize("rate_hz", [42_000_000, 83_000_000])
def test_a_wrong_samplerate_is_refused(tmp_path: Path, rate_hz: int) -> None:
    edges = random_edges(10, 50)
    for path in (writers.vcd(tmp_path, edges), writers.logic_2_binary(tmp_path, edges)):
        with pytest.raises(CaptureError, match=f"do not lie on samples of {rate_hz:,} Hz"):
            read(path, CHANNELS, rate_hz)
    for suffix, options in (("sr", ()), ("csv", ("-O", "csv"))):
        path = writers.by_sigrok(tmp_path, edges, suffix, *options)
        with pytest.raises(CaptureError, match=f"states a samplerate of 84,000,000 Hz, not {rate_hz:,}"):
            read(path, None, rate_hz)


def test_times_that_are_too_coarse_for_a_samplerate_are_refused(tmp_path: Path) -> None:
    (tmp_path / "coarse.vcd").write_text(VCD.replace("1 ns", "1 us") + "#5 1!\n#9\n")
    with pytest.raises(CaptureError, match="told to 1000 ns, too coarse for samples of 84,000,000 Hz"):
        read(tmp_path / "coarse.vcd", {"CRIT": "D0"}, RATE_HZ)
    assert read(tmp_path / "coarse.vcd", {"CRIT": "D0"}).edges.samplerate_hz == 1_000_000


VCD = "$timescale 1 ns $end\n$var wire 1 ! D0 $end\n$enddefinitions $end\n#0 0!\n"


def saleae(version: int = 0, level: int = 0, count: int = 1, time: float = 0.0) -> bytes:
    return b"<SALEAE>" + struct.pack("<iiIddQd", version, 0, level, 0.0, 1.0, count, time)


def refused(folder: Path, content: bytes, words: str) -> None:
    (folder / "digital_0").write_bytes(content)
    with pytest.raises(CaptureError, match=words) as error:
        read(folder / "digital_0", {"CRIT": "D0"})
    assert "\n" not in str(error.value) and len(str(error.value)) < 1000


@table
def test_what_cannot_be_read_is_one_sentence(tmp_path: Path, content: str, words: str) -> None:
    refused(tmp_path, content.encode(), words)


def test_a_line_without_end_is_refused(tmp_path: Path) -> None:
    refused(tmp_path, b"Time [s],Channel 0\n" + b"9" * 70_000, "more than 65,536 bytes")


@table
def test_a_wrong_number_in_a_binary_file_is_one_sentence(
    tmp_path: Path, numbers: dict[str, Any], words: str
) -> None:
    refused(tmp_path, saleae(**numbers), words)


def test_a_binary_file_of_several_chunks_is_refused(tmp_path: Path) -> None:
    refused(tmp_path, b"<SALEAE>" + struct.pack("<iiQ", 1, 0, 2) + bytes(200), "2 chunks, so gaps")


@pytest.mark.parametrize(
    ("channels", "words"),
    [
        ({"CRIT": "D0", "OP": "Channel 0"}, "two of the channels"),
        ({"CRIT": "D9"}, "no channel 'D9'"),
        ({f"C{number}": f"D{number}" for number in range(9)}, "at most 8"),
    ],
)
def test_a_wrong_choice_of_channels_is_one_sentence(
    tmp_path: Path, channels: dict[str, str] | None, words: str
) -> None:
    (tmp_path / "digital.csv").write_text("Time [s],Channel 0,Channel 1\n0.0,0,0\n0.1,1,0\n")
    with pytest.raises(CaptureError, match=words):
        read(tmp_path / "digital.csv", channels)


def test_what_is_no_file_is_one_sentence(tmp_path: Path) -> None:
    for path, words in (
        (tmp_path / "nowhere.vcd", "No such file"),
        (tmp_path, r"a folder without digital_0\.bin"),
        (Path("/dev/zero"), "a device or a pipe"),
    ):
        with pytest.raises(CaptureError, match=words):
            read(path, {"CRIT": "D0"})


def test_channels_that_were_not_exported_together_are_refused(tmp_path: Path) -> None:
    path = writers.logic_2_binary(tmp_path, random_edges(12, 10))
    (tmp_path / "other").mkdir()
    other = writers.logic_2_binary(tmp_path / "other", random_edges(13, 20))
    (path / "digital_1.bin").write_bytes((other / "digital_1.bin").read_bytes())
    with pytest.raises(CaptureError, match="differ in samplerate, begin or end"):
        read(path, {"CRIT": "D0", "OP": "D1"})


@settings(max_examples=25)
@given(seed=st.integers(0, 2**32 - 1))
def test_a_damaged_file_is_read_or_refused_in_one_sentence(
    seed: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Bytes changed, cut out and doubled, in each format. Nothing else than CaptureError comes."""
    random = np.random.default_rng(seed)
    folder = tmp_path_factory.mktemp("damaged")
    edges = random_edges(seed, 12, widest=40)
    binary = writers.logic_2_binary(folder, edges, version=int(random.integers(2)))
    for path in (
        writers.vcd(folder, edges),
        writers.logic_2_csv(folder, edges),
        binary / "digital_0.bin",
        writers.dsview_csv(folder, edges.until(12)),
    ):
        for _ in range(6):
            damaged = folder / "digital_0"
            damaged.write_bytes(damage(path.read_bytes(), random))
            try:
                imported = read(damaged, {"CRIT": "D0"}, RATE_HZ if random.random() < 0.5 else None)
            except CaptureError as error:
                assert "\n" not in str(error)
            else:
                assert imported.edges.total_samples >= 1


def damage(data: bytes, random: np.random.Generator) -> bytes:
    changed = bytearray(data)
    for _ in range(int(random.integers(1, 4))):
        at, length = int(random.integers(len(changed) or 1)), int(random.integers(1, 12))
        match int(random.integers(3)):
            case 0:
                changed[at : at + length] = random.integers(0, 256, length, np.uint8).tobytes()
            case 1:
                del changed[at : at + length]
            case _:
                changed[at:at] = changed[at : at + length]
    return bytes(changed)


# Dumps after the habits of twenty writers, each of the same four edges, and what is no level.


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
