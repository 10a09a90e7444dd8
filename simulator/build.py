"""Builds the virtual Nucleo with cargo."""

from __future__ import annotations

import re
import shutil
import subprocess
from functools import cache
from pathlib import Path

from capture.files.errors import TailscopeError

FOLDER = Path(__file__).resolve().parent
BINARY = FOLDER / "target" / "release" / "virtual-nucleo"

# The lowest version that Cargo.toml's rust-version and the locked dependencies accept.
MINIMUM_CARGO = (1, 85)
REMEDY = "install a newer one, on Debian apt-get install cargo-web rustc-web"
TAIL_LINES = 20


class SimulatorError(TailscopeError):
    """The virtual Nucleo cannot do what it was asked. The message says why and what to do."""


class BuildError(SimulatorError):
    """The virtual Nucleo cannot be built."""


@cache
def build() -> Path:
    """Builds the program if it is out of date, and returns its path. Raises BuildError.

    It does so once in each process: cargo takes a while even if it has nothing to do. If several
    processes build at once, cargo lets one build and the others wait.
    """
    _check_cargo()
    command = ["cargo", "build", "--release", "--locked", "--target-dir", str(FOLDER / "target")]
    done = subprocess.run(
        command, cwd=FOLDER, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL
    )
    if done.returncode:
        tail = "\n".join(done.stderr.splitlines()[-TAIL_LINES:])
        raise BuildError(f"The virtual Nucleo does not build; cargo says:\n{tail}")
    return BINARY


def version(program: Path) -> str:
    """The version that the built `program` tells; "unknown" if it tells none."""
    done = subprocess.run([program, "--version"], capture_output=True, text=True, check=False, timeout=10)
    return done.stdout.strip().removeprefix("virtual-nucleo ") or "unknown"


def _check_cargo() -> None:
    if shutil.which("cargo") is None:
        raise BuildError(f"cargo is missing, which builds the virtual Nucleo; {REMEDY}.")
    done = subprocess.run(["cargo", "--version"], capture_output=True, text=True, check=False)
    match = re.match(r"cargo (\d+)\.(\d+)", done.stdout)
    if match is None:
        raise BuildError(
            f"cargo does not tell its version ({(done.stderr or done.stdout).strip()}); {REMEDY}."
        )
    if (int(match[1]), int(match[2])) < MINIMUM_CARGO:
        needed = ".".join(map(str, MINIMUM_CARGO))
        raise BuildError(
            f"{done.stdout.strip()} is too old for the virtual Nucleo ({needed} or later); {REMEDY}."
        )
