"""What is asked of a run, how long it can take, and where its observation comes from.

A run is a request handed to a source. capture/conduct.py keeps, judges and stores what comes back
in the same way, whatever the source was."""

from __future__ import annotations

import platform
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from typing import NamedTuple, Protocol

import polars as pl

from base.files.errors import CaptureError
from base.run_folder.folder import RunName
from base.run_folder.manifest import AllocatorFootprint, AskedFirmware, Imported, Outside, SectionBound
from base.run_folder.observed import Asked
from base.run_folder.records import Boot, RecordLog
from base.run_folder.tables import Memory
from capture.acquisition.live import Request, Watch
from capture.acquisition.observe import Observation, Order
from capture.desk.bench import BoardResource, read_bench
from capture.reading.wire import END_FRAME_TICKS, FRAME_EDGES, START_FRAME_TICKS
from firmware.build import catalogue, cmake_build, footprint
from firmware.build.footprint import FootprintError
from firmware.build.image import FirmwareImage
from scenarios.operations import DEFAULT_BAUD
from scenarios.plan import Plan
from scenarios.stimulus import CONTROL_CYCLES

BITS_PER_BYTE = 10  # 8N1

# Reset to the first record: clocks, the region's initialisation, the proof of DWT at both ends.
BOOT_S = 0.020
# Two frames, the silence before the end frame.
FRAME_TICKS = (FRAME_EDGES - 1) * (START_FRAME_TICKS + END_FRAME_TICKS)
SILENCE_S = 50e-6
# At either end 32 sections, 8 common pulses, and one whole
# tick of 1 ms; another may pass before it.
CALIBRATION_S = 2 * (40 * 10e-6 + 2 * 1e-3)
# Lines before and after the operations: BOOT, PROOF, PLAN,
# STILL, STAT, HEAP, END; and twice 32 CAL, 3 COST and TICK.
FRAMING_BYTES = 7 * 128 + 2 * (32 * len("@CAL,CRIT,31,9999,4294967295*XXXX\n") + 4 * 64)
MARK_BYTES = len("@MARK,65535*XXXX\n")

# "@OP,", kind, seven commas, "*XXXX\n" and the fields whose size does not depend on the plan:
# cycles (twice seven digits), probes (five), live blocks (four), bytes in use (five).
OPERATION_FIXED_BYTES = 4 + 1 + 7 + 6 + 7 + 7 + 5 + 4 + 5
# The record of an operation that was met by an interrupt of each kind: "@IRQ,", six commas,
# "*XXXX\n", and three times a number of answers and their ticks (five digits).
ANSWERS_FIXED_BYTES = 5 + 6 + 6 + 3 * (1 + 5)
# A free-list walk took 12 to 25 cycles per block on this core, flash accelerator off included.
SEARCH_CYCLES_PER_BLOCK = 40
OPERATION_CYCLES = 5_000
# One interrupt with its context switches to the woken task and back.
STIMULUS_CYCLES = 900

MARGIN = 1.15


def longest_s(plan: Plan, core_hz: int) -> float:
    """Seconds after reset by which `plan` has run on such a core, and the calibration after it."""
    operations, stimulus = plan.operations, plan.stimulus
    # A swept operation is met by an interrupt. Where nothing aims few are, and their records fit
    # into what the bound of the search leaves over.
    met = operations.filter(pl.col("offset") > 0)
    digits = sum(
        int(column.cast(pl.String).str.len_bytes().sum())
        for column in (operations["seq"], operations["size"], met["seq"])
    )
    record_bytes = OPERATION_FIXED_BYTES * operations.height + ANSWERS_FIXED_BYTES * met.height + digits
    # An operation waits for its phase of the stimulus, a period at most, or for a swept edge. No
    # search looks at more blocks than were ever allocated before it, plus the one left over.
    waiting = stimulus.period_ticks if stimulus.mode in ("periodic", "burst") else 0
    each = OPERATION_CYCLES + waiting + SEARCH_CYCLES_PER_BLOCK * (operations["id"].n_unique() + 1)
    cycles = operations.height * each + int(operations["offset"].sum())
    # The part of the processor that the interrupts leave is never less than a tenth.
    taken = STIMULUS_CYCLES / stimulus.shortest_ticks if stimulus.shortest_ticks else 0.0
    if stimulus.control_period_ticks:
        taken += CONTROL_CYCLES / stimulus.control_period_ticks
    marks = operations["label"].rle_id().n_unique()
    bytes_per_s = plan.baud / BITS_PER_BYTE
    lines_s = (FRAMING_BYTES + marks * MARK_BYTES) / bytes_per_s
    frames_s = FRAME_TICKS / core_hz + SILENCE_S
    operations_s = record_bytes / bytes_per_s + cycles / core_hz
    return MARGIN * (BOOT_S + frames_s + CALIBRATION_S + lines_s + operations_s) / max(1 - taken, 0.1)


# What is asked of a run, and where its observation comes from.


@dataclass(frozen=True)
class RunRequest(Request):
    """A run of `plan` on the firmware `image`. All defaults stand here.

    `board` is an entry of bench.toml or the path of a board's TOML file; None is the default.
    None as samplerate is that of the board's analyzer, and as duration in seconds what the plan
    takes at most. `records` is what carries the records: uart or rtt. `baud` is the serial line's
    rate, bench.toml's where it is None. `bounds` tells the most that the image's critical sections
    can take, `memory` where the blocks lay. `options` are words for the folder's name.
    """

    plan: Plan
    image: FirmwareImage
    board: str | None = None
    samplerate_hz: int | None = None
    duration_s: float | None = None
    records: str = "uart"
    baud: int | None = None
    bounds: Callable[[FirmwareImage, Boot], Mapping[str, SectionBound]] = lambda _image, _boot: {}
    memory: Callable[[FirmwareImage, Plan, RecordLog], Memory | None] = lambda _image, _plan, _log: None
    options: tuple[str, ...] = ()
    ignore_glitches: bool = False
    """Whether pulses that are too short to be the firmware's are left out."""

    @cached_property
    def resource(self) -> BoardResource:
        """The board. Raises CaptureError where there is none of this name."""
        return read_bench().board(self.board)

    @cached_property
    def planned(self) -> Plan:
        """The plan, for the records that are asked for, and with what the board has."""
        board = self.resource
        baud = (self.baud or board.baud) if self.records == "uart" else DEFAULT_BAUD
        plan = self.plan if board.board.has_control else self.plan.without_control()
        return plan.recorded_by(self.records, baud, board.loader.clock)

    @property
    def name(self) -> RunName:
        """What its folder is called by."""
        return RunName(self.plan.name, self.image.allocator, self.resource.name, self.options)

    def order(self) -> Order:
        """What to capture.

        Raises CaptureError for a samplerate that the analyzer does not have, and for an image that
        was made for another board.
        """
        analyzer, here = self.resource.analyzer, self.resource.board
        made_for = self.image.configuration.board.word
        if made_for != here.word:
            raise CaptureError(
                f"The image is for {made_for}, and {self.resource.name!r} is a {here.title}: build it for "
                f"{here.name}, or name another --board."
            )
        rate_hz, duration_s = self.samplerate_hz, self.duration_s
        if rate_hz is None:
            rate_hz = analyzer.samplerate_hz
        if duration_s is None:
            duration_s = longest_s(self.planned, self.image.configuration.board.core_hz)
        analyzer.check_rate(rate_hz)
        return Order(
            analyzer,
            None,
            rate_hz,
            round(rate_hz * duration_s),
            elf=self.image.elf,
            image=self.planned.image,
            records=self.records,
            baud=self.planned.baud,
        )

    def account(self, analyzer: str, tools: Mapping[str, str]) -> Account:
        """What is known of the run that `analyzer` captures with these tools, those beside compiler
        and Python. An image whose footprint cannot be read has none, and a warning that says why.
        """
        taken: AllocatorFootprint | None = None
        notes: tuple[str, ...] = ()
        try:
            measured = footprint.of_image(self.image)
            taken = AllocatorFootprint(
                flash_bytes=measured.flash,
                static_ram_bytes=measured.static_ram,
                heap_overhead_bytes=measured.heap_overhead,
                block_overhead_bytes=measured.block_overhead,
                smallest_block_bytes=measured.smallest_block,
            )
        except FootprintError as error:
            notes = (str(error),)
        return Account(
            allocator=self.image.allocator,
            board=self.resource.name,
            analyzer=analyzer,
            elf_sha256=self.image.sha256,
            footprint=taken,
            tools={
                **tools,
                "compiler": cmake_build.of_image(self.image.elf),
                "python": platform.python_version(),
            },
            notes=notes,
            ignore_glitches=self.ignore_glitches,
            plan=self.planned,
            asked=asked_of(self.image),
            bounds_of=partial(self.bounds, self.image),
            memory_of=partial(self.memory, self.image, self.planned),
        )


class Taken(NamedTuple):
    """A run of operations that was observed: what is known of it, and what came."""

    account: Account
    seen: Observation


class Opened(NamedTuple):
    """A run that may begin: what is known of it, and how it is observed.

    `account` is what was asked where the run is from the wire alone. `observe` takes the run's
    folder, which it may write to meanwhile, and who watches; it raises TailscopeError where nothing
    could be observed, and signals.Stopped.
    """

    account: Account | Asked
    observe: Callable[[Path, Watch], Observation]


class Source(Protocol):
    """Where the observation of a new run comes from, and what is known of that run.

    A run that is stored already is read instead (capture/acquisition/stored.py): nothing of it has
    to be started, and its folder is there. All that follows is the same.
    """

    @property
    def request(self) -> Request:
        """What is asked."""

    @property
    def name(self) -> RunName:
        """What the run's folder is called by. Raises CaptureError where there is no such board."""

    @property
    def copied(self) -> bool:
        """Whether the folder gets a copy of the capture for PulseView at once."""

    def check(self) -> None:
        """Raises TailscopeError for what cannot be observed so, before anything is started."""

    def open(self) -> AbstractContextManager[Opened]:
        """Starts what the observation takes, and ends it again. Writes nothing.

        Raises TailscopeError.
        """


# What is known of a run of operations beside what was observed of it.


@dataclass(frozen=True)
class Setting:
    """What only the bench knows: names as in bench.toml, the firmware's digest, the tools."""

    allocator: str
    board: str
    analyzer: str
    elf_sha256: str
    tools: Mapping[str, str] = field(default_factory=dict)
    bounds: Mapping[str, SectionBound] = field(default_factory=dict)
    """Of the critical sections, from the machine code. Empty where nobody asked for them."""
    memory: Memory | None = None
    """Where the blocks lay. None where nobody asked."""
    footprint: AllocatorFootprint | None = None
    """What the allocator takes of flash and RAM. None where nobody measured it."""
    imported: Imported | None = None
    """The file of another tool that the capture is from."""
    notes: tuple[str, ...] = ()
    """Warnings on what was stored: sentences."""
    ignore_glitches: bool = False
    """Whether pulses that are too short to be the firmware's are left out."""


@dataclass(frozen=True, kw_only=True)
class Account(Setting):
    """All that is known: the plan, the firmware that was asked for, and the bench's own knowledge.

    `bounds_of` and `memory_of` find what only the run's records make known; None where it is known
    already, or nobody asked.
    """

    plan: Plan
    asked: AskedFirmware
    bounds_of: Callable[[Boot], Mapping[str, SectionBound]] | None = None
    memory_of: Callable[[RecordLog], Memory | None] | None = None


def asked_of(image: FirmwareImage) -> AskedFirmware:
    """What the firmware must say of itself."""
    built = image.configuration
    return AskedFirmware(
        allocator=image.allocator,
        heap_bytes=built.heap_bytes,
        core_hz=built.board.core_hz,
        kernel=image.kernel,
        flash_acr=f"{built.flash_acr:08X}",
        locking=built.locking,
        knobs=dict(built.knobs),
        outside=outside_of(image.allocator),
        board=built.board.word,
        optimization=built.optimization,
    )


def outside_of(allocator: str) -> Outside | None:
    """What a run keeps of an allocator's file and table; None of one of the catalogue."""
    row = catalogue.allocators()[allocator]
    source = row.source
    if source is None:
        return None
    return Outside(
        file=str(source.file),
        format=source.format,
        sha256=source.sha256,
        promises=sorted(row.promises),
        knobs=dict(row.knobs),
        searches=row.search != (),
    )
