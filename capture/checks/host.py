"""Prints probes, serial ports and USB devices as one line of JSON: `python -m capture.checks.host`.

A process of its own, because a probe that hangs would take the asking program with it.
"""

from __future__ import annotations

import grp
import json
import logging
import os
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

from capture.checks.facts import Port, Probe, UsbDevice
from capture.checks.rights import left_alone_by_modem_manager

SYSFS = Path("/sys/bus/usb/devices")
NODES = Path("/dev/bus/usb")


def main() -> None:
    """Everything that can be found without opening an analyzer."""
    listing = {
        "probes": [asdict(probe) for probe in _probes()],
        "ports": [asdict(port) for port in _ports()],
        "usb": [asdict(device) for device in usb_devices()],
    }
    print(json.dumps(listing))


def _probes() -> Iterator[Probe]:
    from pyocd.core.helpers import ConnectHelper

    logging.getLogger("pyocd").setLevel(logging.CRITICAL)
    links = dict(_st_links())
    for probe in ConnectHelper.get_all_connected_probes(blocking=False):
        title = f"{probe.vendor_name} {probe.product_name}"
        yield links.get(probe.unique_id, Probe(probe.unique_id, title))


def _st_links() -> Iterator[tuple[str, Probe]]:
    """Only an open ST-Link tells the version of its firmware."""
    from pyocd.core.exceptions import Error
    from pyocd.probe.stlink.stlink import STLink
    from pyocd.probe.stlink.usb import STLinkUSBInterface

    for device in STLinkUSBInterface.get_all_connected_devices():
        link, fault = STLink(device), None
        try:
            link.open()
            link.close()
        except (Error, OSError) as error:
            fault = str(error)
        title = f"{device.vendor_name} {device.product_name}"
        yield device.serial_number, Probe(device.serial_number, title, link.version_str, fault)


def _ports() -> Iterator[Port]:
    from serial.tools import list_ports

    for port in list_ports.comports():
        on_usb = port.vid is not None and port.pid is not None
        yield Port(
            device=port.device,
            usb_id=f"{port.vid:04x}:{port.pid:04x}" if on_usb else None,
            serial_number=port.serial_number,
            title=port.product or port.description or "",
            group=None if os.access(port.device, os.R_OK | os.W_OK) else _group(Path(port.device)),
            no_modem=left_alone_by_modem_manager(Path(port.device)),
        )


def _group(node: Path) -> str:
    """The group of a node; a question mark where it has none that the system knows."""
    try:
        return grp.getgrgid(node.stat().st_gid).gr_name
    except (OSError, KeyError):
        return "?"


def usb_devices(sysfs: Path = SYSFS, nodes: Path = NODES) -> Iterator[UsbDevice]:
    """Every device that the kernel lists, in the order of its bus and number."""
    for folder in sorted(sysfs.glob("*/idVendor")):
        read = _Attributes(folder.parent)
        node = nodes / read("busnum").zfill(3) / read("devnum").zfill(3)
        yield UsbDevice(
            usb_id=f"{read('idVendor')}:{read('idProduct')}".lower(),
            manufacturer=read("manufacturer"),
            product=read("product"),
            node=str(node),
            accessible=os.access(node, os.R_OK | os.W_OK),
        )


class _Attributes:
    """Files of a device's folder; empty where it has none, or was unplugged meanwhile."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def __call__(self, name: str) -> str:
        try:
            return (self._folder / name).read_text(encoding="utf-8", errors="replace").strip()
        except OSError:
            return ""


if __name__ == "__main__":
    main()
