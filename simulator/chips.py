"""What the host must know of a chip by its name: line, core and interrupts (vectors.toml)."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path

_FILE = Path(__file__).with_name("vectors.toml")
_FIRST = "F4"
"""The line of the chip of a command that names none."""
_NAME = re.compile(r"(?:stm32)?([fgl]\d)", re.IGNORECASE)
_TITLES = {
    "cortex-m0": "Cortex-M0 (Armv6-M)",
    "cortex-m0plus": "Cortex-M0+ (Armv6-M)",
    "cortex-m3": "Cortex-M3 (Armv7-M)",
    "cortex-m4": "Cortex-M4 (Armv7E-M)",
}


@dataclass(frozen=True)
class Line:
    """A line of chips. `positions` has each interrupt's place in the vector table by its name;
    `parts` that of names which people give to a part of a shared vector.
    """

    name: str
    core: str
    manual: str
    positions: Mapping[str, int]
    parts: Mapping[str, int]

    @property
    def core_title(self) -> str:
        """`Cortex-M0 (Armv6-M)`."""
        return _TITLES[self.core]


def line_of(chip: str) -> Line:
    """The line of a chip: `stm32f103rb`, `f103`, or the path of a table; empty is the usual chip.

    A chip of another line is taken for one of the usual: the simulator itself refuses it.
    """
    match = _NAME.match(_family(Path(chip)) if chip.endswith(".toml") else chip)
    return _lines().get(match[1].upper() if match else _FIRST, _lines()[_FIRST])


def _family(table: Path) -> str:
    with suppress(OSError, ValueError):  # the simulator says what is wrong with it
        return str(tomllib.loads(table.read_text(encoding="utf-8")).get("family", ""))
    return ""


@cache
def _lines() -> dict[str, Line]:
    tables = tomllib.loads(_FILE.read_text(encoding="utf-8"))
    return {
        name: Line(name, table["core"], table["manual"], _positions(table["vectors"]), table["also"])
        for name, table in tables.items()
    }


def _positions(vectors: list[dict[str, object]]) -> dict[str, int]:
    return {
        name: int(str(part["first"])) + number
        for part in vectors
        for number, name in enumerate(str(part["names"]).split())
    }
