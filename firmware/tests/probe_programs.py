"""Builds the programs that have markers of firmware/probe: the examples, and one for tests."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from base.files.locks import taking_turns
from base.paths import ROOT
from firmware.build.cmake_build import Build

EXAMPLES = ROOT / "firmware" / "probe" / "examples"
PROBED = ROOT / "firmware" / "tests" / "probed"


@cache
def program(name: str) -> Path:
    """The ELF file of `bare`, `tasks` (the examples) or `nested`."""
    source = PROBED if name == "nested" else EXAMPLES
    folder = ROOT / "build" / "firmware" / f"probe_{source.name}"
    build = Build("A program with markers", source, folder, {})
    with taking_turns(folder):
        build.make()
    return folder / f"{name}.elf"
