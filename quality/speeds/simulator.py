"""How fast the virtual Nucleo executes, beside Unicorn with a hook on every instruction.

Both run the same programs, which never wait. Each repeat runs one right after the other, and speeds
are of the CPU's time: those of a shared host change by the second.
"""

from __future__ import annotations

import importlib.util
import math
import resource
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from statistics import median

from base.files.errors import TailscopeError
from quality.soundness.compiling import compiled
from simulator import run as simulator
from simulator.program import user_program

LOADS = ("md5", "mixed", "walk")
"""Functions of loads.c."""
_FOLDER = Path(__file__).parent
_MOST_CYCLES = 1 << 32
# Unicorn has no hook for IT, and none for what an IT leaves out. Our count serves for both.
_APART = 0.1


class BenchmarkError(TailscopeError):
    """The speed cannot be measured. The message says why and what to do."""


def measure(repeats: int) -> dict[str, dict[str, float]]:
    """By load the executed instructions, and medians over the repeats: millions of them per second
    of CPU, the program's start included, in `nucleo` and `unicorn`; and their `ratio` in a repeat.

    Raises BenchmarkError, SimulatorError, and the simulator's build errors.
    """
    spec = importlib.util.find_spec("unicorn")
    if spec is None or spec.origin is None or not (shutil.which("gcc") and shutil.which("arm-none-eabi-gcc")):
        raise BenchmarkError(
            "The Python package unicorn, gcc or arm-none-eabi-gcc is missing: ./lab test installs them."
        )
    package = Path(spec.origin).parent
    figures = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        library, hooked = package / "lib" / "libunicorn.so.2", folder / "unicorn_hooked"
        files = (_FOLDER / "unicorn_hooked.c", library, "-o", hooked)
        linking = f"-Wl,-rpath,{library.parent}"
        _call("gcc", "-O2", "-Wall", "-Werror", f"-I{package / 'include'}", *files, linking)
        for load in LOADS:
            sines = ",".join(f"{int(abs(math.sin(number + 1)) * 2**32)}u" for number in range(64))
            elf = compiled(_FOLDER / "loads.c", folder, "-O2", f"-DLOAD={load}", f"-DSINES={sines}")
            flash = folder / "flash.bin"
            _call("arm-none-eabi-objcopy", "-O", "binary", elf, flash)
            executed, counted = _executed(elf), int(_call(hooked, flash))
            if abs(counted - executed) > _APART * executed:
                raise BenchmarkError(f"{load}: Unicorn executes {counted:,} instructions, we {executed:,}.")
            runs = [
                (executed / _cpu_s(partial(_executed, elf)), executed / _cpu_s(partial(_call, hooked, flash)))
                for _ in range(repeats)
            ]
            figures[load] = {
                "instructions": executed,
                "nucleo_mips": median(nucleo for nucleo, _ in runs) / 1e6,
                "unicorn_mips": median(unicorn for _, unicorn in runs) / 1e6,
                "ratio": median(nucleo / unicorn for nucleo, unicorn in runs),
            }
    return figures


def _cpu_s(run: Callable[[], object]) -> float:
    """User and system time of the processes that `run` waits for, in seconds."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    run()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def _executed(elf: Path) -> int:
    """Runs a load on the virtual board; how many instructions it executed."""
    stats = simulator.run(user_program(elf, semihosting=True), until=_MOST_CYCLES).stats
    return stats.instructions - stats.skipped_instructions


def _call(*command: str | Path) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
    if done.returncode:
        raise BenchmarkError(f"{Path(command[0]).name} failed: {done.stderr.strip()}")
    return done.stdout
