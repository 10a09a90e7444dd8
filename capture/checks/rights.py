"""Who may use probes and analyzers: the bench's own udev rules, groups, ModemManager."""

from __future__ import annotations

import grp
import os
import pwd
from collections.abc import Iterator
from pathlib import Path

from capture.desk.presets import presets
from capture.desk.serial_ports import ST_LINKS

FILE = Path(__file__).with_name("60-tailscope.rules")
INSTALLED = Path("/etc/udev/rules.d") / FILE.name
"""Before 73-seat-late.rules of systemd, which acts on the tag `uaccess`."""
DATA = Path("/run/udev/data")
"""udev's own files of what it knows of a device, by kind and number of its node (systemd,
libsystemd/sd-device)."""
GROUP = "plugdev"
PROCESSES = Path("/proc")
_MODEM_MANAGER = "ModemManager"
_NO_MODEM = "ID_MM_DEVICE_IGNORE"
# J-Links have many ids, of one vendor.
_SEGGER = "1366"


def text() -> str:
    """What the file has: a line for each probe of ST and each analyzer with a preset.

    Also where the file is not as it should be: a test compares the two.
    """
    return "\n".join(_lines()) + "\n"


def _lines() -> Iterator[str]:
    yield "# Debug probes and logic analyzers of Tailscope: for members of plugdev, and for whoever sits"
    yield "# at this machine. ModemManager leaves the probes' serial ports alone."
    yield 'ACTION=="remove", GOTO="tailscope_end"'
    yield 'SUBSYSTEM!="usb|tty", GOTO="tailscope_end"'
    ignore = f'ENV{{{_NO_MODEM}}}="1"'
    for usb_id in sorted(ST_LINKS):
        vendor, _, product = usb_id.partition(":")
        yield f'ATTRS{{idVendor}}=="{vendor}", ATTRS{{idProduct}}=="{product}", {ignore}'
        yield _allowed(vendor, product)
    yield f'ATTRS{{idVendor}}=="{_SEGGER}", {ignore}'
    yield f'SUBSYSTEM=="usb", ATTR{{idVendor}}=="{_SEGGER}", {_RIGHTS}'
    for usb_id in sorted({device for preset in presets().values() for device in preset.devices}):
        yield _allowed(*usb_id.split(":"))
    yield 'LABEL="tailscope_end"'


_RIGHTS = f'MODE="0660", GROUP="{GROUP}", TAG+="uaccess"'


def _allowed(vendor: str, product: str) -> str:
    return f'SUBSYSTEM=="usb", ATTR{{idVendor}}=="{vendor}", ATTR{{idProduct}}=="{product}", {_RIGHTS}'


def command() -> str:
    """How to install the file, in a sentence."""
    return (
        f"Install the bench's udev rules, then replug it: sudo install -m 644 {FILE} {INSTALLED} "
        "&& sudo udevadm control --reload"
    )


def installed(file: Path = INSTALLED) -> str:
    """What stands in the installed file; "" where there is none."""
    try:
        return file.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def left_alone_by_modem_manager(node: Path, data: Path = DATA) -> bool:
    """Whether udev tells ModemManager to leave this serial port alone."""
    try:
        number = node.stat().st_rdev
        rule = (data / f"c{os.major(number)}:{os.minor(number)}").read_text(
            encoding="utf-8", errors="replace"
        )
    except OSError:
        return False
    return f"E:{_NO_MODEM}=1" in rule.splitlines()


def groups() -> tuple[str, ...]:
    """The groups that the user database has this user in, sorted.

    A session has those of its login, which may be fewer.
    """
    try:
        name = pwd.getpwuid(os.getuid()).pw_name
    except KeyError:
        return ()
    return tuple(sorted(group.gr_name for group in grp.getgrall() if name in group.gr_mem))


def modem_manager_runs(processes: Path = PROCESSES) -> bool:
    """Whether a process of that name is there; it opens serial ports that are plugged in."""
    return any(_name(file) == _MODEM_MANAGER for file in processes.glob("[0-9]*/comm"))


def _name(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8", errors="replace").strip()
    except OSError:  # it has ended meanwhile
        return ""
