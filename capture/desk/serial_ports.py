"""Which serial port is meant: by its name, or by the USB id of the device that has it."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from serial.tools import list_ports

from base.files.errors import CaptureError

_PRODUCTS = ("3748", "374a", "374b", "374e", "374f", "3752", "3753", "3754", "3755", "3757")
ST_LINKS = frozenset(f"0483:{product}" for product in _PRODUCTS)
"""Debug probes of ST (pyOCD, probe/stlink/usb.py, USB_PID_EP_MAP)."""

_USB_ID = re.compile(r"usb:[0-9A-Fa-f]{4}:[0-9A-Fa-f]{4}")


@dataclass(frozen=True)
class Port:
    """A serial port that pySerial lists. `usb_id` is as in 0483:374b; "" if it is not on USB."""

    device: str
    usb_id: str
    serial_number: str | None
    title: str
    accessible: bool = True


def listed() -> Iterator[Port]:
    """The ports of this machine."""
    for port in list_ports.comports():
        yield Port(
            device=port.device,
            usb_id="" if port.vid is None or port.pid is None else f"{port.vid:04x}:{port.pid:04x}",
            serial_number=port.serial_number,
            title=port.product or port.description or "",
            accessible=os.access(port.device, os.R_OK | os.W_OK),
        )


def is_usb_id(port: str) -> bool:
    """Whether a port of bench.toml is named by its USB id, and so can be found under any name."""
    return _USB_ID.fullmatch(port) is not None


def matching(port: str, serial_number: str, ports: Sequence[Port]) -> list[Port]:
    """Those of the `ports` that a port of bench.toml such as `usb:0483:374B` may mean: each with
    this vendor and product, or else each of ST's. Of several the one with `serial_number`.

    A Nucleo's ST-Link changes its id with its firmware and its generation. So one of ST's stands
    for all of them; any other stands for none.
    """
    usb_id = port.lower().removeprefix("usb:")
    chosen = [port for port in ports if port.usb_id == usb_id]
    if not chosen and usb_id in ST_LINKS:
        chosen = [port for port in ports if port.usb_id in ST_LINKS]
    return [port for port in chosen if port.serial_number == serial_number] or chosen


def resolve(port: str, serial_number: str = "") -> str:
    """What pySerial opens for a port of bench.toml: that of the only one that is meant by its USB
    id; all else stays as it is. Raises CaptureError.
    """
    if not is_usb_id(port):
        return port
    usb_id, chosen = port.removeprefix("usb:"), matching(port, serial_number, list(listed()))
    if not chosen:
        raise CaptureError(
            f"No serial port belongs to a USB device {usb_id}; check the board's USB cable, "
            "or name the port in bench.toml."
        )
    if len(chosen) > 1:
        devices = ", ".join(sorted(info.device for info in chosen))
        raise CaptureError(
            f"{len(chosen)} serial ports belong to USB devices {usb_id} ({devices}); "
            "name one of them, or the probe, in bench.toml."
        )
    return chosen[0].device
