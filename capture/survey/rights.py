"""What of this machine decides who may use a device, beside the device's own node."""

from __future__ import annotations

import grp
import os
import pwd
from pathlib import Path

PROCESSES = Path("/proc")
_MODEM_MANAGER = "ModemManager"


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
