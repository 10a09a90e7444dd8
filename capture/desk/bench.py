"""bench.toml: which boards stand on the bench, and what loads, hears and watches each of them."""

from __future__ import annotations

import difflib
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from capture.files.errors import CaptureError
from capture.run_folder.edges import CHANNELS

BENCH_FILE = Path(__file__).resolve().parents[2] / "bench.toml"

# Where every loader puts the operation image: the last 256 KiB of the flash (docs/SPEC.md, section 3).
IMAGE_ADDRESS = 0x0804_0000

LOADERS = {"virtual-nucleo": {"kind"}, "pyocd": {"kind", "target", "probe"}}
VIRTUAL_PORTS = ("pty", "tcp")


@dataclass(frozen=True)
class LoaderResource:
    """What brings the firmware onto the board: `kind` of LOADERS; target and probe are pyOCD's."""

    kind: str
    target: str = ""
    probe: str = ""


@dataclass(frozen=True)
class AnalyzerResource:
    """A sigrok driver and how to reach its device; `channels` maps our names to the device's."""

    driver: str
    samplerate_hz: int
    connection: str = ""
    channels: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class BoardResource:
    """One entry of bench.toml. `serial_port` is a port or URL of pySerial; for a virtual board pty or tcp."""

    name: str
    loader: LoaderResource
    serial_port: str
    analyzer: AnalyzerResource


@dataclass(frozen=True)
class Bench:
    """All boards by name, and which one is taken when none is asked for."""

    default: str
    boards: Mapping[str, BoardResource]

    def board(self, name: str | None = None) -> BoardResource:
        """The board called `name`, or the default. Raises CaptureError with the names there are."""
        name = name or self.default
        if name not in self.boards:
            near = difflib.get_close_matches(name, self.boards, n=1)
            hint = f" Did you mean {near[0]}?" if near else ""
            raise CaptureError(f"bench.toml has no board {name!r}; it has {', '.join(self.boards)}.{hint}")
        return self.boards[name]


def read_bench(path: Path = BENCH_FILE) -> Bench:
    """Reads and checks bench.toml. Raises CaptureError with one sentence that names the entry."""
    try:
        with path.open("rb") as file:
            content = tomllib.load(file)
    except FileNotFoundError:
        raise CaptureError(f"{path} does not exist; restore it, it says which boards there are.") from None
    except (OSError, tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise CaptureError(f"{path} cannot be read: {error}; mend it.") from None
    return _bench(content)


def _bench(content: dict[str, Any]) -> Bench:
    _only(content, {"default", "boards"}, "")
    boards = {name: _board(name, entry) for name, entry in _table(content, "boards", "").items()}
    default = _word(content, "default", "")
    if default not in boards:
        raise CaptureError(
            f"bench.toml: default = {default!r} is none of its boards: {', '.join(boards) or 'none'}."
        )
    return Bench(default, boards)


def _board(name: str, entry: object) -> BoardResource:
    where = f"boards.{name}"
    if not isinstance(entry, dict):
        raise CaptureError(f"bench.toml: {where} is not a table.")
    _only(entry, {"loader", "serial", "analyzer"}, where)
    loader = _loader(_table(entry, "loader", where), f"{where}.loader")
    serial = _table(entry, "serial", where)
    _only(serial, {"port"}, f"{where}.serial")
    port = _word(serial, "port", f"{where}.serial")
    if loader.kind == "virtual-nucleo" and port not in VIRTUAL_PORTS:
        raise CaptureError(f"bench.toml: {where}.serial.port = {port!r}: a virtual board has pty or tcp.")
    return BoardResource(name, loader, port, _analyzer(_table(entry, "analyzer", where), f"{where}.analyzer"))


def _loader(entry: dict[str, Any], where: str) -> LoaderResource:
    kind = _word(entry, "kind", where)
    if kind not in LOADERS:
        raise CaptureError(
            f"bench.toml: {where}.kind = {kind!r} is unknown; choose from {', '.join(LOADERS)}."
        )
    _only(entry, LOADERS[kind], where)
    if kind == "virtual-nucleo":
        return LoaderResource(kind)
    return LoaderResource(kind, _word(entry, "target", where), _word(entry, "probe", where, default=""))


def _analyzer(entry: dict[str, Any], where: str) -> AnalyzerResource:
    _only(entry, {"driver", "connection", "samplerate_hz", "channels"}, where)
    samplerate_hz = entry.get("samplerate_hz")
    if type(samplerate_hz) is not int or samplerate_hz <= 0:
        raise CaptureError(
            f"bench.toml: {where}.samplerate_hz must be a positive whole number of samples per second."
        )
    channels = _table(entry, "channels", where) if "channels" in entry else {}
    if channels:
        _check_channels(channels, f"{where}.channels")
    driver, connection = _word(entry, "driver", where), _word(entry, "connection", where, default="")
    return AnalyzerResource(driver, samplerate_hz, connection, channels)


def _check_channels(channels: dict[str, Any], where: str) -> None:
    if set(channels) != set(CHANNELS):
        raise CaptureError(
            f"bench.toml: {where} must name each of {', '.join(CHANNELS)} once, and nothing else."
        )
    for channel in channels:
        _word(channels, channel, where)
    if len(set(channels.values())) != len(channels):
        raise CaptureError(f"bench.toml: {where} gives two of our channels the same input of the analyzer.")


def _table(entry: dict[str, Any], key: str, where: str) -> dict[str, Any]:
    found = entry.get(key)
    if not isinstance(found, dict) or not found:
        raise CaptureError(f"bench.toml: the table {_path(where, key)} is missing or empty.")
    return found


def _word(entry: dict[str, Any], key: str, where: str, default: str | None = None) -> str:
    found = entry.get(key, default)
    if not isinstance(found, str) or (not found and default is None):
        raise CaptureError(f"bench.toml: {_path(where, key)} must be a word in quotes.")
    return found


def _only(entry: dict[str, Any], known: Iterable[str], where: str) -> None:
    unknown = sorted(set(entry) - set(known))
    if unknown:
        keys = ", ".join(sorted(known))
        raise CaptureError(f"bench.toml: {_path(where, unknown[0])} is unknown; the keys here are {keys}.")


def _path(where: str, key: str) -> str:
    return f"{where}.{key}" if where else key
