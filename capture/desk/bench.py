"""Which boards there are, and what loads, hears and watches each of them.

bench.toml lists what stands on the user's desk. Boards that come with the bench are files in the
folder `boards`, and so may a user's be, anywhere: one board a TOML file, named by its path.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, model_validator

from base.files.complaints import WrongValueError, among, expecting, not_among, quoted
from base.files.documents import Document, Table, open_toml
from base.files.errors import CaptureError, near_miss
from base.paths import BENCH
from base.run_folder.channels import CHANNELS
from capture.desk.board import ProbeAddress
from capture.desk.jlink import JLink
from capture.desk.labgrid import board_at
from capture.desk.loading import Loader, OpenOcd, Pyocd
from capture.desk.presets import Preset, preset, presets
from capture.desk.probe_rs import ProbeRs
from firmware.build import boards
from firmware.build.board_table import USUAL_PINS
from firmware.build.boards import Board, BoardError
from firmware.build.families import AtOscIn
from scenarios.operations import BAUD_MAX, BAUD_MIN, BAUD_UNIT, DEFAULT_BAUD

BOARDS = Path(__file__).with_name("boards")

_NAME = re.compile(r"[A-Za-z0-9_]{1,32}")
_NOT_IN_A_NAME = re.compile(r"[^A-Za-z0-9_]+")
VIRTUAL_PORTS = ("pty", "tcp")

Quoted = Annotated[str, expecting("a word in quotes")]
QuotedPath = Annotated[str, expecting("a path in quotes")]
Word = Annotated[str, Field(min_length=1), expecting("a word in quotes")]
BAUD_TOLERANCE = 0.01
"""Both ends of a line may be off by 2 % together, in ten bits (RM0368, section 19.3.5: 3.75 % at
best). Half of it is the other end's."""


Settings = dict[str, bool | int | float | str]
_D0_TO_D7 = tuple(f"D{number}" for number in range(len(CHANNELS)))
SALEAE_LOGIC2 = "saleae-logic2"
"""The driver that is none of libsigrok's: Saleae's program, by its automation interface."""

_LOGIC_2_SETTINGS = ("device", "digital_threshold_volts", "buffer_size_megabytes")
_LOGIC_2_INPUT = re.compile(r"D?([0-9]|1[0-5])")
_HOST_AND_PORT = re.compile(r"[A-Za-z0-9.-]+:[0-9]{1,5}")

# What the bench says by itself; and what sigrok-cli's parser divides at (parsers.c).
_OURS = ("samplerate", "limit_samples", "limit_time", "conn")
_DIVIDES = re.compile(r"[:=\s]")
# libsigrok's keys whose value is a range (src/hwdriver.c, SR_T_DOUBLE_RANGE).
_RANGES = ("voltage_threshold",)


def _eight(inputs: list[str]) -> list[str]:
    """Refuses other than one input for each channel, each another."""
    if inputs and not len(inputs) == len(set(inputs)) == len(CHANNELS):
        raise WrongValueError(f"must be the names of the first {len(CHANNELS)} inputs, by their bit")
    return inputs


def _not_ours(settings: Settings) -> Settings:
    """Refuses what the bench says by itself, and what sigrok-cli would divide."""
    for key, value in settings.items():
        if key in _OURS or _DIVIDES.search(f"{key}{value}") or value == "":
            raise WrongValueError(
                "must be a key of the driver and a value, without blank, colon and equals sign, and is "
                "none of "
                f"{', '.join(_OURS)}",
                key,
            )
    return settings


def _all_of_ours(channels: dict[str, str]) -> dict[str, str]:
    """Refuses a mapping that leaves out a channel, has another, or names an input of the analyzer
    twice.
    """
    if set(channels) != set(CHANNELS) or len(set(channels.values())) != len(CHANNELS):
        raise WrongValueError(f"must name an input of its own for each of {', '.join(CHANNELS)}")
    return channels


LOADERS: Mapping[str, type[Loader]] = {
    "pyocd": Pyocd,
    "openocd": OpenOcd,
    "probe-rs": ProbeRs,
    "jlink": JLink,
}
"""By their kind in bench.toml."""
UNLOADED = ("virtual-nucleo", "none")
"""Kinds of loader that load no chip."""
_ANY_CHIP = "cortex_m"
"""pyOCD's target for a core of which it need not know the chip."""


class LoaderResource(Table):
    """What brings the firmware onto the board."""

    kind: Annotated[Quoted, among((UNLOADED[0], *LOADERS, UNLOADED[1]))]
    """`virtual-nucleo`: the simulated board. `pyocd`, `openocd`, `probe-rs`, `jlink`: a debug probe
    that these know.
    `none`: somebody else loads the board, and it can be observed only.
    """
    target: Quoted = ""
    """What the tool calls the chip; of `openocd` a file, `target/stm32f4x.cfg`. Required where
    something is loaded.
    """
    probe: Quoted = ""
    """A unique id of pyOCD, the serial number with `openocd` and `jlink`, or what `probe-rs list`
    prints. Empty: the only one that is connected.
    """
    interface: Quoted = ""
    """A file of OpenOCD, `interface/stlink.cfg` if absent; `SWD` or `JTAG` of the others."""
    speed_khz: Annotated[int, Field(ge=1, le=50_000), expecting("1 to 50000 kHz")] | None = None
    """The wire's clock; as the tool has it if absent."""
    program: QuotedPath = ""
    """Another program than the one on PATH."""
    arguments: list[Word] = Field(default_factory=list)
    """Further words of its command line."""
    clock: Annotated[Literal["bypass", "crystal", "internal"], expecting("bypass, crystal or internal")] = (
        "bypass"
    )
    """What feeds the core's clock (docs/reference/wiring.md)."""

    @model_validator(mode="after")
    def _fits_its_kind(self) -> LoaderResource:
        keys = self.way.keys if self.way else frozenset()
        clock = {"clock"} if self.kind != "none" else set()
        for key in sorted(self.model_fields_set - {"kind"} - keys - clock):
            raise WrongValueError(f"means nothing to a loader of kind {self.kind}", key, remedy="drop it")
        if self.way and not self.target:
            raise WrongValueError("is missing", "target", remedy=f"add {self.way.target}")
        return self

    @property
    def way(self) -> type[Loader] | None:
        """How it loads a chip; None where it loads none."""
        return LOADERS.get(self.kind)

    @property
    def serial_number(self) -> str:
        """The probe's, or the part of it that bench.toml has; empty: the only one connected."""
        # Vendor and product, by which probe-rs names a probe too, have none.
        return (
            ":".join(self.probe.split(":")[2:]) if self.kind == "probe-rs" else self.probe.rpartition(":")[2]
        )

    @property
    def pyocd_address(self) -> ProbeAddress:
        """The probe as pyOCD finds it, whoever loads the board."""
        if self.kind == "pyocd":
            return ProbeAddress(self.probe, self.target)
        return ProbeAddress(self.serial_number, _ANY_CHIP if self.way else "")

    def programmer(self) -> Loader:
        """The tool behind a loader that loads a chip."""
        return LOADERS[self.kind](self)


class SerialResource(Table):
    """Where the records arrive."""

    port: Word
    """`/dev/ttyACM0`, a URL of pySerial, or `usb:VID:PID`; `pty` or `tcp` of a virtual board.
    `usb:0483:374B` also finds an ST-Link with another id, where none has this one.
    """
    baud: Annotated[
        int,
        Field(ge=BAUD_MIN, le=BAUD_MAX, multiple_of=BAUD_UNIT),
        expecting(f"{BAUD_MIN:,} to {BAUD_MAX:,}, in hundreds"),
    ] = DEFAULT_BAUD
    """In hundreds. The firmware is told. A rate that USART2's divider misses by 1 % or more is
    refused.
    """


class AnalyzerResource(Table):
    """What watches the pins: a driver of sigrok, and how to reach its device."""

    driver: Word
    """A driver of libsigrok, or `saleae-logic2`; required without a preset."""
    samplerate_hz: Annotated[int, Field(gt=0), expecting("a positive whole number of samples per second")]
    """Required without a preset; with one, a rate that the analyzer has."""
    connection: Quoted = ""
    """sigrok's `conn=`; empty: the only one that is connected."""
    channels: Annotated[dict[str, Word], AfterValidator(_all_of_ours)] = Field(default_factory=dict)
    """The analyzer's own name for each of the eight channels, each once."""
    preset: Quoted = ""
    """An analyzer whose limits are known: a name, or the path of a TOML file beside this one. It
    brings driver, samplerate and channels where they are not given.
    """
    sigrok: QuotedPath = ""
    """Another sigrok-cli than the one on PATH."""
    inputs: Annotated[list[Word], AfterValidator(_eight)] = Field(default_factory=list)
    """The driver's names of its first eight inputs, by their bit; D0 to D7 without a preset."""
    sample_bytes: Annotated[int, Field(ge=1, le=8), expecting("1 to 8 bytes")] = 1
    """Bytes of a sample from the driver, of which the first holds the eight inputs."""
    settings: Annotated[Settings, AfterValidator(_not_ours)] = Field(default_factory=dict)
    """Options of the driver, as sigrok-cli's `--config` takes them: `voltage_threshold = 1.6`."""

    @model_validator(mode="before")
    @classmethod
    def _filled_in(cls, values: object) -> object:
        if not isinstance(values, dict) or "preset" not in values:
            return values
        name = values["preset"]
        if not isinstance(name, str):
            raise WrongValueError(f"must be a word in quotes, not {quoted(name)}", "preset")
        entry = preset(name)
        if entry is None:
            raise not_among(name, [key for key, row in presets().items() if not row.refused], "preset")
        if entry.refused:
            remedy = (
                f'write driver = "{SALEAE_LOGIC2}" instead, which has Saleae\'s own program capture'
                if name.startswith("saleae-")
                else "record with its maker's program, and read the export by ./lab observe"
            )
            remedy += " (docs/how-to/analyzers.md)"
            raise WrongValueError(f"cannot be {name!r}: {entry.refused}", "preset", remedy=remedy)
        brought = {
            "driver": entry.driver,
            "samplerate_hz": entry.fastest_hz,
            "channels": dict(zip(CHANNELS, entry.inputs, strict=True)),
            "inputs": list(entry.inputs),
            "sample_bytes": entry.sample_bytes,
        }
        return {**brought, **values}

    @model_validator(mode="after")
    def _fits_its_driver(self) -> AnalyzerResource:
        """A channel is an input that is named, where inputs are. Saleae's program takes other
        settings, and no sigrok-cli.
        """
        for channel, theirs in self.channels.items():
            if self.inputs and theirs not in self.inputs:
                raise not_among(theirs, self.inputs, "channels", channel)
        if self.known and self.driver != self.known.driver:
            raise WrongValueError(
                f"must be {self.known.driver!r} of {self.preset}", "driver", remedy="drop it"
            )
        if refusal := self._refusal(self.samplerate_hz):
            raise refusal
        if not self.by_saleae:
            return self
        for key in sorted({"inputs", "sample_bytes", "sigrok"} & self.model_fields_set):
            raise WrongValueError(f"means nothing to the driver {SALEAE_LOGIC2}", key, remedy="drop it")
        for channel, theirs in self.channels.items():
            if not _LOGIC_2_INPUT.fullmatch(theirs):
                raise WrongValueError(
                    f"must be 0 to 15 of a Saleae, not {quoted(theirs)}", "channels", channel
                )
        for key in self.settings:
            if key not in _LOGIC_2_SETTINGS:
                raise not_among(key, _LOGIC_2_SETTINGS, "settings")
        if self.connection and not _HOST_AND_PORT.fullmatch(self.connection):
            raise WrongValueError(
                f"must be HOST:PORT of {SALEAE_LOGIC2}, not {quoted(self.connection)}", "connection"
            )
        return self

    @property
    def by_saleae(self) -> bool:
        """Whether Saleae's Logic 2 captures, and not sigrok-cli."""
        return self.driver == SALEAE_LOGIC2

    @property
    def device_inputs(self) -> tuple[str, ...]:
        """The device's names of its first eight inputs, by their bit."""
        return tuple(self.inputs) or _D0_TO_D7

    @property
    def by_channel(self) -> dict[str, str]:
        """The analyzer's name of the input on each channel; its first eight where none is named."""
        return dict(zip(CHANNELS, _D0_TO_D7, strict=True)) | self.channels

    @property
    def words(self) -> tuple[str, ...]:
        """What sigrok-cli is told of the settings, as `key=value`; those of a preset come first."""
        words = dict(word.split("=", 1) for word in self.known.settings) if self.known else {}
        for key, value in self.settings.items():
            if isinstance(value, bool):
                words[key] = "on" if value else "off"
            elif isinstance(value, int | float) and key in _RANGES:
                words[key] = f"{float(value)}-{float(value)}"
            else:
                words[key] = str(value)
        return tuple(f"{key}={value}" for key, value in words.items())

    @property
    def known(self) -> Preset | None:
        """What is known of the analyzer; None where bench.toml names no preset."""
        return preset(self.preset) if self.preset else None

    def check_samples(self, samples: int) -> None:
        """Raises CaptureError for more samples than the analyzer's memory is known to hold."""
        if self.known and 0 < self.known.most_samples < samples:
            raise CaptureError(
                f"The capture would have {samples:,} samples, and the analyzer {self.preset} holds "
                f"{self.known.most_samples:,}: ask for a lower samplerate or a shorter duration, or take an "
                "analyzer that streams."
            )

    def check_rate(self, samplerate_hz: int) -> None:
        """Raises CaptureError for a samplerate that the analyzer is known not to have."""
        if refusal := self._refusal(samplerate_hz):
            raise CaptureError(f"The samplerate {refusal.predicate}; {refusal.remedy}.")

    def _refusal(self, samplerate_hz: int) -> WrongValueError | None:
        """What is wrong with a samplerate; None if nothing is."""
        if self.known is None or self.known.can_sample_at(samplerate_hz):
            return None
        return WrongValueError(
            f"cannot be {samplerate_hz:,} with the analyzer {self.preset} and eight inputs",
            "samplerate_hz",
            remedy=f"choose {self.known.rates_in_words()}",
        )


class EmulatedResource(Table):
    """The devices of an emulated board (simulator/desk.py)."""

    channels: Annotated[Literal[8, 16], expecting("8 or 16")] = 8
    """Inputs of the analyzer."""
    bare: Annotated[bool, expecting("true or false")] = False
    """Its driver uploads the analyzer's firmware first."""
    clips: Quoted = ""
    """What the inputs are clipped to, such as `D0=PA9,D3=open`."""
    clock_error_ppm: Annotated[int, Field(ge=-10_000, le=10_000), expecting("-10000 to 10000")] = 0
    """How much too fast the analyzer's clock is."""
    flash_acr: Annotated[int, Field(ge=0, le=0x70F), expecting("a value of FLASH_ACR")] | None = None
    """What the board's flash does, whatever the firmware sets."""
    oscillator: Annotated[AtOscIn, expecting("clock, crystal or nothing")] | None = None
    """What is at OSC_IN; what the board is sold with if absent. With `nothing` the firmware falls
    back to the HSI.
    """


@dataclass(frozen=True)
class BoardResource:
    """A board of the bench.

    `serial_port` is a port or URL of pySerial, or usb:VID:PID; for a virtual board pty or tcp. It
    is empty for a board that nobody loads. `emulated` is None where the devices are real, or the
    board is no more than a program.
    """

    name: str
    loader: LoaderResource
    serial_port: str
    analyzer: AnalyzerResource
    emulated: EmulatedResource | None = None
    baud: int = DEFAULT_BAUD
    board: Board = field(default_factory=boards.default, repr=False)

    def clipped(self, more: str = "") -> str:
        """The pins to which a virtual analyzer is clipped for this board, where they are not those
        of the simulator; as it reads them (clips.rs). `more` stand behind them, and hold where both
        name an input.
        """
        own = (
            f"{self.analyzer.by_channel[name]}={place.pin}"
            for name, place in self.board.pins.items()
            if place.pin != USUAL_PINS[name]
        )
        return ",".join(part for part in (*own, more) if part)

    @property
    def is_real(self) -> bool:
        """Whether a board stands on the desk."""
        return self.loader.kind != "virtual-nucleo" and self.emulated is None

    def with_board(self, board: Board) -> BoardResource:
        """The same with another board in its place; a virtual analyzer samples as that one says.

        It is called by both, unless the board is the entry's own.
        """
        if board == self.board:
            return self
        loader, analyzer = self.loader, self.analyzer
        if loader.kind == "pyocd":
            loader = loader.model_copy(update={"target": board.pyocd_target})
        if loader.kind == "virtual-nucleo":
            rate_hz = board.analyzer.samplerate_hz
            analyzer = analyzer.model_copy(update={"samplerate_hz": rate_hz})
        name = _NOT_IN_A_NAME.sub("_", f"{self.name}_{board.name}")
        return replace(self, name=name, loader=loader, analyzer=analyzer, board=board)


@dataclass(frozen=True)
class Bench:
    """All boards by name, and which one is taken when none is asked for.

    An entry of bench.toml stands before a file of the same name.
    """

    default: str
    boards: Mapping[str, BoardResource]

    def board(self, name: str | None = None) -> BoardResource:
        """The board called `name`, or the default. A `name` that ends in .toml is a board's file,
        and `place:NAME` a place of labgrid (labgrid.py).

        `virtual:nucleo-f411re` is the entry `virtual` with that board of firmware/boards; a board's
        name, or the path of its folder, is the entry that has it on the desk.

        Raises CaptureError, with the names there are, or with what is wrong with the file; and
        BoardError.
        """
        name = name or self.default
        if name.endswith(".toml"):
            return read_board(Path(name))
        if name.startswith("place:"):
            return board_at(name.removeprefix("place:"), self.boards)
        entry, colon, word = name.partition(":")
        if colon and entry in self.boards:
            return self.boards[entry].with_board(boards.named(word))
        if name in self.boards:
            return self.boards[name]
        if "/" not in name and name not in boards.names():
            raise CaptureError(
                f"bench.toml has no board {name!r}; there are {', '.join(self.boards)}."
                f"{near_miss(name, self.boards)}"
            )
        board = boards.named(name)
        matching = [entry for entry in self.boards.values() if entry.is_real and entry.board == board]
        if not matching:
            raise CaptureError(
                f"bench.toml has no {board.title}: add an entry with board = {quoted(board.word)}, or "
                f"simulate it, --board virtual:{board.word}."
            )
        if len(matching) > 1:
            names = " or ".join(entry.name for entry in matching)
            raise CaptureError(f"bench.toml has {board.title} {len(matching)} times: say --board {names}.")
        return matching[0]


class _BoardTable(Table):
    """What stands under [boards.NAME], or in the file of a board."""

    board: Annotated[str, expecting("a board's name in quotes")] = boards.DEFAULT
    """A folder of firmware/boards, or the path of one."""
    loader: LoaderResource
    serial: SerialResource | None = None
    """Required, but for a loader of kind `none`."""
    analyzer: AnalyzerResource
    emulated: EmulatedResource | None = None
    """With this table the devices of the board are those of a virtual desk."""

    @model_validator(mode="after")
    def _fits_its_board_and_loader(self) -> _BoardTable:
        try:
            apb1_hz = boards.named(self.board).apb1_hz
        except BoardError as error:
            raise WrongValueError(f"cannot be {quoted(self.board)}: {error}", "board") from None
        if self.serial:
            divider = round(apb1_hz / self.serial.baud)
            made = apb1_hz / divider
            off = abs(made / self.serial.baud - 1)
            if off > BAUD_TOLERANCE:
                raise WrongValueError(
                    f"cannot be {self.serial.baud:,}: APB1's {apb1_hz / 1e6:g} MHz by BRR = {divider} gives "
                    f"{made:,.0f}, {off:.2%} off",
                    *("serial", "baud"),
                    remedy=f"choose one that is less than {BAUD_TOLERANCE:.0%} off, such as 921,600 or "
                    "460,800",
                )
        if self.emulated and self.loader.way is None:
            raise WrongValueError(f"means nothing to a loader of kind {self.loader.kind}", "emulated")
        if self.loader.kind == "none":
            return self
        if self.serial is None:
            raise WrongValueError("is missing", "serial", remedy="add the table, with its port")
        if self.loader.kind == "virtual-nucleo" and self.serial.port not in VIRTUAL_PORTS:
            raise WrongValueError(
                f"must be {' or '.join(VIRTUAL_PORTS)} of a virtual board, not {self.serial.port!r}",
                "serial",
                "port",
            )
        return self

    def resource(self, name: str) -> BoardResource:
        port, baud = (self.serial.port, self.serial.baud) if self.serial else ("", DEFAULT_BAUD)
        board = boards.named(self.board)
        return BoardResource(name, self.loader, port, self.analyzer, self.emulated, baud, board)


class _BenchTable(Table):
    """The whole file."""

    default: Word
    """The board of a command without `--board`."""
    boards: dict[str, _BoardTable] = Field(default_factory=dict)


def read_bench(path: Path = BENCH) -> Bench:
    """Reads bench.toml, and the boards that come with the bench.

    Raises CaptureError with one sentence that names file, line and key.
    """
    document = _opened(path)
    bench_table = document.check(_BenchTable)
    boards = {name: board.resource(name) for name, board in bench_table.boards.items()}
    for file in sorted(BOARDS.glob("*.toml"), reverse=True):
        if file.stem not in boards:
            boards[file.stem] = _shipped(file)
    if bench_table.default not in boards:
        raise document.wrong(not_among(bench_table.default, boards, "default"))
    return Bench(bench_table.default, boards)


def read_board(path: Path) -> BoardResource:
    """Reads the file of a board, which is called as its file is. Raises CaptureError."""
    if not _NAME.fullmatch(path.stem):
        raise CaptureError(
            f"{quoted(str(path))}: a board is called as its file is, and run folders are named by it; name "
            "the file in letters, digits and _."
        )
    return _opened(path).check(_BoardTable).resource(path.stem)


_shipped = cache(read_board)


def _opened(path: Path) -> Document:
    """The file, in which a preset of the user's own is named by its place beside that file."""
    document = open_toml(path, CaptureError)
    tables = document.values.get("boards", {})
    for board in (document.values, *(tables.values() if isinstance(tables, dict) else ())):
        analyzer = board.get("analyzer") if isinstance(board, dict) else None
        if isinstance(analyzer, dict) and str(analyzer.get("preset", "")).endswith(".toml"):
            analyzer["preset"] = str(path.parent / analyzer["preset"])
    return document
