"""What bench.toml and files beside it may say: boards, analyzers, presets and pins."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from serial.tools import list_ports
from serial.tools.list_ports_common import ListPortInfo

from base.files.errors import CaptureError
from base.paths import ROOT
from base.run_folder.edges import CHANNELS
from capture.desk.bench import AnalyzerResource, read_bench
from capture.desk.pins import check_pins, clips, places
from capture.desk.presets import presets
from capture.desk.serial_ports import resolve
from tests.sentences import Sentences
from tests.tables import table

BENCH = """\
# What stands on the bench. Each board names what loads it, its serial line and its analyzer.
# docs/how-to/analyzers.md says how to add one; `./lab scenario NAME --board=nucleo` chooses one.

default = "virtual"

# The simulated board. It needs nothing but this repository and sigrok-cli.
[boards.virtual.loader]
kind = "virtual-nucleo"

[boards.virtual.serial]
port = "pty"                      # or "tcp"

[boards.virtual.analyzer]
driver = "beaglelogic"            # the simulator speaks its protocol; sigrok sees no difference
samplerate_hz = 84_000_000        # one sample per core cycle

# A Nucleo-F401RE on USB, wired as docs/reference/wiring.md shows to an analyzer that sigrok knows.
[boards.nucleo.loader]
kind = "pyocd"
target = "stm32f401retx"
probe = ""                        # pyOCD's unique id; empty: the only one connected

[boards.nucleo.serial]
port = "usb:0483:374B"            # the ST-Link's, by its USB id; or a name such as "/dev/ttyACM0"

[boards.nucleo.analyzer]
driver = "fx2lafw"                # or, for all of this table: preset = "fx2lafw" (docs/how-to/analyzers.md)
connection = ""                   # sigrok's conn=, e.g. "1.12"; empty: the only one connected
samplerate_hz = 24_000_000        # 3.5 core cycles per sample; faster analyzers see more

[boards.nucleo.analyzer.channels] # the analyzer's own names
CRIT = "D0"
OP = "D1"
STIM = "D2"
ISR = "D3"
TASK = "D4"
CTRL = "D5"
CISR = "D6"
SYNC = "D7"
"""


def test_the_bench_that_comes_with_the_project() -> None:
    bench = read_bench()
    assert bench.board() is bench.boards["virtual"]
    assert bench.board("virtual").analyzer.driver == "beaglelogic"
    assert tuple(bench.board("nucleo").analyzer.channels) == CHANNELS


@table
def test_a_mistake_gets_a_sentence(tmp_path: Path, old: str, new: str, sentences: Sentences) -> None:
    assert BENCH.count(old) == 1
    path = tmp_path / "bench.toml"
    path.write_text(BENCH.replace(old, new), encoding="utf-8")
    with sentences.raised(CaptureError):
        read_bench(path)


def test_an_unknown_board_gets_the_names() -> None:
    with pytest.raises(
        CaptureError, match=r"no board 'nucelo'; there are nucleo, virtual, desk. Did you mean nucleo\?"
    ):
        read_bench().board("nucelo")


@given(st.data())
def test_whatever_is_left_out_or_doubled(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    lines = BENCH.splitlines()
    number = st.integers(0, len(lines) - 1)
    for at in data.draw(st.lists(number, max_size=4)):
        lines[at] = data.draw(st.sampled_from(["", lines[at].partition("=")[0], *lines]))
    path = tmp_path_factory.getbasetemp() / "bench.toml"
    path.write_text("\n".join(lines), encoding="utf-8")
    try:
        assert read_bench(path).board().serial_port
    except CaptureError as error:
        assert str(error).isprintable() and str(error)[-1] in ".?"


ANALYZER = """\
title = "An analyzer of my own"
sources = ["its manual: samplerates"]
driver = "fx2lafw"
inputs = ["A0", "A1", "A2", "A3", "A4", "A5", "A6", "A7"]
rates_hz = [8_000_000, 16_000_000]
"""
BOARD = """\
[loader]
kind = "pyocd"
target = "stm32f401retx"
[serial]
port = "/dev/ttyACM7"
[analyzer]
preset = "analyzers/mine.toml"
"""


@pytest.fixture
def board(tmp_path: Path) -> Path:
    (tmp_path / "analyzers").mkdir()
    (tmp_path / "analyzers" / "mine.toml").write_text(ANALYZER)
    (tmp_path / "my_board.toml").write_text(BOARD)
    return tmp_path / "my_board.toml"


def test_a_boards_file_is_named_by_its_path_and_an_analyzers_by_its_place_beside_it(board: Path) -> None:
    resource = read_bench().board(str(board))
    assert (resource.name, resource.serial_port) == ("my_board", "/dev/ttyACM7")
    analyzer = resource.analyzer
    assert (analyzer.driver, analyzer.samplerate_hz) == ("fx2lafw", 16_000_000)
    assert analyzer.channels["SYNC"] == "A7"
    with pytest.raises(CaptureError, match=r"^The samplerate cannot be 24,000,000 .*choose 8, 16 MS/s\.$"):
        analyzer.check_rate(24_000_000)


@table
def test_a_mistake_names_its_file(board: Path, file: str, old: str, new: str, sentences: Sentences) -> None:
    path = board.parent / file
    path.write_text(path.read_text().replace(old, new))
    with sentences.raised(CaptureError):
        read_bench().board(str(board))


USABLE = [name for name, preset in presets().items() if not preset.refused]

PRESET_BENCH = """\
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
    path.write_text(PRESET_BENCH + words, encoding="utf-8")
    return read_bench(path).board().analyzer


@pytest.mark.parametrize("name", USABLE)
def test_a_preset_alone_is_enough(tmp_path: Path, name: str) -> None:
    resource = analyzer(tmp_path, f'preset = "{name}"\n')
    preset = presets()[name]
    assert (resource.driver, resource.samplerate_hz) == (preset.driver, preset.fastest_hz)
    assert tuple(resource.channels) == CHANNELS and len(set(resource.channels.values())) == len(CHANNELS)


@table
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


VIRTUAL, NUCLEO, DESK = (read_bench().board(name) for name in ("virtual", "nucleo", "desk"))


def test_pins_come_in_the_order_of_the_channels() -> None:
    assert list(check_pins({"SYNC": "PC13", "CRIT": "PB3"}, VIRTUAL).items()) == [
        ("CRIT", "PB3"),
        ("SYNC", "PC13"),
    ]
    assert check_pins({"CRIT": "PK15"}, NUCLEO) == {"CRIT": "PK15"}


@table
def test_what_cannot_be_is_one_sentence(pins: dict[str, str], board: str, sentences: Sentences) -> None:
    with sentences.raised(CaptureError):
        check_pins(pins, read_bench().board(board))


def test_inputs_are_clipped_by_the_boards_own_names() -> None:
    assert clips({"CRIT": "PB3", "SYNC": "PC13"}, VIRTUAL) == (
        "D0=PB3,D1=open,D2=open,D3=open,D4=open,D5=open,D6=open,D7=PC13"
    )
    other = replace(
        DESK, analyzer=DESK.analyzer.model_copy(update={"channels": {"CRIT": "D5", "CTRL": "D0"}})
    )
    assert clips({"CRIT": "PB3"}, other).startswith("D5=PB3,")


def test_names_of_the_users_own_have_a_free_input_or_the_one_that_is_named() -> None:
    pins = check_pins({"nIRQ": "PB3", "CRIT": "PA8"}, VIRTUAL)
    assert places(pins, VIRTUAL) == {"CRIT": "CRIT", "nIRQ": "OP"}
    assert clips(pins, VIRTUAL).startswith("D0=PA8,D1=PB3,D2=open")
    assert places(check_pins({"nIRQ": "D6"}, NUCLEO), NUCLEO) == {"nIRQ": "CISR"}


# Which port is meant, where ports are made up.


def port(device: str, usb_id: str = "", serial_number: str = "") -> ListPortInfo:
    made = ListPortInfo(device, skip_link_detection=True)
    if usb_id:
        made.vid, made.pid = (int(part, 16) for part in usb_id.split(":"))
    made.serial_number = serial_number or None
    return made


OTHERS = (port("/dev/ttyS0"), port("/dev/ttyUSB0", "1a86:7523"), port("/dev/ttyACM9", "0483:5740"))


@table
def test_an_st_link_is_found_under_any_of_its_ids(
    monkeypatch: pytest.MonkeyPatch, usb_ids: tuple[str, ...], serial_number: str, device: str
) -> None:
    ports = [port(f"/dev/of-{usb_id}", usb_id, usb_id) for usb_id in usb_ids]
    monkeypatch.setattr(list_ports, "comports", lambda: [*OTHERS, *ports])
    assert resolve("usb:0483:374B", serial_number) == f"/dev/of-{device}"
