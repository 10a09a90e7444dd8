"""A Nucleo-F401RE on the desk: flashed and reset by pyOCD, heard through its ST-Link's serial port."""

from __future__ import annotations

import importlib.metadata
import re
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Self

from capture.desk.bench import IMAGE_ADDRESS, BoardResource
from capture.desk.debug_probe import TARGET_SCRIPT, ProbeAddress
from capture.files.errors import CaptureError, first_line

PYOCD_TIMEOUT_S = 120

# pyOCD's log lines are "0000255 E No target device available [reset_cmd]".
_LOG_DECORATION = re.compile(r"^\d+ [A-Z] | \[\w+\]$")


class NucleoBoard:
    """The firmware is loaded with the core halted, and started by the reset pin once the capture is armed.

    The pin is used because a reset through the core's debug port ends with pyOCD clearing DEMCR.TRCENA,
    which would stop DWT_CYCCNT after the firmware has armed it.
    """

    # pyOCD's own start, up to the moment that it pulls the pin.
    start_delay_s = 5.0

    def __init__(self, resource: BoardResource) -> None:
        self._resource = resource

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Nothing to close: each call of pyOCD is a process that has ended."""

    def prepare(self, firmware: Path, image: Path) -> None:
        """Flashes both files and leaves the core halted."""
        self._pyocd(
            "load", "--connect", "halt", "--no-reset", "-O", "resume_on_disconnect=false", str(firmware)
        )
        self._pyocd(
            *("load", "--connect", "halt", "--no-reset", "-O", "resume_on_disconnect=false"),
            *("--format", "bin", "--base-address", f"{IMAGE_ADDRESS:#010x}", str(image)),
        )

    def serial_url(self) -> str:
        """The port of bench.toml."""
        return self._resource.serial_port

    def probe_address(self) -> ProbeAddress:
        """The probe and target of bench.toml."""
        loader = self._resource.loader
        return ProbeAddress(loader.probe, loader.target)

    def analyzer_connection(self) -> str | None:
        """The connection of bench.toml; None lets sigrok take the only device."""
        return self._resource.analyzer.connection or None

    def start(self, pull_reset: Callable[[], None] | None = None) -> None:
        """Pulls the reset pin."""
        if pull_reset is None:
            self._pyocd("reset", "--method", "hw")
            return
        try:
            pull_reset()
        except Exception as error:  # whatever pyOCD raises
            raise CaptureError(
                f"pyOCD cannot reset the board: {first_line(error)}; check its USB cable and bench.toml."
            ) from None

    def ended(self) -> bool:
        """Never: from here a dead board cannot be told from a silent one."""
        return False

    def problems(self) -> tuple[str, ...]:
        """None of its own: pyOCD's failures are raised, a dead board shows as a run without an end frame."""
        return ()

    def oddities(self) -> tuple[str, ...]:
        """None of its own."""
        return ()

    def counts(self) -> None:
        """None: the chip has no counter of executions."""

    def tools(self) -> Mapping[str, str]:
        """pyOCD's version."""
        return {"pyocd": importlib.metadata.version("pyocd")}

    def _pyocd(self, subcommand: str, *arguments: str) -> None:
        loader = self._resource.loader
        command = [
            sys.executable,
            "-m",
            "pyocd",
            subcommand,
            "--no-wait",
            "--quiet",
            "--script",
            str(TARGET_SCRIPT),
        ]
        command += ["--target", loader.target]
        command += ["--uid", loader.probe] if loader.probe else []
        try:
            done = subprocess.run(
                [*command, *arguments],
                capture_output=True,
                text=True,
                timeout=PYOCD_TIMEOUT_S,
                check=False,
                stdin=subprocess.DEVNULL,
            )
        except subprocess.TimeoutExpired:
            raise CaptureError(
                f"pyOCD did not finish within {PYOCD_TIMEOUT_S} s; replug the board."
            ) from None
        if done.returncode:
            why = _LOG_DECORATION.sub("", (done.stderr.strip() or "it does not say why").splitlines()[-1])
            raise CaptureError(
                f"pyOCD cannot {subcommand} the board: {why}; check its USB cable and bench.toml."
            )
