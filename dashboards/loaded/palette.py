"""How runs look: tokens for colours, and a dash and a marker.

A token is a CSS variable. The page resolves it when it draws (dashboards/page/paint.js): so one
figure serves light and dark, and what is shown together has colours that do not repeat. Dash and
marker are given anew there too, so that the runs that are shown differ in them while they are few.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

INK = "var(--ink)"
MUTED = "var(--muted)"
GRID = "var(--rule)"
PAPER = "var(--paper)"

SHADES = tuple(f"var(--palette-{place})" for place in range(8))
"""For what is no run, such as two parts of a bar."""

MEANT_DASH, MEANT_DOT = "6px,4px", "2px,3px"
"""Dashes of lines that mean something by them. paint.js gives the chosen runs those by name."""

_DASHES = ("solid", "dash", "dot", "dashdot", "longdash", "longdashdot")
_SYMBOLS = ("circle", "square", "diamond", "triangle-up", "cross", "x", "star")

# The bench was made to compare these two, so they come first and keep their looks.
_FIRST = ("seglist", "tlsf")


@dataclass(frozen=True)
class Style:
    """`entry` is the run's place in the picker, from 0."""

    entry: int

    @property
    def colour(self) -> str:
        return f"var(--run-{self.entry})"

    def tint(self, alpha: float) -> str:
        """The colour with `alpha`, in steps of 0.01."""
        return f"var(--run-{self.entry}-{round(100 * alpha)})"

    @property
    def dash(self) -> str:
        return _DASHES[self.entry % len(_DASHES)]

    @property
    def symbol(self) -> str:
        return _SYMBOLS[self.entry % len(_SYMBOLS)]


def assign_styles(names: Iterable[str]) -> dict[str, Style]:
    """A style for each name: seglist and TLSF first, the others in alphabetical order."""
    ordered = sorted(set(names), key=lambda name: (name not in _FIRST, name))
    return {name: Style(entry) for entry, name in enumerate(ordered)}
