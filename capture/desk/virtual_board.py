"""The virtual Nucleo as a board: a process that plays analyzer and serial port (docs/SPEC.md, section 7)."""

from __future__ import annotations

import importlib.metadata
import json
import queue
import subprocess
import tempfile
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

from capture.desk.bench import IMAGE_ADDRESS, BoardResource
from capture.desk.debug_probe import ProbeAddress
from capture.files.errors import CaptureError
from simulator import build as simulator

CHANNELS = 8
TARGET = "stm32f401retx"
LISTENING_TIMEOUT_S = 20.0
CLOSING_TIMEOUT_S = 5.0


class VirtualBoard:
    """One process of virtual-nucleo, which simulates from reset once the capture starts.

    The process exits when its standard input closes: even a bench that is killed leaves none behind.
    """

    start_delay_s = 0.0

    def __init__(
        self,
        resource: BoardResource,
        binary: Path | None = None,
        probed: bool = False,
        looks: Sequence[int] = (),
    ) -> None:
        self._resource = resource
        self._probed = probed
        self._binary = binary
        self._looks = looks
        self._counts = tempfile.NamedTemporaryFile(suffix=".csv")  # noqa: SIM115  # closed by __exit__
        self._process: subprocess.Popen[str] | None = None
        self._stderr = tempfile.TemporaryFile("w+", errors="replace")  # noqa: SIM115  # closed by __exit__
        self._analyzer = self._uart = self._probe = ""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
        self._stderr.close()
        self._counts.close()

    def prepare(self, firmware: Path, image: Path) -> None:
        """Starts the simulator with both files and waits until it listens."""
        binary = self._binary or _built_simulator()
        uart = "pty" if self._resource.serial_port == "pty" else "tcp:0"
        command = [str(binary), "serve", str(firmware), "--image", f"{image}@{IMAGE_ADDRESS:#010x}"]
        command += ["--analyzer", "0", "--uart", uart]
        command += ["--probe", "0"] if self._probed else []
        command += self._counting()
        try:
            # A session of its own: Ctrl-C at the terminal is ours to handle first.
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._stderr,
                text=True,
                start_new_session=True,
            )
        except OSError as error:
            raise CaptureError(f"The virtual Nucleo does not start ({error}); run ./lab build.") from None
        self._analyzer, self._uart, self._probe = self._listening()

    def serial_url(self) -> str:
        """The PTY or socket:// URL that the simulator named."""
        return self._uart

    def probe_address(self) -> ProbeAddress:
        """pyOCD's remote probe on the port that the simulator named."""
        return ProbeAddress(f"remote:{self._probe}", TARGET)

    def analyzer_connection(self) -> str:
        """BeagleLogic's conn= for the port that the simulator named."""
        return f"tcp-raw/{self._analyzer.replace(':', '/')}:logic_channels={CHANNELS}"

    def start(self, pull_reset: Callable[[], None] | None = None) -> None:
        """Nothing: the simulation starts with the capture."""

    def ended(self) -> bool:
        """Whether the simulator has ended by itself; it first hands over what it has recorded."""
        return self._process is not None and self._process.poll() is not None

    def problems(self) -> tuple[str, ...]:
        """That the simulator ended by itself, with its last words."""
        status = self._process.poll() if self._process else None
        if status is None:
            return ()
        if status < 0:
            return (f"The virtual Nucleo was killed by signal {-status}; run again.",)
        words = self._words() or "it does not say why"
        return (f"The virtual Nucleo ended with status {status}: {words}; see docs/SPEC.md, section 7.",)

    def oddities(self) -> tuple[str, ...]:
        """What the simulator said, where it did not end: it has nothing to say when all is well."""
        words = self._words()
        return (f"The virtual Nucleo said: {words}.",) if words and not self.problems() else ()

    def counts(self) -> bytes | None:
        """The table of the executions that it counted; a row is there before its record is."""
        return Path(self._counts.name).read_bytes() if self._looks else None

    def tools(self) -> Mapping[str, str]:
        """The versions of the simulator and, where it has a probe, of pyOCD."""
        binary = self._binary or simulator.BINARY
        done = subprocess.run(
            [str(binary), "--version"], capture_output=True, text=True, check=False, timeout=10
        )
        version = done.stdout.strip().removeprefix("virtual-nucleo ") or "unknown"
        pyocd = {"pyocd": importlib.metadata.version("pyocd")} if self._probed else {}
        return {"virtual_nucleo": version, **pyocd}

    def close(self) -> None:
        """Ends the process: asked by closing its input, then made to."""
        process = self._process
        if process is None:
            return
        assert process.stdin and process.stdout
        process.stdin.close()
        try:
            process.wait(CLOSING_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        process.stdout.close()

    def _counting(self) -> list[str]:
        if not self._looks:
            return []
        places = [f"--count=look{number}={address:#x}" for number, address in enumerate(self._looks)]
        return [*places, "--count-window", "OP", "--windows", self._counts.name]

    def _listening(self) -> tuple[str, str, str]:
        line = self._first_line()
        try:
            addresses = json.loads(line)
            probe = str(addresses["probe"]) if self._probed else ""
            return str(addresses["analyzer"]), str(addresses["uart"]), probe
        except (ValueError, KeyError, TypeError):
            raise CaptureError(
                f"The virtual Nucleo does not start: {self._words() or line.strip() or 'it says nothing'}."
            ) from None

    def _first_line(self) -> str:
        """Reads in a thread, so that a simulator that says nothing cannot hold the bench."""
        assert self._process and self._process.stdout
        stdout = self._process.stdout
        lines: queue.Queue[str] = queue.Queue()
        threading.Thread(target=lambda: lines.put(stdout.readline()), daemon=True).start()
        try:
            return lines.get(timeout=LISTENING_TIMEOUT_S)
        except queue.Empty:
            raise CaptureError(
                f"The virtual Nucleo did not listen within {LISTENING_TIMEOUT_S:g} s; run again."
            ) from None

    def _words(self) -> str:
        self._stderr.flush()
        self._stderr.seek(0)
        return " ".join(self._stderr.read().split())


def _built_simulator() -> Path:
    try:
        return simulator.build()
    except simulator.BuildError as error:
        raise CaptureError(str(error)) from None
