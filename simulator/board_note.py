"""Which chip of the virtual board an image of the bench is for, and on which pins its channels are:
the image says it in a section of its own (firmware/board/board_note.S).
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from elftools.elf.elffile import ELFFile

from base.files.elf import DAMAGED
from base.run_folder.manifest import FIRST_BOARD
from firmware.build.board_table import USUAL_PINS

_SECTION = ".tailscope_board"
_KEPT = 256


def chip_of(elf: Path) -> tuple[str, ...]:
    """The words of the simulator's command line; none of an image that does not say, which is for
    the simulator's own chip.
    """
    board, chip, _ = _note(elf)
    return ("--chip", chip) if chip and board != FIRST_BOARD else ()


def pins_of(elf: Path) -> dict[str, str]:
    """The pin of each channel."""
    moved = (word.partition("=") for word in _note(elf)[2].split(",") if word)
    return {**USUAL_PINS, **{channel: pin for channel, _, pin in moved if channel in USUAL_PINS}}


def _note(elf: Path) -> tuple[str, str, str]:
    try:
        changed_ns = elf.stat().st_mtime_ns
    except OSError:
        return "", "", ""  # who runs it says so
    return _read(elf, changed_ns)


@lru_cache(maxsize=_KEPT)
def _read(elf: Path, _changed_ns: int) -> tuple[str, str, str]:
    """The board's name, its chip's, the channels on other pins; empty where the image has none."""
    try:
        with elf.open("rb") as file:
            section = ELFFile(file).get_section_by_name(_SECTION)
            words = section.data().split(b"\0") if section else []
    except (OSError, *DAMAGED):
        return "", "", ""
    board, chip, moved, *_ = [*(word.decode("ascii", "replace") for word in words), "", "", ""]
    return board, chip, moved
