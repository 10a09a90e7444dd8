"""The boards that the firmware can be built for: a folder each, with a board.toml
(docs/reference/board-toml.md).

Those that come with the bench are in firmware/boards. A folder may lie elsewhere too; its path
names it then.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field, PositiveInt, Strict, model_validator

from base import heap_size
from base.files.complaints import WrongValueError, expecting
from base.files.documents import Document, Table, open_toml
from base.files.errors import TailscopeError, near_miss
from base.files.whole import WriteError, write_bytes
from base.paths import BUILD, ROOT
from base.run_folder.channels import CHANNELS, FIRST_BOARD
from base.run_folder.records import Locking
from firmware.build.board_table import MOST_OPERATIONS_BYTES, TABLE
from firmware.build.families import AtOscIn, ClockTree, tree_of

if TYPE_CHECKING:
    from base.run_folder.manifest import AskedFirmware

FOLDER = ROOT / "firmware" / "boards"
DEFAULT = FIRST_BOARD
"""The board of a command that names none."""

LEAST_OPERATIONS_BYTES = 32 << 10
"""What every scenario of the bench fits in."""
_NAMED = BUILD / "named-boards"
_PAGE_BYTES = 2 << 10
"""Firmware and operation image are erased one without the other: no page of them is larger, but
the sectors of an STM32F4, whose halves begin one.
"""
_WITHOUT_BASEPRI = ("cortex-m0", "cortex-m0plus")
"""Cores of ARMv6-M: no BASEPRI, and no counter of cycles."""
_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,31}")

_Word = Annotated[str, Field(min_length=1), expecting("a word in quotes")]
_Pin = Annotated[str, Field(pattern=r"^P[A-K](1[0-5]|[0-9])$"), expecting("a pin such as PA8")]
_Connector = Annotated[str, Field(pattern=r"^CN[0-9]+-[0-9]+$"), expecting("a place such as CN9-8")]


class BoardError(TailscopeError):
    """A board's folder cannot be used; the message says where and why, in one sentence."""


class Memory(Table):
    """Sizes in bytes."""

    flash_bytes: PositiveInt
    firmware_bytes: Annotated[int, Field(gt=0, multiple_of=_PAGE_BYTES)]
    """The beginning of the flash that the firmware may take, in whole sectors or pages. The
    operation image has what is behind it, 256 KiB at most.
    """
    sram_bytes: Annotated[int, Field(gt=0, multiple_of=1024)]
    """From 0x20000000 on."""
    heap_bytes: PositiveInt = heap_size.DEFAULT_BYTES
    """The heap's region where nobody says another."""

    @property
    def operations_bytes(self) -> int:
        """What an operation image may have."""
        return min(self.flash_bytes - self.firmware_bytes, MOST_OPERATIONS_BYTES)

    @model_validator(mode="after")
    def _holds_an_image(self) -> Memory:
        if self.operations_bytes < LEAST_OPERATIONS_BYTES:
            words = f"must be {LEAST_OPERATIONS_BYTES:,} or more behind the firmware, for the operation image"
            raise WrongValueError(words, "flash_bytes")
        if range_ := heap_size.refused(self.heap_bytes, self.sram_bytes):
            raise WrongValueError(f"must be {range_}", "heap_bytes")
        return self


class Timer(Table):
    """A timer of so many `bits` that counts the core's clock, and the output that moves its pin."""

    timer: _Word
    """TIM2 to TIM5, where the family has it."""
    channel: Literal[1, 2]
    alternate: Annotated[int, Field(ge=0, le=15)]
    """The function that connects its pin; on an STM32F1 the value of its field in AFIO_MAPR."""
    interrupt: Annotated[int, Field(ge=0, le=239)]
    bits: Literal[16, 32] = 32
    """16 where the counter has no 32."""


class Counter(Table):
    """A timer of 32 bits that counts the core's cycles, where the core itself does not."""

    timer: _Word


class Timers(Table):
    """The timers by what they do: the stimulus, the control, the frames on SYNC."""

    stimulus: Timer
    control: Timer | None = None
    """Its interrupt has the greater number of the two: it ends the vector table. None on a
    Cortex-M0, each of whose locks masks all interrupts or none.
    """
    frame: Timer
    """May be another channel of the stimulus's timer."""
    counter: Counter | None = None
    """A timer of 32 bits, on a Cortex-M0 only; other cores count their cycles themselves."""

    @model_validator(mode="after")
    def _in_order(self) -> Timers:
        stimulus, frame = self.stimulus, self.frame
        if stimulus.timer == frame.timer and stimulus.channel == frame.channel:
            raise WrongValueError("must be another channel than the stimulus's, or another timer", "frame")
        used = [stimulus.timer, frame.timer]
        for role in ("control", "counter"):
            timer = getattr(self, role)
            if timer and timer.timer in used:
                raise WrongValueError("must be a timer of its own", role)
            used += [timer.timer] if timer else []
        if self.control and self.control.interrupt <= stimulus.interrupt + 1:
            words = "must be a greater one than the stimulus has: it ends the vector table"
            raise WrongValueError(words, "control", "interrupt")
        return self


class Serial(Table):
    """The line to the ST-Link: its pin is the transmitter's."""

    usart: _Word
    pin: _Pin
    alternate: Annotated[int, Field(ge=0, le=15)]


class Place(Table):
    """Where a channel is: the chip's pin, the Arduino's name of it, connector and position.

    `morpho` is where the same pin is on ST's own headers, empty if it is not there.
    """

    pin: _Pin
    header: _Word
    """The Arduino's name of the pin."""
    connector: _Connector
    """The connector, and the position on it."""
    morpho: _Connector | Literal[""] = ""


class VirtualAnalyzer(Table):
    """The analyzer of the virtual board."""

    samplerate_hz: PositiveInt
    """A sample for each cycle."""


class _BoardTable(Table):
    """What a board's file says of it, but for its clock tree."""

    title: _Word
    """What people call it."""
    family: _Word
    """A folder of firmware/board: its registers.toml and clock.c, and whatever of firmware/board
    does not fit it. A file of the board's own folder comes before its family's.
    """
    core: Literal["cortex-m4f", "cortex-m3", "cortex-m0plus", "cortex-m0"]
    """What is compiled for."""
    locks: Annotated[tuple[Locking, ...], Strict(False), Field(min_length=1)]
    """The locks of the heap that the core has."""
    interrupts: Annotated[int, Field(ge=1, le=240)]
    """So many vectors follow the core's own."""
    pyocd_target: str = ""
    """What pyOCD calls the chip."""
    virtual_chip: str = ""
    """What the virtual board calls it (`--chip`)."""
    memory: Memory
    timers: Timers
    serial: Serial
    analyzer: VirtualAnalyzer
    pins: dict[str, Place]

    @model_validator(mode="after")
    def _fits_together(self) -> _BoardTable:
        for wrong in self._complaints():
            raise wrong
        return self

    def _complaints(self) -> Iterator[WrongValueError]:
        """What the core cannot, what the family may lack, how channels and pins differ."""
        core, timers = self.core, self.timers
        if core not in _WITHOUT_BASEPRI:
            if timers.counter:
                yield WrongValueError(f"is not needed: a {core} counts its cycles", "timers", "counter")
            if timers.control is None:
                yield WrongValueError("is missing", "timers", "control", remedy="add it")
        else:
            if "basepri" in self.locks:
                yield WrongValueError(f"must not have basepri: a {core} has no such mask", "locks")
            if timers.control:
                words = f"must be left out: every lock of a {core} masks all interrupts or none"
                yield WrongValueError(words, "timers", "control")
            if timers.counter is None:
                words = f"is missing: a {core} does not count its cycles"
                yield WrongValueError(words, "timers", "counter", remedy="name a timer of 32 bits")
        for role, timer in timers:
            if timer and timer.timer in tree_of(self.family).family.lacks:
                words = f"is {timer.timer}, which a chip of {self.family} may lack"
                yield WrongValueError(words, "timers", role, "timer", remedy="choose another")
        if set(self.pins) != set(CHANNELS):
            yield WrongValueError(f"must name each of {', '.join(CHANNELS)} once, and nothing else", "pins")
        used = {self.serial.pin: "the serial line's"}
        for channel, place in self.pins.items():
            if place.pin in used:
                yield WrongValueError(f"is {used[place.pin]} too", "pins", channel, "pin")
            used[place.pin] = f"{channel}'s"


class _File(_BoardTable):
    """The whole file. The keys of the clock tree are the family's."""

    clock: dict[str, object]
    """The keys of the family's clock tree."""


class Board(_BoardTable):
    """A board's table, by its name, which is its folder's."""

    name: str
    folder: Path
    clock: ClockTree

    @property
    def core_hz(self) -> int:
        """The clock of the core and of the timers, as the firmware sets it."""
        return self.clock.core_hz

    @property
    def apb1_hz(self) -> int:
        """The clock that the serial line divides."""
        return self.core_hz // self.clock.apb1_divider

    @property
    def word(self) -> str:
        """The board's name: that of its folder, or the path of a folder elsewhere."""
        return self.name if self.folder == FOLDER / self.name else str(self.folder)

    def flash_acr(self, art: bool) -> int:
        """FLASH_ACR as the firmware sets it, with all that makes the flash faster or without."""
        return self.clock.wait_states | (self.clock.family.accelerator if art else 0)

    @property
    def counter(self) -> str:
        """What counts the core's cycles, as a sentence names it: DWT, or a timer."""
        return self.timers.counter.timer if self.timers.counter else "DWT"

    @property
    def witness(self) -> str:
        """The timer that the counter is held against (firmware/bench/proof.c)."""
        return (self.timers.control or self.timers.stimulus).timer

    @property
    def has_control(self) -> bool:
        """Whether an interrupt can come that the heap's default lock does not mask."""
        return self.timers.control is not None

    def default_lock(self, allowed: tuple[Locking, ...]) -> Locking:
        """The first lock of `allowed` that the core has; the first of all where it has none."""
        return next((lock for lock in allowed if lock in self.locks), allowed[0])

    def lock_refused(self, locking: str) -> str | None:
        """Why the heap cannot be locked so on this core, in one sentence; None if it can."""
        if locking in self.locks:
            return None
        return f"The core of {self.name} has no {locking} lock: choose {' or '.join(self.locks)}."

    @property
    def virtual_options(self) -> tuple[str, ...]:
        """What the simulator is told of chip and clock. Raises BoardError where it has none."""
        return (*self.virtual_chip_options, *self.hse_options(self.clock.at_osc_in))

    def hse_options(self, at_osc_in: AtOscIn) -> tuple[str, ...]:
        """What the simulator is told where this is at OSC_IN, and not the ST-Link's clock."""
        crystal = ("--hse", str(self.clock.hse_hz))
        return {"clock": (), "crystal": crystal, "nothing": ("--hse", "none")}[at_osc_in]

    @property
    def virtual_chip_options(self) -> tuple[str, ...]:
        """What the simulator is told of the chip. Raises BoardError where it has none."""
        if not self.virtual_chip:
            raise BoardError(
                f"{self.name} names no virtual_chip, so it cannot be simulated: add what "
                "`virtual-nucleo --chip` calls the chip, or use a real board."
            )
        return () if self.name == DEFAULT else ("--chip", self.virtual_chip)


def names() -> list[str]:
    """The boards that come with the bench, the default first."""
    folders = (path.parent.name for path in FOLDER.glob(f"*/{TABLE}"))
    return sorted(folders, key=lambda name: (name != DEFAULT, name))


def default() -> Board:
    """The board of a command that names none."""
    return board(DEFAULT)


def board_of(firmware: AskedFirmware | None) -> Board:
    """The board that a run was made on; that of runs where nobody knows. Raises BoardError.

    A run may be a stranger's: a folder that it names is opened only if this user named it before.
    """
    if firmware is None:
        return default()
    if "/" in firmware.board and not _note_of(Path(firmware.board)).is_file():
        raise BoardError(
            f"The run was made on a board of the folder {firmware.board}, which nobody named here: if it is "
            "yours, run a scenario on it once, with --board virtual:FOLDER, or have bench.toml name it."
        )
    return board(firmware.board)


def named(word: str) -> Board:
    """As board(), of a word that the user says: a folder that is named so may be opened again where
    a run names it.
    """
    on = board(word)
    if "/" in word:
        with suppress(OSError, WriteError):
            write_bytes(_note_of(on.folder), os.fsencode(on.folder))
    return on


def _note_of(folder: Path) -> Path:
    return _NAMED / sha256(os.fsencode(folder)).hexdigest()


def nominal_hz(firmware: AskedFirmware | None) -> int:
    """The core's clock of a run whose firmware does not tell it. Raises BoardError."""
    return (firmware.core_hz if firmware else None) or board_of(firmware).core_hz


def board(word: str) -> Board:
    """The board of this name, or whose folder has this path. Raises BoardError."""
    is_path = "/" in word
    folder = Path(word).resolve() if is_path else FOLDER / word
    if not (folder / TABLE).is_file():
        if is_path:
            raise BoardError(f"{word} has no {TABLE}: name a board's folder (docs/boards/README.md).")
        raise BoardError(
            f"There is no board {word!r}: choose one of {', '.join(names())}, or the path of a "
            f"folder with a {TABLE}.{near_miss(word, names())}"
        )
    return _read(folder)


@cache
def _read(folder: Path) -> Board:
    if not _NAME.fullmatch(folder.name):
        raise BoardError(
            f"{folder}: a board is called as its folder is; name it in small letters, digits and dashes."
        )
    document: Document = open_toml(folder / TABLE, BoardError)
    tables = document.check(_File)
    clock = document.check(tree_of(tables.family), "clock")
    return Board.model_construct(name=folder.name, folder=folder, **{**dict(tables), "clock": clock})
