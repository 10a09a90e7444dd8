"""What the tools said of the desk; nothing is judged yet."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Analyzer:
    """A line of `sigrok-cli --scan`. `connection` is its conn=, None where the driver has none."""

    driver: str
    connection: str | None
    title: str
    inputs: tuple[str, ...]


@dataclass(frozen=True)
class Probe:
    """A debug probe that pyOCD lists.

    Of an ST-Link `firmware` is its version, such as V2J37M26, and `fault` why pyOCD cannot use it.
    """

    unique_id: str
    title: str
    firmware: str | None = None
    fault: str | None = None


@dataclass(frozen=True)
class Port:
    """A serial port that pySerial lists. `usb_id` is as in 0483:374b; None if it is not on USB.

    `group` is whose members may use it, None where this program may. `no_modem` is whether udev
    tells ModemManager to leave it alone.
    """

    device: str
    usb_id: str | None
    serial_number: str | None
    title: str
    group: str | None = None
    no_modem: bool = False


@dataclass(frozen=True)
class UsbDevice:
    """A device that the kernel lists, whether or not anybody may open its `node`."""

    usb_id: str
    manufacturer: str
    product: str
    node: str
    accessible: bool


@dataclass(frozen=True)
class Facts:
    """All of it.

    `analyzers` are those of the board's driver, `chosen` those of them that bench.toml's connection
    means. `serial_port` is the device behind the port of bench.toml, links followed. `firmware` are
    the files of libsigrok's `firmware_folders`. `groups` are those that the user database has this
    user in, whether or not this session knows. `modem_manager` is whether a ModemManager runs, and
    `rules` what stands in the installed file of udev rules, "" where there is none. `loader`
    is the version of the board's loader, "" where pyOCD loads it. A fault is a sentence on a tool
    that failed. What it would have told is missing.
    """

    analyzers: tuple[Analyzer, ...] = ()
    chosen: tuple[Analyzer, ...] = ()
    probes: tuple[Probe, ...] = ()
    ports: tuple[Port, ...] = ()
    usb: tuple[UsbDevice, ...] = ()
    serial_port: str = ""
    firmware: frozenset[str] = frozenset()
    firmware_folders: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    modem_manager: bool = False
    rules: str = ""
    loader: str = ""
    loader_fault: str = ""
    scan_fault: str = ""
    host_fault: str = ""
