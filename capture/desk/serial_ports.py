"""Which serial port is meant: by its name, or by the USB id of the device that has it."""

from __future__ import annotations

import re

from serial.tools import list_ports

from base.files.errors import CaptureError

_USB_ID = re.compile(r"usb:([0-9A-Fa-f]{4}):([0-9A-Fa-f]{4})")


def is_usb_id(port: str) -> bool:
    """Whether a port of bench.toml is named by its USB id, and so can be found under any name."""
    return _USB_ID.fullmatch(port) is not None


def resolve(port: str, serial_number: str = "") -> str:
    """What pySerial opens for a port of bench.toml.

    `usb:0483:374B` is the port of the only device with this vendor and product. If there are
    several, the one with `serial_number` is taken. All else stays as it is. Raises CaptureError.
    """
    match = _USB_ID.fullmatch(port)
    if match is None:
        return port
    wanted = int(match[1], 16), int(match[2], 16)
    found = [info for info in list_ports.comports() if (info.vid, info.pid) == wanted]
    chosen = [info for info in found if info.serial_number == serial_number] or found
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
