"""What an analyzer and the serial line would show of a run, to files: `virtual-nucleo capture`."""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from base.processes import children, signals
from base.run_folder.edge_stream import read_stream
from base.run_folder.edges import MOST_EDGES, EdgeList
from simulator.build import SimulatorError, build
from simulator.run import MOST_S, STRICT, count_arguments, image_argument

_IMAGE, _EDGES, _UART, _WINDOWS = "operations.bin", "edges.stream", "uart.log", "windows.csv"


@dataclass(frozen=True)
class Captured:
    """What came until the samples were enough, or the board ended by itself.

    `uart` is what USART2 sent. `windows` is the table of the counts. `status` is the exit status of
    the program, negative for a signal, and `words` what it said.
    """

    edges: EdgeList
    uart: bytes
    windows: bytes
    status: int
    words: str


def capture(
    elf: Path,
    image: bytes,
    samplerate_hz: int,
    samples: int,
    *,
    counts: Mapping[str, str],
    count_window: str,
    instructions_while: str,
    program: Path | None = None,
    options: Sequence[str] = (),
    clips: str = "",
) -> Captured:
    """Runs a firmware from reset until an analyzer would have `samples` samples.

    The counts and `clips` are those of serve.Served. `options` are further words, such as the chip.
    `program` stands in for the simulator that is built.
    Raises BuildError, SimulatorError where the program cannot run this, and signals.Stopped.
    """
    with signals.orderly(), tempfile.TemporaryDirectory(prefix="tailscope-capture-") as name:
        folder = Path(name)
        (folder / _IMAGE).write_bytes(image)
        command: list[str | Path] = [program or build(), "capture", elf.resolve(), *STRICT, *options]
        command += ["--image", image_argument(Path(_IMAGE), elf)] if image else []
        command += ["--samplerate", str(samplerate_hz), "--samples", str(samples)]
        command += ["--most-edges", str(MOST_EDGES), "--edges", _EDGES, "--uart-log", _UART]
        command += ["--clips", clips] if clips else []
        command += count_arguments(counts, count_window, Path(_WINDOWS), instructions_while)
        try:
            done = children.run(command, within_s=MOST_S, folder=folder)
        except subprocess.TimeoutExpired:
            raise SimulatorError(
                f"The virtual Nucleo did not end within {MOST_S:g} s and was ended; capture less."
            ) from None
        except OSError as error:
            said = f"The virtual Nucleo does not start ({error}); run ./lab dev build."
            raise SimulatorError(said) from None
        words = " ".join(done.stderr.split())
        if not (folder / _EDGES).exists():
            raise SimulatorError(f"The virtual Nucleo does not start: {words or 'it says nothing'}.")
        return Captured(
            edges=read_stream(folder / _EDGES).edges,
            uart=(folder / _UART).read_bytes(),
            windows=(folder / _WINDOWS).read_bytes() if counts or instructions_while else b"",
            status=done.returncode,
            words=words,
        )
