"""What of the desk the bench would use, as the tools and the kernel tell; what keeps it from
running, and what to do about it.

Run as a program (`python -m capture.checks.devices`) it prints probes, serial ports and USB devices
as one line of JSON: a process of its own, because a probe that hangs would take the asking program
with it.
"""

from __future__ import annotations

import logging
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from base.files.errors import CaptureError
from base.paths import ROOT
from base.processes import children
from capture.acquisition.analyzers import WITHIN_S, devices, wrong_input
from capture.acquisition.saleae import Device
from capture.checks.findings import Finding
from capture.desk.bench import BoardResource
from capture.desk.presets import presets
from capture.desk.serial_ports import ST_LINKS, Port, listed, matching

LEAST_FIRMWARE = 24
"""pyOCD, probe/stlink/stlink.py: MIN_JTAG_VERSION."""
_ST_LINK_FIRMWARE = re.compile(r"V2J(\d+)")
RULES = Path(__file__).with_name("60-tailscope.rules")
"""A line for each probe of ST and each analyzer with a preset."""
_INSTALL = (
    "install the bench's udev rules (sudo install -m 644 "
    f"{RULES} /etc/udev/rules.d/{RULES.name} && sudo udevadm control --reload), see that your login is in "
    "the device's group, then replug it and log in again"
)
PROCESSES = Path("/proc")
SYSFS = Path("/sys/bus/usb/devices")


@dataclass(frozen=True)
class Probe:
    """A debug probe that pyOCD lists.

    Of an ST-Link `firmware` is its version, such as V2J37M26, and `fault` why pyOCD cannot use it.
    """

    unique_id: str
    title: str
    firmware: str = ""
    fault: str = ""


@dataclass(frozen=True)
class UsbDevice:
    """A device that the kernel lists, whether or not anybody may open its `node`."""

    usb_id: str
    node: str
    accessible: bool


@dataclass(frozen=True)
class Facts:
    """What the tools say of a desk: `analyzers` are those that bench.toml means. `modem_manager` is
    whether a ModemManager runs, which opens serial ports that are plugged in; `loader` the version
    of the board's loader. A fault is a sentence on a tool that failed: what it would have told is
    missing.
    """

    analyzers: tuple[Device, ...] = ()
    probes: tuple[Probe, ...] = ()
    ports: tuple[Port, ...] = ()
    usb: tuple[UsbDevice, ...] = ()
    modem_manager: bool = False
    loader: str = ""
    faults: tuple[tuple[str, str], ...] = ()
    """What could not be looked at, and the sentence why."""


_LISTING = TypeAdapter(Facts)


def plugged_in(board: BoardResource, facts: Facts) -> Iterator[Finding]:
    """Analyzer, loader, probe and port of this board of bench.toml."""
    for subject, fault in facts.faults:
        yield Finding(subject, "wrong", fault)
    faulty = {subject for subject, _ in facts.faults}
    if "analyzer" not in faulty:
        yield _analyzer(board, facts)
    if board.loader.way is None:
        return
    if facts.loader:
        yield Finding("loader", "right", f"{board.loader.way.title} {facts.loader}")
    if "probe" not in faulty:
        yield _probe(board, facts)
        yield _port(board, facts)


def _analyzer(board: BoardResource, facts: Facts) -> Finding:
    analyzer = board.analyzer
    listed = ", ".join(
        f"{device.connection or analyzer.driver} ({device.title})" for device in facts.analyzers
    )
    if not facts.analyzers:
        known = {usb_id: name for name, preset in presets().items() for usb_id in preset.devices}
        there = ", ".join(known[device.usb_id] for device in facts.usb if device.usb_id in known)
        words = (
            f"None of the driver {analyzer.driver} answers: plug it in, have its firmware "
            "(sigrok-firmware-fx2lafw, or as sigrok's wiki says), or name another preset in bench.toml. Of "
            f"those with a preset there is {there or 'none'}."
        )
    elif len(facts.analyzers) > 1:
        words = f"{len(facts.analyzers)} answer: write the connection of one into bench.toml: {listed}."
    elif not (words := wrong_input(analyzer, facts.analyzers[0])):
        return Finding("analyzer", "right", f"{analyzer.driver}: {listed}")
    return Finding("analyzer", "wrong", words)


def _chosen_probes(board: BoardResource, facts: Facts) -> list[Probe]:
    """Those that bench.toml means, as pyOCD finds them: by a part of their id."""
    wanted = board.loader.serial_number.lower()
    return [probe for probe in facts.probes if wanted in probe.unique_id.lower()]


def _probe(board: BoardResource, facts: Facts) -> Finding:
    chosen = _chosen_probes(board, facts)
    listed = ", ".join(f"{probe.unique_id} ({probe.title})" for probe in facts.probes) or "none"
    if len(chosen) != 1:
        return Finding(
            "probe",
            "wrong" if board.loader.kind == "pyocd" else "odd",
            f"{len(chosen) or 'None'} of the probes that pyOCD finds may be the board's, and one must be: "
            "connect it by the USB connector of its ST-Link (CN1), or write the id of one as probe into "
            f"bench.toml: {listed}.",
        )
    probe = chosen[0]
    version = _ST_LINK_FIRMWARE.match(probe.firmware)
    if version and int(version[1]) < LEAST_FIRMWARE:
        words = (
            f"Firmware {probe.firmware} is older than V2J{LEAST_FIRMWARE}, which pyOCD needs: update it with "
            "ST's STSW-LINK007."
        )
    elif probe.fault:
        words = f"pyOCD cannot open it ({probe.fault}): end what else uses it, or replug the board."
    else:
        return Finding("probe", "right", listed + (f", firmware {probe.firmware}" if probe.firmware else ""))
    return Finding("probe", "wrong", words)


def _port(board: BoardResource, facts: Facts) -> Finding:
    wanted = board.serial_port
    if "://" in wanted:
        return Finding("port", "odd", f"{wanted} is no port of this machine and was not looked at.")
    meant, probes = _meant_ports(board, facts), _chosen_probes(board, facts)
    listed = ", ".join(f"{port.device} ({port.title} {port.usb_id})" for port in facts.ports) or "none"
    if len(meant) != 1:
        return Finding(
            "port",
            "wrong",
            f"{len(meant) or 'No'} ports are {wanted}, and one must be: connect the board by USB, or write a "
            f"port or the probe's whole id into bench.toml. There is {listed}.",
        )
    port = meant[0]
    if len(probes) == 1 and port.usb_id in ST_LINKS and port.serial_number not in (None, probes[0].unique_id):
        return Finding(
            "port",
            "wrong",
            f"{port.device} is on the ST-Link {port.serial_number}, and the probe is "
            f"{probes[0].unique_id}: name port and probe of one board in bench.toml.",
        )
    return Finding("port", "right", f"{port.device}: {port.title} {port.usb_id}".rstrip())


def _meant_ports(board: BoardResource, facts: Facts) -> list[Port]:
    """Those that bench.toml means, by name or by USB id; of several the one of its probe."""
    wanted = board.serial_port.lower()
    if not wanted.startswith("usb:"):
        # Links such as those in /dev/serial/by-id are followed.
        return [port for port in facts.ports if port.device == os.path.realpath(board.serial_port)]
    return matching(wanted, board.loader.serial_number, facts.ports)


def may_use(board: BoardResource, facts: Facts) -> Iterator[Finding]:
    """What keeps this user from a device that is there: its node, its group, ModemManager."""
    known = ST_LINKS.union(*(preset.devices for preset in presets().values()))
    for device in facts.usb:
        if device.usb_id in known and not device.accessible:
            words = f"{device.usb_id} is plugged in, but {device.node} may not be used by you: {_INSTALL}."
            yield Finding("usb", "wrong", words)
    for port in _meant_ports(board, facts) if board.serial_port else []:
        if not port.accessible:
            yield Finding(
                "port",
                "wrong",
                f"{port.device} may not be used by you: add yourself to its group (often dialout: sudo "
                "usermod -aG dialout $USER), and log in again.",
            )
        if facts.modem_manager:
            yield Finding(
                "port",
                "odd",
                f"ModemManager runs, and may take {port.device} for a modem: then records go to it for half "
                f"a minute after you plug it in. If they are missing, {_INSTALL}.",
            )


def ask(board: BoardResource) -> Facts:
    """Everything that sigrok-cli, pyOCD, pySerial and the kernel say of this board's desk. Each has
    a bounded time. Raises signals.Stopped.
    """
    names = map(read, PROCESSES.glob("[0-9]*/comm"))
    facts: dict[str, Any] = {"modem_manager": "ModemManager" in names}
    faults, listing = [], Facts()
    try:
        facts["analyzers"] = devices(board.analyzer)
    except CaptureError as error:
        faults.append(("analyzer", str(error)))
    try:
        if board.loader.way:
            facts["loader"] = " ".join(board.loader.programmer().tools().values())
    except CaptureError as error:
        faults.append(("loader", str(error)))
    try:
        command = [*children.with_devices(), sys.executable, "-m", "capture.checks.devices"]
        listing = _LISTING.validate_json(children.run(command, within_s=WITHIN_S, folder=ROOT).stdout)
    except (subprocess.TimeoutExpired, ValueError):
        faults.append(("probe", "pyOCD cannot list its probes: unplug the board and plug it in again."))
    return replace(listing, **facts, faults=tuple(faults))


def read(file: Path) -> str:
    """What stands in it, without blanks at its ends; "" where there is none, or none any more."""
    try:
        return file.read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return ""


def _probes() -> Iterator[Probe]:
    """Only an open ST-Link tells the version of its firmware."""
    from pyocd.core.exceptions import Error
    from pyocd.core.helpers import ConnectHelper
    from pyocd.probe.stlink.stlink import STLink
    from pyocd.probe.stlink.usb import STLinkUSBInterface

    logging.getLogger("pyocd").setLevel(logging.CRITICAL)
    links = {}
    for device in STLinkUSBInterface.get_all_connected_devices():
        link, fault = STLink(device), ""
        try:
            link.open()
            link.close()
        except (Error, OSError) as error:
            fault = str(error)
        links[device.serial_number] = link.version_str or "", fault
    for probe in ConnectHelper.get_all_connected_probes(blocking=False):
        yield Probe(
            probe.unique_id,
            f"{probe.vendor_name} {probe.product_name}",
            *links.pop(probe.unique_id, ()),
        )
    for unique_id, told in links.items():
        yield Probe(unique_id, "ST-Link", *told)


def usb_devices() -> Iterator[UsbDevice]:
    """Every device that the kernel lists, in the order of its bus and number."""
    for vendor in sorted(SYSFS.glob("*/idVendor")):
        bus, number = (read(vendor.with_name(name)).zfill(3) for name in ("busnum", "devnum"))
        usb_id = f"{read(vendor)}:{read(vendor.with_name('idProduct'))}".lower()
        node = f"/dev/bus/usb/{bus}/{number}"
        yield UsbDevice(usb_id, node, os.access(node, os.R_OK | os.W_OK))


if __name__ == "__main__":
    listing = Facts(probes=tuple(_probes()), ports=tuple(listed()), usb=tuple(usb_devices()))
    print(_LISTING.dump_json(listing).decode())
