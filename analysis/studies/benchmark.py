"""How fast the virtual Nucleo is, beside Unicorn with a hook on every instruction.

Each repeat runs all three side by side, since the speed of a shared host changes from one second to the next.
"""

from __future__ import annotations

import importlib.util
import json
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from capture.files.errors import TailscopeError
from firmware import build as firmware
from scenarios import catalogue
from simulator import build as simulator

ALLOCATOR = "tlsf"
SCENARIO = "mem_frag"
OPERATIONS_AT = "0x08040000"
RUN_CYCLES = 420_000_000
"""About the length of the scenario: five seconds of the board."""
CORE_HZ = 84_000_000
UNICORN_INSTRUCTIONS = 30_000_000
REPEATS = 5
SOURCE = Path(__file__).with_name("unicorn_baseline.c")


class BenchmarkError(TailscopeError):
    """The speed cannot be measured; the message says why and what to do."""


@dataclass(frozen=True)
class Speed:
    """One run of one simulator."""

    instructions: int
    """All that the program went through, those whose effect was repeated without executing them included."""
    skipped: int
    cycles: int
    host_seconds: float

    @property
    def mips(self) -> float:
        """Millions of guest instructions per second of the host."""
        return self.instructions / self.host_seconds / 1e6

    @property
    def executed_mips(self) -> float:
        """As `mips`, without the instructions of waiting loops that were skipped."""
        return (self.instructions - self.skipped) / self.host_seconds / 1e6

    @property
    def realtime_ratio(self) -> float:
        """Seconds of the board, idle ones included, per second of the host."""
        return self.cycles / CORE_HZ / self.host_seconds


def measure(repeats: int = REPEATS) -> dict[str, float | int | str]:
    """Medians of `repeats` side-by-side runs.

    Raises BenchmarkError, and the build errors of firmware and simulator.
    """
    elf = firmware.build(ALLOCATOR).elf
    binary = simulator.build()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        baseline = _build_baseline(folder)
        flash = _flash_image(elf, folder)
        operations = folder / "operations.bin"
        operations.write_bytes(catalogue.load(SCENARIO).compile().image)
        runs = [
            (
                _run(binary, elf, operations, "nucleo"),
                _run(binary, elf, operations, "ideal"),
                _run_baseline(baseline, flash),
            )
            for _ in range(repeats)
        ]
    return {
        "mips": median(nucleo.mips for nucleo, _, _ in runs),
        "executed_mips": median(nucleo.executed_mips for nucleo, _, _ in runs),
        "realtime_ratio": median(nucleo.realtime_ratio for nucleo, _, _ in runs),
        "ideal_mips": median(ideal.mips for _, ideal, _ in runs),
        "ideal_realtime_ratio": median(ideal.realtime_ratio for _, ideal, _ in runs),
        "unicorn_hook_mips": median(unicorn.mips for _, _, unicorn in runs),
        "unicorn_hook_ratio": median(nucleo.mips / unicorn.mips for nucleo, _, unicorn in runs),
        "repeats": repeats,
        "workload": f"{SCENARIO} on {ALLOCATOR}; Unicorn: the same firmware's start, again and again",
    }


def _run(binary: Path, elf: Path, operations: Path, timing: str) -> Speed:
    stats = operations.with_name("stats.json")
    command: list[str | Path] = [
        binary,
        "run",
        elf,
        "--image",
        f"{operations}@{OPERATIONS_AT}",
        "--timing",
        timing,
    ]
    _call([*command, "--until", f"cycles:{RUN_CYCLES}", "--stats", stats])
    found = json.loads(stats.read_text(encoding="utf-8"))
    return Speed(found["instructions"], found["skipped_instructions"], found["cycles"], found["host_seconds"])


def _run_baseline(program: Path, flash: Path) -> Speed:
    answer = _call([program, flash, str(UNICORN_INSTRUCTIONS)]).split()
    return Speed(int(answer[0]), 0, 0, float(answer[1]))


def _flash_image(elf: Path, folder: Path) -> Path:
    flash = folder / "flash.bin"
    _call(["arm-none-eabi-objcopy", "-O", "binary", elf, flash])
    return flash


def _build_baseline(folder: Path) -> Path:
    spec = importlib.util.find_spec("unicorn")
    if spec is None or spec.origin is None:
        raise BenchmarkError("The Python package unicorn is missing: ./lab test installs it.")
    if shutil.which("gcc") is None:
        raise BenchmarkError("gcc is missing, which builds the program around Unicorn: install gcc.")
    package = Path(spec.origin).parent
    libraries = package / "lib"
    program = folder / "unicorn_baseline"
    command: list[str | Path] = ["gcc", "-O2", "-Wall", "-Werror", f"-I{package / 'include'}", SOURCE]
    _call([*command, libraries / "libunicorn.so.2", f"-Wl,-rpath,{libraries}", "-o", program])
    return program


def _call(command: list[str | Path]) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
    if done.returncode:
        raise BenchmarkError(f"{Path(command[0]).name} failed: {done.stderr.strip()}")
    return done.stdout
