"""Builds the firmware that moves one pin at a time."""

from __future__ import annotations

from pathlib import Path

from base.files.turns import taking_turns
from base.paths import ROOT
from firmware.build import cmake_build
from firmware.build import image as build

SOURCE = ROOT / "firmware" / "wiring"
_FOLDER = SOURCE.parent.parent / "build" / "firmware" / "wiring"


def build_wiring() -> Path:
    """The ELF file that `./lab wiring check` loads. Raises BuildError."""
    cmake_build.check_tools(build.TOOLS)
    described = cmake_build.Build("The wiring firmware", SOURCE, _FOLDER, {})
    with taking_turns(_FOLDER):
        described.make()
    return _FOLDER / "wiring.elf"
