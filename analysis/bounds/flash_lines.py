"""The memories of a chip: the lines of its flash, the caches before it, and SRAM that lets wait.

Chips are told apart here as the simulator does it (simulator/crates/stm32/chips).
"""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from simulator.chips import line_of

_OPTION = "--chip"
_MOST_BYTES = 1 << 20
_SRAM_START, _KIB = 0x2000_0000, 1024


@dataclass(frozen=True)
class FlashLines:
    """A line has `bytes` bytes. The caches have `code` and `data` places, each for `together` lines
    that follow each other. `keeps_data`: the line that was read last for data answers at once.
    `latency` and `prefetch` are fields of FLASH_ACR.
    """

    bytes: int
    code: int
    data: int
    together: int = 1
    keeps_data: bool = True
    latency: int = 0xF
    prefetch: int = 1 << 8


OF_F4 = FlashLines(16, 64, 8)
"""RM0368 §3.4.2."""
OF_L4 = FlashLines(8, 32, 8, together=4)
"""RM0351 §3.3.4: "32 lines of 4 x 64 bits" and "8 lines of 4 x 64 bits". It is not documented
whether the four share a place; a set that fits if they do, fits if they do not."""

OF_F1 = FlashLines(8, 0, 0, keeps_data=False, latency=0b111, prefetch=1 << 4)
"""Two blocks of 64 bits, and no cache (PM0075, 2.3 and 3.1)."""
OF_F0 = FlashLines(4, 0, 0, keeps_data=False, latency=0b111, prefetch=1 << 4)
"""Three blocks of 32 bits, and no cache (RM0091 §3.2.1 and §3.5.1)."""
_PORTS = {"art": OF_F4, "art-64": OF_L4, "prefetch-64x2": OF_F1, "prefetch-32x3": OF_F0}
_OF_LINES = {"F4": OF_F4, "L4": OF_L4, "F1": OF_F1, "F0": OF_F0}


@dataclass(frozen=True)
class Memories:
    """Those of a chip. `core` is as in `cortex-m4`. A load from `waiting`, a part of the SRAM,
    takes a cycle more.
    """

    core: str = "cortex-m4"
    lines: FlashLines = OF_F4
    waiting: range = range(0)


OF_F401 = Memories()
_F407_WAITING = range(_SRAM_START + 112 * _KIB, _SRAM_START + 128 * _KIB)
"""SRAM2 (RM0090 §2.3.1); docs/reference/timing.md says by whom the cycle was measured."""


def of_options(options: Sequence[str]) -> Memories:
    """The memories of the chip that words of the simulator's command line name; those of the
    STM32F401 where they name none.
    """
    words = [part for word in options for part in word.split("=", 1)]
    chip = words[words.index(_OPTION) + 1] if _OPTION in words[:-1] else ""
    line = line_of(chip)
    if chip.endswith(".toml"):
        return _of_table(Path(chip), line.core)
    waiting = _F407_WAITING if "F407" in chip.upper() else range(0)
    return Memories(line.core, _OF_LINES[line.name], waiting)


def _of_table(table: Path, core: str) -> Memories:
    """What a chip's own table says of it; the simulator has read it already."""
    document: dict[str, Any] = {}
    with suppress(OSError, ValueError, RecursionError), table.open("rb") as file:
        document = tomllib.loads(file.read(_MOST_BYTES).decode("utf-8-sig"))
    waiting = range(0)
    for chip in document.get("chips", ()):
        end = _SRAM_START + chip.get("sram_kib", 0) * _KIB
        second = range(end - chip.get("second_sram_kib", 0) * _KIB, end)
        waiting = range(min(waiting.start or second.start, second.start), max(waiting.stop, end))
        waiting = waiting if second else range(0)
    return Memories(
        str(document.get("core", core)), _PORTS.get(str(document.get("flash_port")), OF_F4), waiting
    )
