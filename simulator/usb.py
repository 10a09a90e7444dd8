"""The way to USB devices that exist only in a folder: umockdev's preload library."""

from __future__ import annotations

from ctypes.util import find_library
from pathlib import Path

from simulator.build import SimulatorError

_LIBRARY = "umockdev-preload"


def environment(folder: Path) -> dict[str, str]:
    """What a program's environment must have, beside its own, to find the USB devices and serial
    ports of `folder` (`virtual-nucleo desk --folder`), and no others. It must be there before the
    program starts, since the library redirects its calls.

    Raises SimulatorError where the library is not installed.
    """
    library = find_library(_LIBRARY)
    if library is None:
        raise SimulatorError(
            f"The desk's USB devices need lib{_LIBRARY}; install it, on Debian apt-get install umockdev."
        )
    return {
        "UMOCKDEV_DIR": str(folder),
        "LD_PRELOAD": library,
        "SYSTEMD_DEVICE_VERIFY_SYSFS": "0",  # or libudev refuses what is no kernel's sysfs
    }
