"""The wiring plan as a picture: nucleo.svg has the board and the analyzer, and nine wires are drawn
over it.

It has a light ground of its own, so that it can be read on a dark page, too.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from string import Template
from xml.sax.saxutils import escape

from capture.wiring.plan import GROUND, GROUND_MORPHO, Clip
from firmware.build import boards

# Where nucleo.svg has what follows. ST's own headers have odd numbers in the left column.
_BACKGROUND = Path(__file__).with_name("nucleo.svg")
_PITCH, _LEFT, _RIGHT = 24, 256, 494
# Of each connector the number of the topmost pin, the step to the next, and where the topmost is.
_CONNECTORS = {
    "CN6": (1, 1, _LEFT, 294),
    "CN8": (1, 1, _LEFT, 510),
    "CN5": (10, -1, _RIGHT, 222),
    "CN9": (8, -1, _RIGHT, 498),
}
_MORPHO_X = {"CN7": 204, "CN10": 532}
_MORPHO_TOP = 198
_INPUT_X, _INPUT_TOP, _INPUT_PITCH, _NAME_X = 856, 222, 48, 976

_FIRST_LANE, _LANE_PITCH = 598, 26
# Wires of the left side go round below the board, the outermost from the topmost pin.
_OUTER_X, _LOWEST_Y, _ROUND_PITCH = 124, 738, 14
# In an order of their lanes in which few wires cross. Dark enough for a light ground, and told
# apart by who does not see red from green (Wong, Nature Methods 8:441, 2011, darkened).
_COLOURS = {
    "CRIT": "#b3440f",
    "OP": "#00628f",
    "CISR": "#5b3fa0",
    "STIM": "#9a6b00",
    "TASK": "#2f86b5",
    "ISR": "#00785a",
    "CTRL": "#a8447c",
    GROUND: "#111111",
    "SYNC": "#6b5b4b",
}


@dataclass(frozen=True)
class _Wire:
    """From a pin of the board, at `x` and `y`, to an input of the analyzer, at `to_y`."""

    name: str
    input: str
    morpho: str
    x: int
    y: int
    to_y: int


def svg(clips: Sequence[Clip], title: str = "") -> str:
    """The picture of these eight clips and the ground on the board called `title`; without one, on
    the default board. Equal clips give equal bytes.
    """
    title = title or boards.default().title
    ends = [(clip.place.channel, clip.input, clip.place.morpho, clip.place.connector) for clip in clips]
    ends.append((GROUND, GROUND, GROUND_MORPHO, "CN6-6"))
    wires = [
        _Wire(name, theirs, morpho, *_pin(connector), _INPUT_TOP + _INPUT_PITCH * row)
        for row, (name, theirs, morpho, connector) in enumerate(ends)
    ]
    rounds = sorted(wire.y for wire in wires if wire.x == _LEFT)
    return Template(_BACKGROUND.read_text(encoding="utf-8")).substitute(
        title=escape(title),
        chip=escape(title.rpartition("-")[2]),
        words=escape("; ".join(f"{clip.input} on {clip.place.header}" for clip in clips)),
        wires="\n".join(line for wire in wires for line in _drawn(wire, rounds)),
    )


def _pin(connector: str) -> tuple[int, int]:
    """Where a pin is."""
    name, _, number = connector.partition("-")
    first, step, x, top = _CONNECTORS[name]
    return x, top + _PITCH * (int(number) - first) * step


def _drawn(wire: _Wire, rounds: list[int]) -> Iterator[str]:
    """The wire, both its ends, and the pin that a clip may take instead."""
    colour = _COLOURS[wire.name]
    name, _, number = wire.morpho.partition("-")
    row, column = divmod(int(number) - 1, 2)
    x, y = _MORPHO_X[name] + 14 * column, _MORPHO_TOP + _PITCH * row
    yield f'<rect x="{x - 3}" y="{y - 3}" width="6" height="6" rx="1" fill="#ffcf4d"/>'
    yield f'<rect x="{wire.x - 5}" y="{wire.y - 5}" width="10" height="10" rx="1" fill="#f5f6f7"/>'
    path = f"M{wire.x} {wire.y}"
    if wire.x == _LEFT:
        around = _ROUND_PITCH * rounds.index(wire.y)
        path += f"H{_OUTER_X + around}V{_LOWEST_Y - around}"
    path += f"H{_FIRST_LANE + _LANE_PITCH * [*_COLOURS].index(wire.name)}V{wire.to_y}H{_INPUT_X}"
    for stroke, width in (("#fbfaf7", 6), (colour, 3)):
        style = f'stroke="{stroke}" stroke-width="{width}" stroke-linejoin="round" stroke-linecap="round"'
        yield f'<path d="{path}" fill="none" {style}/>'
    yield f'<circle cx="{_INPUT_X}" cy="{wire.to_y}" r="5" fill="{colour}"/>'
    yield _label(_INPUT_X + 14, wire.to_y, wire.input, "#111111")
    if wire.name != GROUND:
        yield _label(_NAME_X, wire.to_y, wire.name, colour, "end")
        side, anchor = (54, "start") if wire.x == _LEFT else (-54, "end")
        yield _label(wire.x + side, wire.y, wire.name, colour, anchor)


def _label(x: int, y: int, words: str, colour: str, anchor: str = "start") -> str:
    return (
        f'<text x="{x}" y="{y + 5}" text-anchor="{anchor}" font-weight="bold" fill="{colour}">'
        f"{escape(words)}</text>"
    )
