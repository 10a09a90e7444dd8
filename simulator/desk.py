"""A virtual Nucleo on an emulated desk, in a process of its own: `virtual-desk`."""

from __future__ import annotations

import json
import socket
from collections.abc import Sequence
from ctypes.util import find_library
from pathlib import Path

from simulator.build import DESK, SimulatorError
from simulator.process import ServingProcess
from simulator.run import STRICT, image_argument

_LIBRARY = "umockdev-preload"


def environment(folder: Path) -> dict[str, str]:
    """What a program's environment must have, beside its own, to find the USB devices and serial
    ports of `folder` (`virtual-desk --folder`), and no others. It must be there before the
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


ANSWER_WITHIN_S = 20.0
CONTROL = "control"
"""The control socket's name in the folder of the devices."""


def ask(control: Path, request: str) -> None:
    """Makes a request of the control socket. Raises SimulatorError where it is refused."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as client:
        client.settimeout(ANSWER_WITHIN_S)
        client.connect(str(control))
        client.sendall(f"{request}\n".encode())
        with client.makefile() as answers:
            answer = json.loads(answers.readline() or "{}")
    if "done" not in answer:
        why = answer.get("error", "it does not answer")
        raise SimulatorError(f"The desk does not do {request!r}: {why}.")


class EmulatedDesk(ServingProcess):
    """A board with an FX2 analyzer and an ST-Link on USB. A context manager.

    Entering it starts the process and waits until the devices are there. Then programs that are
    started with `environment` beside their own see them, with stock drivers. `stlink` is the
    ST-Link's serial number, `uart` what pySerial opens there, and `control` the socket that takes
    requests: faults to inject, devices to unplug (docs/how-to/desk.md).

    `elf` and its operation image `image` are in the flash, which is erased without them. `name`
    gives the ST-Link its serial number. `channels` (8 or 16) are the analyzer's inputs; `bare`
    leaves the upload of its firmware to the host; `clips` says what its inputs are clipped to, as
    in `D0=PA9,D3=open`. Its clock is `clock_error_ppm` millionths too fast. `flash_acr` is what the
    flash does, whatever the firmware sets. `start` is now, or capture, which holds the board in
    reset until then. `options` are further words of the command line; without any the firmware
    stops at whatever is odd. `program` stands in for the one that is built. Raises SimulatorError
    if umockdev is missing, or the process does not start, and BuildError, also in an installed
    package, which has no desk.
    """

    _name = DESK
    control: Path
    stlink: str
    uart: str

    def __init__(
        self,
        elf: Path | None = None,
        *,
        image: bytes | None = None,
        name: str = "desk",
        channels: int = 8,
        bare: bool = False,
        clips: str = "",
        clock_error_ppm: int = 0,
        flash_acr: int | None = None,
        start: str = "now",
        options: Sequence[str] = STRICT,
        program: Path | None = None,
    ) -> None:
        super().__init__(program, options)
        self._elf = elf
        self._image = image
        self._options = [*options, "--name", name, "--channels", str(channels), "--start", start]
        self._options += ["--bare"] if bare else []
        self._options += ["--clips", clips] if clips else []
        self._options += ["--clock-error-ppm", str(clock_error_ppm)]
        self._options += [] if flash_acr is None else ["--flash-acr", f"{flash_acr:#x}"]
        environment(Path())

    def ask(self, request: str) -> None:
        """Makes a request of the control socket. Raises SimulatorError where it is refused."""
        ask(self.control, request)

    @property
    def environment(self) -> dict[str, str]:
        """What a program needs in its environment, beside its own, to see the devices."""
        return environment(self._usb_folder)

    @property
    def _usb_folder(self) -> Path:
        return self._folder / "usb"

    def _arguments(self) -> list[str | Path]:
        self._usb_folder.mkdir()
        arguments: list[str | Path] = ["--folder", self._usb_folder, *self._options]
        arguments += self._note_arguments
        arguments += [self._elf] if self._elf else []
        if self._image is not None and self._elf:
            file = self._folder / "operations.bin"
            file.write_bytes(self._image)
            arguments += ["--image", image_argument(file, self._elf)]
        return arguments

    def _take(self, line: str) -> None:
        ready = json.loads(line)
        self.control = Path(ready["control"])
        self.stlink, self.uart = str(ready["probe"]), str(ready["uart"])
