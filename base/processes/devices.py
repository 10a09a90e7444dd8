"""Programs that talk to USB devices, where those are emulated.

The library that shows emulated devices is loaded before a program starts, and its children would
inherit it. A compiler or a database does not expect it: rustc hangs with it. So this program keeps
it for itself, and gives it to those children alone that talk to devices.
"""

from __future__ import annotations

import os

PRELOAD = "LD_PRELOAD"
KEPT = "TAILSCOPE_PRELOAD"
"""In the environment of a program that sees emulated devices: what its children would inherit."""


def seen_by(preload: str) -> dict[str, str]:
    """What the environment of a program needs so that it sees devices by the library `preload`."""
    return {PRELOAD: preload, KEPT: preload}


def keep() -> None:
    """From now on, children see emulated devices only if with_devices() stands before them."""
    if KEPT in os.environ:
        os.environ.pop(PRELOAD, None)


def with_devices() -> tuple[str, ...]:
    """What stands before the command of a child that talks to devices; nothing if they are real."""
    return ("env", f"{PRELOAD}={os.environ[KEPT]}") if KEPT in os.environ else ()
