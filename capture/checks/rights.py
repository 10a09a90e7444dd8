"""Who may use probes and analyzers: the bench's own udev rules, groups, ModemManager."""

from __future__ import annotations

import grp
import os
import pwd
from pathlib import Path

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


def text() -> str:
    """What the file has: a line for each probe of ST and each analyzer with a preset."""
    return FILE.read_text(encoding="utf-8")


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
