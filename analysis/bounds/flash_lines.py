"""The lines of a chip's flash, and of the caches before it."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from simulator.chips import line_of

_OPTION = "--chip"
_L4_PORT = "art-64"
_MOST_BYTES = 1 << 20


@dataclass(frozen=True)
class FlashLines:
    """A line has `bytes` bytes. The caches have `code` and `data` places, each for `together` lines
    that follow each other.
    """

    bytes: int
    code: int
    data: int
    together: int = 1


OF_F4 = FlashLines(16, 64, 8)
"""RM0368 §3.4.2."""
OF_L4 = FlashLines(8, 32, 8, together=4)
"""RM0351 §3.3.4: "32 lines of 4 x 64 bits" and "8 lines of 4 x 64 bits". It is not documented
whether the four share a place; a set that fits if they do, fits if they do not."""


def of_options(options: Sequence[str]) -> FlashLines:
    """The lines of the chip that words of the simulator's command line name; those of the STM32F4
    where they name none.
    """
    words = [part for word in options for part in word.split("=", 1)]
    chip = words[words.index(_OPTION) + 1] if _OPTION in words[:-1] else ""
    of_l4 = _port(Path(chip)) == _L4_PORT if chip.endswith(".toml") else line_of(chip).name == "L4"
    return OF_L4 if of_l4 else OF_F4


def _port(table: Path) -> object:
    """What a chip's own table says of its flash; the simulator has read it already."""
    with suppress(OSError, ValueError, RecursionError), table.open("rb") as file:
        return tomllib.loads(file.read(_MOST_BYTES).decode("utf-8-sig")).get("flash_port")
    return None
