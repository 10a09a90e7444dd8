"""The same objects linked again, with the code at other places in the flash.

The cycles of code depend on where it lies in the flash's lines of 16 bytes, and on which lines of
the instruction cache it shares with other code (docs/design/believing.md).
"""

from __future__ import annotations

import hashlib
import shlex
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from base.files.locks import taking_turns
from base.files.whole import write_whole
from firmware.build import catalogue, image
from firmware.build.cmake_build import BuildError, run_step
from firmware.build.image import FirmwareImage

LINE_BYTES = 16
"""Of the flash: 128 bits (RM0368, section 3.4.2)."""
STEP_BYTES = 4
"""GCC gives a function with literals this alignment, so a smaller step would move only some."""
STEPS_IN_LINE = LINE_BYTES // STEP_BYTES
MOST = 256
"""So many placements move the heap by the 1,024 bytes of the instruction cache."""


class Placement(NamedTuple):
    """How much further on the code lies than in the image as it is built.

    `heap_bytes` are those of the heap, `rest_bytes`, which are not more, of board, kernel and
    bench. The markers stay where they are.
    """

    rest_bytes: int = 0
    heap_bytes: int = 0


def placement(number: int) -> Placement:
    """Number 0 is the image as it is built. Any 16 in a row have the heap and the rest at each pair
    of places in their lines once; the heap goes on through the lines of the cache.
    """
    return Placement(number // STEPS_IN_LINE % STEPS_IN_LINE * STEP_BYTES, number * STEP_BYTES)


def placed(built: FirmwareImage, at: Placement) -> FirmwareImage:
    """`built`, linked again of the same objects; itself where nothing moves.

    The file lies beside that of `built`, and is linked once. Raises BuildError, and WriteError.
    """
    if at == Placement():
        return built
    folder = built.elf.parent
    mark = f"placed-{built.sha256[:16]}-"
    elf = folder / f"{mark}{at.rest_bytes}-{at.heap_bytes}.elf"
    if not elf.exists():
        with taking_turns(folder):
            for other in folder.glob("placed-*.elf"):
                if not other.name.startswith(mark):
                    other.unlink(missing_ok=True)
            write_whole(elf, lambda file: _link(built, at, file))
    digest = hashlib.sha256(elf.read_bytes()).hexdigest()
    looks = image.looks(catalogue.allocators()[built.allocator], elf)
    return replace(built, elf=elf, sha256=digest, looks=looks)


def _link(built: FirmwareImage, at: Placement, elf: Path) -> None:
    """The build's own link command, with the places and another output. Raises BuildError."""
    folder = built.elf.parent
    title = f"The firmware with {built.allocator}, elsewhere in the flash,"
    step = run_step(title, "tell its link", ["ninja", "-t", "commands", "-s", built.elf.name], folder)
    words = [word for word in shlex.split(step) if not word.startswith("-Wl,-Map=")]
    try:
        first = words.index("&&") + 1
        command = words[first : words.index("&&", first)]
        command[command.index("-o") + 1] = str(elf)
    except ValueError:
        raise BuildError(f"{folder} was not linked as the bench links: remove it.") from None
    command += [
        f"-Wl,--defsym=placement_{name}={amount}"
        for name, amount in (("rest", at.rest_bytes), ("heap", at.heap_bytes))
    ]
    run_step(title, "link", command, folder)
