"""Which chip of the virtual board an image of the bench is for, what is at its OSC_IN, and on which
pins its channels are: the image says it in a section of its own (firmware/board/board_note.S).
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from elftools.elf.elffile import ELFFile

from base.files.elf import DAMAGED
from base.run_folder.channels import FIRST_BOARD
from firmware.build.board_table import USUAL_PINS

_SECTION = ".tailscope_board"
_KEPT = 256


class _Note(NamedTuple):
    """The names of the board and of its chip, the word of --hse, and `CHANNEL=PIN` for each channel
    that lies elsewhere; empty where the image has none.
    """

    board: str = ""
    chip: str = ""
    hse: str = ""
    moved: str = ""


def chip_of(elf: Path) -> tuple[str, ...]:
    """The words of the simulator's command line; none of an image that does not say, which is for
    the simulator's own chip.
    """
    note = _note(elf)
    if not note.chip or note.board == FIRST_BOARD:
        return ()
    return ("--chip", note.chip, *(("--hse", note.hse) if note.hse else ()))


def pins_of(elf: Path) -> dict[str, str]:
    """The pin of each channel."""
    moved = (word.partition("=") for word in _note(elf).moved.split(",") if word)
    return {**USUAL_PINS, **{channel: pin for channel, _, pin in moved if channel in USUAL_PINS}}


def _note(elf: Path) -> _Note:
    try:
        changed_ns = elf.stat().st_mtime_ns
    except OSError:
        return _Note()  # who runs it says so
    return _read(elf, changed_ns)


@lru_cache(maxsize=_KEPT)
def _read(elf: Path, _changed_ns: int) -> _Note:
    try:
        with elf.open("rb") as file:
            section = ELFFile(file).get_section_by_name(_SECTION)
            words = section.data().split(b"\0") if section else []
    except (OSError, *DAMAGED):
        return _Note()
    return _Note(*(word.decode("ascii", "replace") for word in words[: len(_Note._fields)]))
