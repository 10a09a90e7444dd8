"""What the tools say of a desk, and who may use its devices: the bench's own udev rules, groups,
ModemManager. And a program that prints probes, serial ports and USB devices as one line of JSON:
`python -m capture.checks.host`.

A process of its own, because a probe that hangs would take the asking program with it.
"""

from __future__ import annotations

import grp
import json
import logging
import os
import pwd
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path


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


RULES = Path(__file__).with_name("60-tailscope.rules")
"""A line for each probe of ST and each analyzer with a preset."""
INSTALLED_RULES = Path("/etc/udev/rules.d") / RULES.name
"""Before 73-seat-late.rules of systemd, which acts on the tag `uaccess`."""
GROUP = "plugdev"
SYSFS = Path("/sys/bus/usb/devices")
NODES = Path("/dev/bus/usb")
_UDEV_DATA = Path("/run/udev/data")
"""udev's own files of what it knows of a device, by kind and number of its node (systemd,
libsystemd/sd-device)."""


def read(file: Path) -> str:
    """What stands in it, without blanks at its ends; "" where there is none, or none any more."""
    try:
        return file.read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return ""


def groups() -> tuple[str, ...]:
    """The groups that the user database has this user in, sorted.

    A session has those of its login, which may be fewer.
    """
    try:
        name = pwd.getpwuid(os.getuid()).pw_name
    except KeyError:
        return ()
    return tuple(sorted(group.gr_name for group in grp.getgrall() if name in group.gr_mem))


def main() -> None:
    """Everything that can be found without opening an analyzer."""
    listing = {
        "probes": [asdict(probe) for probe in _probes()],
        "ports": [asdict(port) for port in _ports()],
        "usb": [asdict(device) for device in usb_devices()],
    }
    print(json.dumps(listing))


def _probes() -> Iterator[Probe]:
    """Only an open ST-Link tells the version of its firmware."""
    from pyocd.core.exceptions import Error
    from pyocd.core.helpers import ConnectHelper
    from pyocd.probe.stlink.stlink import STLink
    from pyocd.probe.stlink.usb import STLinkUSBInterface

    logging.getLogger("pyocd").setLevel(logging.CRITICAL)
    links = {}
    for device in STLinkUSBInterface.get_all_connected_devices():
        link, fault = STLink(device), None
        try:
            link.open()
            link.close()
        except (Error, OSError) as error:
            fault = str(error)
        title = f"{device.vendor_name} {device.product_name}"
        links[device.serial_number] = Probe(device.serial_number, title, link.version_str, fault)
    for probe in ConnectHelper.get_all_connected_probes(blocking=False):
        title = f"{probe.vendor_name} {probe.product_name}"
        yield links.get(probe.unique_id, Probe(probe.unique_id, title))


def _ports() -> Iterator[Port]:
    from serial.tools import list_ports

    for port in list_ports.comports():
        group, rule = None, ""
        with suppress(OSError):
            node = Path(port.device).stat()
            rule = read(_UDEV_DATA / f"c{os.major(node.st_rdev)}:{os.minor(node.st_rdev)}")
        if not os.access(port.device, os.R_OK | os.W_OK):
            group = "?"
            with suppress(OSError, KeyError):
                group = grp.getgrgid(Path(port.device).stat().st_gid).gr_name
        yield Port(
            device=port.device,
            usb_id=None if port.vid is None or port.pid is None else f"{port.vid:04x}:{port.pid:04x}",
            serial_number=port.serial_number,
            title=port.product or port.description or "",
            group=group,
            no_modem="E:ID_MM_DEVICE_IGNORE=1" in rule.splitlines(),
        )


def usb_devices(sysfs: Path = SYSFS, nodes: Path = NODES) -> Iterator[UsbDevice]:
    """Every device that the kernel lists, in the order of its bus and number."""
    for vendor in sorted(sysfs.glob("*/idVendor")):
        folder = vendor.parent
        node = nodes / read(folder / "busnum").zfill(3) / read(folder / "devnum").zfill(3)
        yield UsbDevice(
            usb_id=f"{read(vendor)}:{read(folder / 'idProduct')}".lower(),
            manufacturer=read(folder / "manufacturer"),
            product=read(folder / "product"),
            node=str(node),
            accessible=os.access(node, os.R_OK | os.W_OK),
        )


if __name__ == "__main__":
    main()
