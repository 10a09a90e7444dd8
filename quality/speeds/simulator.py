"""How fast the virtual Nucleo executes, beside Unicorn with a hook on every instruction, and QEMU.

The same programs run in all of them; none of them waits. Each repeat runs all one right after the
other, and speeds are of the CPU's time: those of a shared host change by the second.
"""

from __future__ import annotations

import importlib.util
import math
import resource
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from statistics import median

from base.files.errors import TailscopeError
from quality.soundness.compiling import LINKER_SCRIPT
from simulator import run as simulator
from simulator.program import user_program


def cpu_s(run: Callable[[], object]) -> float:
    """User and system time of the processes that `run` waits for, in seconds."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    run()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


LOADS = ("md5", "mixed", "walk")
"""Functions of loads.c."""
REPEATS = 5
FOLDER = Path(__file__).parent
_MOST_CYCLES = 1 << 32
# Of a machine with flash and SRAM where the Nucleo has them.
_QEMU = ("-M", "netduinoplus2", "-display", "none", "-semihosting", "-kernel")
# Unicorn has no hook for IT, and none for what an IT leaves out. Our count serves for all.
_APART = 0.1


class BenchmarkError(TailscopeError):
    """The speed cannot be measured. The message says why and what to do."""


def measure(repeats: int = REPEATS) -> dict[str, float | int | str]:
    """Medians over `repeats` repeats: millions of executed instructions per second of CPU, of the
    program's start too, and the ratio to Unicorn in the same repeat; by name, of each load.

    Raises BenchmarkError, SimulatorError, and the simulator's build errors.
    """
    figures: dict[str, float | int | str] = {"repeats": repeats}
    qemu = shutil.which("qemu-system-arm")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        unicorn = _build_unicorn(folder)
        for load in LOADS:
            elf = _build_load(folder, load)
            flash = folder / f"{load}.bin"
            _call(["arm-none-eabi-objcopy", "-O", "binary", elf, flash])
            executed = _executed(elf)
            counted = int(_call([unicorn, flash]))
            if abs(counted - executed) > _APART * executed:
                raise BenchmarkError(f"{load}: Unicorn executes {counted:,} instructions, we {executed:,}.")
            ways: dict[str, Callable[[], object]] = {
                "nucleo": partial(_executed, elf),
                "ideal": partial(_executed, elf, "ideal"),
                "unicorn_hook": partial(_call, [unicorn, flash]),
            }
            if qemu:
                ways["qemu"] = partial(_call, [qemu, *_QEMU, elf])
                ways["qemu_icount"] = partial(_call, [qemu, "-icount", "shift=0", *_QEMU, elf])
            runs = [{way: executed / cpu_s(run) / 1e6 for way, run in ways.items()} for _ in range(repeats)]
            figures[f"{load}_instructions"] = executed
            figures |= {f"{load}_{way}_mips": median(run[way] for run in runs) for way in ways}
            figures[f"{load}_unicorn_hook_ratio"] = median(
                run["nucleo"] / run["unicorn_hook"] for run in runs
            )
    if not qemu:
        figures["qemu"] = "qemu-system-arm is not installed"
    return figures


def _executed(elf: Path, timing: str = simulator.NUCLEO) -> int:
    """Runs a load on the virtual board; how many instructions it executed."""
    stats = simulator.run(user_program(elf, semihosting=True), until=_MOST_CYCLES, timing=timing).stats
    return stats.instructions - stats.skipped_instructions


def _build_load(folder: Path, load: str) -> Path:
    sines = ",".join(f"{int(abs(math.sin(number + 1)) * 2**32)}u" for number in range(64))
    elf = folder / f"{load}.elf"
    command: list[str | Path] = ["arm-none-eabi-gcc", "-mcpu=cortex-m4", "-mthumb", "-O2", "-Wall", "-Wextra"]
    command += ["-Werror", "-ffreestanding", "-nostdlib", f"-DLOAD={load}", f"-DSINES={sines}"]
    _call([*command, "-T", LINKER_SCRIPT, FOLDER / "loads.c", "-lgcc", "-o", elf])
    return elf


def _build_unicorn(folder: Path) -> Path:
    spec = importlib.util.find_spec("unicorn")
    if spec is None or spec.origin is None:
        raise BenchmarkError("The Python package unicorn is missing: ./lab test installs it.")
    if shutil.which("gcc") is None:
        raise BenchmarkError("gcc is missing, which builds the program around Unicorn: install gcc.")
    package = Path(spec.origin).parent
    libraries = package / "lib"
    program = folder / "unicorn_hooked"
    command: list[str | Path] = ["gcc", "-O2", "-Wall", "-Werror", f"-I{package / 'include'}"]
    command += [FOLDER / "unicorn_hooked.c", libraries / "libunicorn.so.2", f"-Wl,-rpath,{libraries}"]
    _call([*command, "-o", program])
    return program


def _call(command: Sequence[str | Path]) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
    if done.returncode:
        raise BenchmarkError(f"{Path(command[0]).name} failed: {done.stderr.strip()}")
    return done.stdout
