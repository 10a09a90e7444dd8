"""How an allocator looks: one colour, dash and marker each, the same in every figure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import count

# Okabe and Ito, "Color Universal Design" (2008). Their yellow is too light on white.
_COLOURS = ("#d55e00", "#0072b2", "#009e73", "#cc79a7", "#8a6d00", "#56b4e9", "#444444")
_DASHES = ("solid", "dash", "dot", "dashdot", "longdash", "longdashdot", "solid")
_SYMBOLS = ("circle", "square", "diamond", "triangle-up", "cross", "x", "star")

# The bench was made to compare these two, so they keep their looks from report to report.
_RESERVED = {"seglist": 0, "tlsf": 1}

INK = "#1f2933"
MUTED = "#667380"
GRID = "#e4e8ec"


@dataclass(frozen=True)
class Style:
    colour: str
    dash: str
    symbol: str

    def tint(self, alpha: float) -> str:
        """The colour as rgba() with `alpha`."""
        red, green, blue = (int(self.colour[i : i + 2], 16) for i in (1, 3, 5))
        return f"rgba({red},{green},{blue},{alpha})"


def assign_styles(allocators: Iterable[str]) -> dict[str, Style]:
    """A style for each allocator: reserved ones first, the others in alphabetical order."""
    names = sorted(set(allocators), key=str)
    free = (slot for slot in count() if slot not in _RESERVED.values())
    slots = {name: _RESERVED[name] for name in names if name in _RESERVED}
    slots |= dict(zip((name for name in names if name not in _RESERVED), free, strict=False))
    return {name: _style(slot) for name, slot in slots.items()}


def _style(slot: int) -> Style:
    """Colours, dashes and markers in turn. Each further round pairs them differently."""
    lap, place = divmod(slot, len(_COLOURS))
    other = (place + 3 * lap) % len(_COLOURS)
    return Style(_COLOURS[place], _DASHES[other], _SYMBOLS[other])
