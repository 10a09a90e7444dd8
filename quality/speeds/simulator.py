"""How fast the virtual Nucleo is, beside Unicorn with a hook on every instruction.

Each repeat runs all three one right after the other: the speed of a shared host changes by the
second.
"""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from base.files.errors import TailscopeError
from firmware.build import boards
from firmware.build import image as firmware
from scenarios import catalogue
from simulator import run as simulator

ALLOCATOR = "tlsf"
SCENARIO = "mem_frag"
RUN_CYCLES = 5 * boards.default().core_hz
"""About the length of the scenario: five seconds of the board."""
UNICORN_INSTRUCTIONS = 30_000_000
REPEATS = 5
SOURCE = Path(__file__).with_name("unicorn_baseline.c")


class BenchmarkError(TailscopeError):
    """The speed cannot be measured. The message says why and what to do."""


@dataclass(frozen=True)
class Speed:
    """The speed of one run of the virtual Nucleo.

    `mips` and `executed_mips` are millions of guest instructions per second of the host. `mips`
    counts all that the program went through. `executed_mips` leaves out those of waiting loops
    whose effect was repeated without executing them. `realtime_ratio` is seconds of the board, idle
    ones included, per second of the host.
    """

    mips: float
    executed_mips: float
    realtime_ratio: float


def measure(repeats: int = REPEATS) -> dict[str, float | int | str]:
    """Medians over `repeats` repeats, by name, and what was run.

    Raises BenchmarkError, SimulatorError, and the build errors of firmware and simulator.
    """
    elf = firmware.build(ALLOCATOR).elf
    image = catalogue.load(SCENARIO).compile().image
    with tempfile.TemporaryDirectory() as name:
        baseline = _build_baseline(Path(name))
        flash = _flash_image(elf, Path(name))
        runs = [
            (_speed(elf, image, "nucleo"), _speed(elf, image, "ideal"), _baseline_mips(baseline, flash))
            for _ in range(repeats)
        ]
    return {
        "mips": median(nucleo.mips for nucleo, _, _ in runs),
        "executed_mips": median(nucleo.executed_mips for nucleo, _, _ in runs),
        "realtime_ratio": median(nucleo.realtime_ratio for nucleo, _, _ in runs),
        "ideal_mips": median(ideal.mips for _, ideal, _ in runs),
        "ideal_realtime_ratio": median(ideal.realtime_ratio for _, ideal, _ in runs),
        "unicorn_hook_mips": median(unicorn for _, _, unicorn in runs),
        "unicorn_hook_ratio": median(nucleo.mips / unicorn for nucleo, _, unicorn in runs),
        "repeats": repeats,
        "workload": f"{SCENARIO} on {ALLOCATOR}; Unicorn: the same firmware's start, again and again",
    }


def _speed(elf: Path, image: bytes, timing: str) -> Speed:
    done = simulator.run(elf, image=image, until=RUN_CYCLES, timing=timing)
    stats = done.stats
    executed = stats.instructions - stats.skipped_instructions
    return Speed(
        mips=stats.instructions / stats.host_seconds / 1e6,
        executed_mips=executed / stats.host_seconds / 1e6,
        realtime_ratio=stats.cycles / done.core_hz / stats.host_seconds,
    )


def _baseline_mips(program: Path, flash: Path) -> float:
    instructions, host_seconds, *_ = _call([program, flash, str(UNICORN_INSTRUCTIONS)]).split()
    return int(instructions) / float(host_seconds) / 1e6


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
