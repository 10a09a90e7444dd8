"""Where in a built image a search looks at a block, for allocators that do not count their probes.

The catalogue names a statement of the pinned source, or the lines of code that came compiled, and
the instruction by which the search looks: a load. The image's line table says which instructions
belong to a line. Each line must have exactly one such instruction, or as many as the catalogue says
there are ways. Then their executions are the looks. Anything else is refused: a compiler that
arranged the loop otherwise would make the counts mean something else.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Sequence
from pathlib import Path

from base.files.errors import TailscopeError
from base.paths import ROOT
from firmware.build.catalogue import SearchPlace
from firmware.build.cmake_build import run_step

_OURS = ROOT / "firmware"
"""An adapter may have the name of what it adapts."""

_LINE = re.compile(r"(\S+):([0-9]+)(?: \(discriminator [0-9]+\))?")
_INSTRUCTION = re.compile(r" *([0-9a-f]+):\t(.*)")


class SearchError(TailscopeError):
    """A place is not in the image as the catalogue says. The message says what was found."""


def find(elf: Path, places: Sequence[SearchPlace], outside: Path | None = None) -> tuple[int, ...]:
    """Addresses whose executions add up to the looks of one operation. Raises SearchError, and
    BuildError where the image cannot be read.

    `elf` lies in its build folder, whose compile_commands.json leads to the sources. `outside` is
    the folder of an allocator from outside: its file and what that includes are in no such list.
    """
    looks: list[int] = []
    for place in places:
        code = _code(elf, place.function)
        for line in place.lines or _lines_of(source_of(elf.parent, place.file, outside), place):
            addresses = [
                address
                for address, file, at, text in code
                if at == line and _is(place.file, file) and re.match(place.instruction, text)
            ]
            if len(addresses) != place.alternatives:
                raise SearchError(
                    f"Line {line} of {place.file} has {len(addresses)} instructions like "
                    f"{place.instruction!r} in {place.function}, not {place.alternatives}: the compiler "
                    "arranged the search otherwise; mend its `search`."
                )
            looks += addresses
    return tuple(looks)


def _lines_of(source: Path, place: SearchPlace) -> tuple[int, ...]:
    """The lines with the statement, compared without regard to blanks."""
    wanted = " ".join(place.statement.split())
    lines = source.read_text(errors="replace").splitlines()
    numbers = tuple(number for number, line in enumerate(lines, 1) if wanted in " ".join(line.split()))
    if len(numbers) != place.times:
        raise SearchError(
            f"{place.file} has {place.statement!r} {len(numbers)} times, not {place.times}: "
            "it is another version; mend its `search`."
        )
    return numbers


def source_of(build: Path, name: str, outside: Path | None) -> Path:
    """The one file of this name that the image was built of. Raises SearchError."""
    if outside is not None:
        for file in (outside / name, outside / "beside" / name):
            if file.is_file():
                return file
    commands = json.loads((build / "compile_commands.json").read_text())
    files = [Path(entry["file"]) for entry in commands]
    paths = [file for file in files if _is(name, str(file)) and not file.is_relative_to(_OURS)]
    # CMake does not list what cargo compiles: it lies where cargo keeps the crates it has verified.
    cargo = Path(os.environ.get("CARGO_HOME") or Path.home() / ".cargo")
    paths = paths or sorted(cargo.glob(f"registry/src/*/{name}"))[:1]
    if len(paths) != 1:
        raise SearchError(
            f"{len(paths)} sources of the image are called {name}: mend the `search` that names it."
        )
    return paths[0]


def _is(name: str, path: str) -> bool:
    """Whether `path` ends with the file name `name`, or with all the folders that it names."""
    return f"/{path}".endswith(f"/{name}")


def _code(elf: Path, function: str) -> list[tuple[int, str, int, str]]:
    """(address, file, line, text) of each instruction of `function`."""
    shown = ("-d", "-l", "--no-show-raw-insn", f"--disassemble={function}")
    command = ["arm-none-eabi-objdump", *shown, str(elf)]
    code, file, line = [], "", 0
    for row in run_step("The image", "show its code", command).splitlines():
        if placed := _LINE.fullmatch(row):
            file, line = placed[1], int(placed[2])
        elif instruction := _INSTRUCTION.fullmatch(row):
            code.append((int(instruction[1], 16), file, line, instruction[2]))
    if not code:
        raise SearchError(f"The image has no function {function}: mend its `search`.")
    return code
