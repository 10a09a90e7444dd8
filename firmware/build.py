"""Builds the firmware of one allocator with CMake and Ninja."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

_FIRMWARE = Path(__file__).resolve().parent
_BUILDS = _FIRMWARE.parent / "build" / "firmware"

_PACKAGES = {
    "cmake": "cmake",
    "ninja": "ninja-build",
    "arm-none-eabi-gcc": "gcc-arm-none-eabi and libnewlib-arm-none-eabi",
}
"""Tools by name, and the Debian packages that bring them."""

_TAIL_LINES = 20


class BuildError(Exception):
    """The firmware could not be built; the message says why and what to do."""


@dataclass(frozen=True)
class FirmwareImage:
    """A built ELF file."""

    elf: Path
    sha256: str
    """Digest of the file, lower-case hexadecimal: the same for the same sources, wherever they lie."""
    allocator: str


def allocators() -> tuple[str, ...]:
    """Names of the allocators that can be linked, sorted."""
    return tuple(sorted(source.stem for source in (_FIRMWARE / "heap" / "indexes").glob("*.c")))


def build(allocator: str, art: bool = True) -> FirmwareImage:
    """Builds the firmware with `allocator`; `art` is the flash accelerator. Raises BuildError."""
    _check_allocator(allocator)
    _check_tools()
    folder = _BUILDS / (allocator if art else f"{allocator}-art-off")
    _run("configure", allocator, _configure_command(folder, allocator, art))
    _run("compile", allocator, ["cmake", "--build", str(folder)])
    elf = folder / "tailscope.elf"
    return FirmwareImage(elf, hashlib.sha256(elf.read_bytes()).hexdigest(), allocator)


def _kernel_path() -> str:
    """The user's own kernel checkout, absolute; empty for the pinned one."""
    chosen = os.environ.get("FREERTOS_KERNEL_PATH", "")
    return str(Path(chosen).resolve()) if chosen else ""


def _configure_command(folder: Path, allocator: str, art: bool) -> list[str]:
    return [
        *("cmake", "-S", str(_FIRMWARE), "-B", str(folder), "-G", "Ninja"),
        f"-DTAILSCOPE_ALLOCATOR={allocator}",
        f"-DTAILSCOPE_ART={'on' if art else 'off'}",
        f"-DFREERTOS_KERNEL_PATH={_kernel_path()}",
    ]


def _check_allocator(allocator: str) -> None:
    if allocator not in allocators():
        known = ", ".join(allocators())
        raise BuildError(f"There is no allocator {allocator!r}: choose one of {known}.")


def _check_tools() -> None:
    for tool, packages in _PACKAGES.items():
        if shutil.which(tool) is None:
            raise BuildError(f"{tool} is not on the PATH: install the Debian package {packages}.")


def _run(step: str, allocator: str, command: list[str]) -> None:
    finished = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    if finished.returncode != 0:
        tail = finished.stdout.decode(errors="replace").splitlines()[-_TAIL_LINES:]
        raise BuildError("\n".join([f"The firmware with {allocator} did not {step}; the tool said:", *tail]))
