"""Which serial port is meant: by its name, or by the USB id of the device that has it."""

from __future__ import annotations

import re

from serial.tools import list_ports

from base.files.errors import CaptureError

_PRODUCTS = ("3748", "374a", "374b", "374e", "374f", "3752", "3753", "3754", "3755", "3757")
ST_LINKS = frozenset(f"0483:{product}" for product in _PRODUCTS)
"""Debug probes of ST (pyOCD, probe/stlink/usb.py, USB_PID_EP_MAP)."""

_USB_ID = re.compile(r"usb:([0-9A-Fa-f]{4}):([0-9A-Fa-f]{4})")


def is_usb_id(port: str) -> bool:
    """Whether a port of bench.toml is named by its USB id, and so can be found under any name."""
    return _USB_ID.fullmatch(port) is not None


def alike(port: str) -> frozenset[str]:
    """The USB ids, as in 0483:374b, that a port of bench.toml may have instead of its own.

    A Nucleo's ST-Link changes its id with its firmware and its generation. So one of ST's stands
    for all of them; any other stands for none. Empty where the port is not named by its USB id.
    """
    usb_id = port.lower().removeprefix("usb:")
    return ST_LINKS if is_usb_id(port) and usb_id in ST_LINKS else frozenset()


def resolve(port: str, serial_number: str = "") -> str:
    """What pySerial opens for a port of bench.toml.

    `usb:0483:374B` is the port of the only device with this vendor and product; where there is
    none, of the only one that is alike(). If there are several, the one with `serial_number` is
    taken. All else stays as it is. Raises CaptureError.
    """
    match = _USB_ID.fullmatch(port)
    if match is None:
        return port
    wanted = int(match[1], 16), int(match[2], 16)
    ports = [info for info in list_ports.comports() if info.vid is not None and info.pid is not None]
    matches = [info for info in ports if (info.vid, info.pid) == wanted]
    matches = matches or [info for info in ports if f"{info.vid:04x}:{info.pid:04x}" in alike(port)]
    chosen = [info for info in matches if info.serial_number == serial_number] or matches
    if not chosen:
        raise CaptureError(
            f"No serial port belongs to a USB device {match[1]}:{match[2]}; check the board's USB cable, "
            "or name the port in bench.toml."
        )
    if len(chosen) > 1:
        listed = ", ".join(sorted(info.device for info in chosen))
        raise CaptureError(
            f"{len(chosen)} serial ports belong to USB devices {match[1]}:{match[2]} ({listed}); "
            "name one of them, or the probe, in bench.toml."
        )
    return str(chosen[0].device)
