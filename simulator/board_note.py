"""Which chip of the virtual board an image of the bench is for, and what is at its OSC_IN: the
image says it in a section of its own (firmware/board/board_note.S).
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from elftools.elf.elffile import ELFFile

from base.files.elf import DAMAGED
from base.run_folder.manifest import FIRST_BOARD

_SECTION = ".tailscope_board"
_KEPT = 256


def chip_of(elf: Path) -> tuple[str, ...]:
    """The words of the simulator's command line; none of an image that does not say, which is for
    the simulator's own chip.
    """
    try:
        changed_ns = elf.stat().st_mtime_ns
    except OSError:
        return ()  # who runs it says so
    return _chip_of(elf, changed_ns)


@lru_cache(maxsize=_KEPT)
def _chip_of(elf: Path, _changed_ns: int) -> tuple[str, ...]:
    board, chip, hse = _read(elf)
    if not chip or board == FIRST_BOARD:
        return ()
    return ("--chip", chip, *(("--hse", hse) if hse else ()))


def _read(elf: Path) -> tuple[str, str, str]:
    """The names of the board and of its chip, and the word of --hse; empty where the image has
    none.
    """
    try:
        with elf.open("rb") as file:
            section = ELFFile(file).get_section_by_name(_SECTION)
            words = section.data().split(b"\0") if section else []
    except (OSError, *DAMAGED):
        return "", "", ""
    board, chip, hse, *_ = [*(word.decode("ascii", "replace") for word in words), "", "", ""]
    return board, chip, hse
