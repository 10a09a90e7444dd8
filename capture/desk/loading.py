"""What a way to load a board is, and which there are: the files of the folder `loaders`.

A file is called as its kind is in bench.toml (`probe_rs.py` is `probe-rs`) and has a `WAY`.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Protocol

from base.files.complaints import WrongValueError, quoted
from base.files.errors import CaptureError

LOADERS = Path(__file__).with_name("loaders")


@dataclass(frozen=True)
class Settings:
    """What bench.toml says of a loader; each way gives the words its own meaning.

    `target` is the chip, `probe` the debug probe (empty: the only one connected), `interface` how
    the chip is reached, `speed_khz` the wire's clock (None: as the tool has it), `program` another
    path of the tool, `arguments` further words of its command line.
    """

    target: str = ""
    probe: str = ""
    interface: str = ""
    speed_khz: int | None = None
    program: str = ""
    arguments: tuple[str, ...] = ()


class UnreachedError(CaptureError):
    """The tool does not reach the core. With its reset held it may."""


class Connection:
    """How a tool reaches the core: as it runs, and if that fails once more with its reset held.

    `remarks` are sentences on what was done so.
    """

    def __init__(self, title: str) -> None:
        self._title = title
        self.remarks: tuple[str, ...] = ()

    def use(self, call: Callable[[bool], None]) -> None:
        """`call` with whether the reset is to be held. Raises what it raises."""
        try:
            call(False)
        except UnreachedError as error:
            try:
                call(True)
            except UnreachedError:
                raise CaptureError(
                    f"{str(error).removesuffix('.')}. Holding its reset did not help: check that the "
                    "probe's NRST is wired, or put BOOT0 high (CN7-7 to CN7-5) and press the black button, "
                    "so that nothing of the flash runs."
                ) from None
            self.tell()

    def tell(self) -> None:
        """Notes that the reset was held."""
        self.remarks = (
            f"{self._title} reached the board only with its reset held: what ran there slept without "
            "DBG_SLEEP in DBGMCU_CR, or had taken the pins of SWD.",
        )


class Programmer(Protocol):
    """The tool behind one board. Methods raise CaptureError, with the tool's own reason."""

    @property
    def connection(self) -> Connection:
        """How the board was reached."""

    def load(self, elf: Path, image: bytes) -> None:
        """Flashes both, and compares what is there; the board is held, or runs unheard.

        An empty image is none.
        """

    def reset(self) -> None:
        """Lets the firmware run from reset, by the reset pin where the tool has it."""

    def tools(self) -> Mapping[str, str]:
        """Name and version of the tool."""


@dataclass(frozen=True)
class Words:
    """What a key of bench.toml may say: all that `pattern` matches, which `what` describes."""

    pattern: re.Pattern[str]
    what: str


@dataclass(frozen=True)
class Way:
    """A way to load a board.

    `title` is the tool's name in sentences, `program` its command (empty: no program), `get` says
    how to come by it. `open` makes its Programmer. `keys` are the keys of bench.toml that it takes
    beside kind and clock, `needs` those it cannot do without, with what to do. `words` restricts
    what a key says. `serial_number` takes that of the probe from what bench.toml calls it;
    `address` makes what bench.toml calls it of the USB ids of vendor and product, and that number.
    `has_rtt` is whether records can come through its probe while the board runs. `lets_go`: when
    it leaves, behind the reset, it clears the core's debug registers, and with them TRCENA.
    """

    title: str
    program: str
    get: str
    open: Callable[[Settings], Programmer]
    keys: frozenset[str]
    needs: Mapping[str, str]
    words: Mapping[str, Words] = field(default_factory=dict)
    serial_number: Callable[[str], str] = str
    address: Callable[[int, int, str], str] = lambda _vendor, _product, serial: serial
    has_rtt: bool = False
    lets_go: bool = False

    def check(self, given: Iterable[str], settings: Settings, kind: str) -> None:
        """Raises WrongValueError for keys that it does not have, or needs, or cannot understand."""
        for key in sorted(set(given) - self.keys):
            raise WrongValueError(f"means nothing to a loader of kind {kind}", key, remedy="drop it")
        for key, remedy in self.needs.items():
            if not getattr(settings, key):
                raise WrongValueError("is missing", key, remedy=remedy)
        for key, words in self.words.items():
            value = str(getattr(settings, key))
            if value and not words.pattern.fullmatch(value):
                raise WrongValueError(f"must be {words.what}, not {quoted(value)}", key)


@cache
def ways() -> Mapping[str, Way]:
    """All of them by their kind, in the order of their names; pyOCD, the default, is first."""
    names = sorted(
        (file.stem for file in LOADERS.glob("[a-z]*.py")), key=lambda stem: (stem != "pyocd", stem)
    )
    return {stem.replace("_", "-"): _way(stem) for stem in names}


def _way(stem: str) -> Way:
    loader = importlib.import_module(f"capture.desk.loaders.{stem}").WAY
    assert isinstance(loader, Way)
    return loader


def check_records(kind: str, records: str) -> None:
    """Raises CaptureError for records by rtt where the board's loader cannot read them."""
    way = ways()[kind]
    if records == "rtt" and not way.has_rtt:
        raise CaptureError(
            f"Records by rtt are read by pyOCD, and this board's loader is {way.title}: "
            'leave them at uart, or give the board a loader of kind = "pyocd".'
        )
