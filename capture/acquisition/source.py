"""What is asked of a run, and where its observation comes from.

A run is a request handed to a source. capture/conduct.py keeps, judges and stores what comes back
in the same way, whatever the source was.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from typing import NamedTuple, Protocol

from base.files.errors import CaptureError
from base.paths import RUNS
from base.run_folder.folder import RunName
from base.run_folder.manifest import SectionBound
from base.run_folder.memory import Memory
from base.run_folder.observed import Asked
from base.run_folder.records import Boot, RecordLog
from base.tell import Tell
from capture.acquisition.account import Account, asked_of, setting_of
from capture.acquisition.duration import longest_s
from capture.acquisition.live import ALONE, Live, Part, Watch, Wire
from capture.acquisition.observe import Observation, Order
from capture.desk.bench import BoardResource, read_bench
from capture.reading.glitches import check_can_be_told
from firmware.build.image import FirmwareImage
from scenarios.operations import DEFAULT_BAUD
from scenarios.plan import Plan

MemoryOf = Callable[[FirmwareImage, Plan, RecordLog], Memory | None]
BoundsOf = Callable[[FirmwareImage, Boot], Mapping[str, SectionBound]]


@dataclass(frozen=True, kw_only=True)
class Request:
    """What is asked of every new run: where its folder is made, and who hears of it meanwhile.

    `progress` is told in a few words what is going on, and `live` a few times a second what came so
    far; `wire` gets the edges as they come. `part` is what the run is of its command.
    """

    runs: Path = RUNS
    progress: Tell = lambda _step: None
    live: Live = lambda _so_far: None
    wire: Wire | None = None
    part: Part = ALONE


@dataclass(frozen=True)
class RunRequest(Request):
    """A run of `plan` on the firmware `image`. All defaults stand here.

    `board` is an entry of bench.toml or the path of a board's TOML file; None is the default.
    None as samplerate is that of the board's analyzer, and as duration in seconds what the plan
    takes at most. `records` is what carries the records: uart or rtt. `baud` is the serial line's
    rate, bench.toml's where it is None. `bounds` tells the most that the image's critical sections
    can take, `memory` where the blocks lay. `options` are words for the folder's name.
    `ignore_glitches` leaves out pulses that are too short to be the firmware's.
    """

    plan: Plan
    image: FirmwareImage
    board: str | None = None
    samplerate_hz: int | None = None
    duration_s: float | None = None
    records: str = "uart"
    baud: int | None = None
    bounds: BoundsOf = lambda _image, _boot: {}
    memory: MemoryOf = lambda _image, _plan, _log: None
    options: tuple[str, ...] = ()
    ignore_glitches: bool = False

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
        way = board.loader.way
        leaves = self.records == "uart" and way is not None and way.lets_go
        return plan.recorded_by(self.records, baud, board.clock, leaves)

    @property
    def name(self) -> RunName:
        """What its folder is called by."""
        return RunName(self.plan.name, self.image.allocator, self.resource.name, self.options)

    def order(self) -> Order:
        """What to capture.

        Raises CaptureError for a samplerate that the analyzer does not have, or at which glitches
        that are to be ignored cannot be told from pulses, and for an image that was made for
        another board.
        """
        analyzer = self.resource.analyzer
        self._check_image()
        order = Order(
            elf=self.image.elf,
            image=self.planned.image,
            analyzer=analyzer,
            samplerate_hz=analyzer.samplerate_hz if self.samplerate_hz is None else self.samplerate_hz,
            duration_s=longest_s(self.planned, self.image.configuration.core_hz)
            if self.duration_s is None
            else self.duration_s,
            records=self.records,
            baud=self.planned.baud,
        )
        analyzer.check_rate(order.samplerate_hz)
        if self.ignore_glitches:
            check_can_be_told(order.samplerate_hz, self.resource.board.core_hz)
        return order

    def _check_image(self) -> None:
        made_for, here = self.image.configuration.board, self.resource.board
        if made_for != here.word:
            raise CaptureError(
                f"The image is for {made_for}, and {self.resource.name!r} is a {here.title}: build it for "
                f"{here.name}, or name another --board."
            )

    def account(self, analyzer: str, tools: Mapping[str, str]) -> Account:
        """What is known of the run that `analyzer` captures with these tools."""
        setting = setting_of(self.image, self.resource.name, analyzer, tools)
        return Account(
            self.planned,
            asked_of(self.image),
            replace(setting, ignore_glitches=self.ignore_glitches),
            partial(self.bounds, self.image),
            partial(self.memory, self.image, self.planned),
        )


class Place(NamedTuple):
    """The run's folder, which a source may write to while it observes, and who watches it."""

    folder: Path
    watch: Watch


class Taken(NamedTuple):
    """A run of operations that was observed: what is known of it, and what came."""

    account: Account
    seen: Observation


@dataclass(frozen=True)
class Opened:
    """A run that may begin: what is known of it, and how it is observed.

    `account` is what was asked where the run is from the wire alone. `observe` raises
    TailscopeError where nothing could be observed, and signals.Stopped.
    """

    account: Account | Asked
    observe: Callable[[Place], Observation]


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
