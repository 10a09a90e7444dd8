"""The wiring plan as a picture: the Nucleo's headers from above, nine wires, the analyzer's inputs.

It has a light ground of its own, so that it can be read on a dark page, too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from xml.sax.saxutils import escape

from capture.wiring.plan import GROUND, Clip
from firmware.build import boards

WIDTH, HEIGHT = 900, 610

# From the top, as the board lies with its USB connector up (UM1724, "Extension connectors").
_CN6 = ("", "IOREF", "NRST", "3V3", "5V", "GND", "GND", "VIN")
_CN8 = ("A0", "A1", "A2", "A3", "A4", "A5")
_CN5 = ("D15", "D14", "AREF", "GND", "D13", "D12", "D11", "D10", "D9", "D8")
_CN9 = ("D7", "D6", "D5", "D4", "D3", "D2", "D1", "D0")

_BOARD_LEFT, _BOARD_RIGHT, _BOARD_TOP, _BOARD_BOTTOM = 170, 460, 40, 540
_PITCH = 24
# Of each connector its names from the top, the number of the topmost pin, and where that is drawn.
_LEFT, _RIGHT = 190, 440
_CONNECTORS = (
    ("CN6", _CN6, 1, 1, _LEFT, 110),
    ("CN8", _CN8, 1, 1, _LEFT, 340),
    ("CN5", _CN5, 10, -1, _RIGHT, 80),
    ("CN9", _CN9, 8, -1, _RIGHT, 350),
)
_INPUT_X, _INPUT_TOP, _INPUT_PITCH = 745, 120, 48

# Lanes from the board to the analyzer, in an order in which few wires cross.
_LANES = ("CRIT", "OP", "CISR", "STIM", "TASK", "ISR", "CTRL", GROUND, "SYNC")
_FIRST_LANE, _LANE_PITCH = 492, 26
# Wires of the left side go round below the board, the outermost from the topmost pin.
_OUTER_X, _LOWEST_Y, _ROUND_PITCH = 112, 590, 14
# Dark enough for a light ground, and told apart by who does not see red from green (Wong, Nature
# Methods 8:441, 2011, darkened); each end has its name, too.
_COLOURS = {
    "CRIT": "#b3440f",
    "OP": "#00628f",
    "STIM": "#9a6b00",
    "ISR": "#00785a",
    "TASK": "#2f86b5",
    "CTRL": "#a8447c",
    "CISR": "#5b3fa0",
    "SYNC": "#6b5b4b",
    GROUND: "#111111",
}


@dataclass(frozen=True)
class _Wire:
    """From a pin of the board to an input of the analyzer."""

    name: str
    input: str
    from_x: int
    from_y: int
    to_y: int


def svg(clips: Sequence[Clip], title: str = "") -> str:
    """The picture of these eight clips and the ground on the board called `title`; without one, on
    the default board. Equal clips give equal bytes.
    """
    title = title or boards.default().title
    return "\n".join((*_head(clips), *_board(clips, title), *_analyzer(clips), *_wires(clips), "</svg>", ""))


def _head(clips: Sequence[Clip]) -> Iterator[str]:
    words = "; ".join(f"{clip.input} on {clip.place.header}" for clip in clips)
    yield (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
        'font-family="DejaVu Sans, Verdana, sans-serif" font-size="15">'
    )
    yield f"<title>Wiring: {escape(words)}; ground on {GROUND}</title>"
    yield f'<rect width="{WIDTH}" height="{HEIGHT}" rx="10" fill="#fbfaf7"/>'


def _board(clips: Sequence[Clip], title: str) -> Iterator[str]:
    width, height = _BOARD_RIGHT - _BOARD_LEFT, _BOARD_BOTTOM - _BOARD_TOP
    middle = (_BOARD_LEFT + _BOARD_RIGHT) // 2
    yield (
        f'<rect x="{_BOARD_LEFT}" y="{_BOARD_TOP}" width="{width}" height="{height}" rx="8" '
        'fill="#ffffff" stroke="#444444" stroke-width="2"/>'
    )
    yield f'<rect x="{middle - 30}" y="22" width="60" height="34" rx="4" fill="#d9d9d9" stroke="#444444"/>'
    yield _text(middle, 45, "USB", anchor="middle")
    yield _text(middle, 508, title, anchor="middle", weight="bold")
    yield _text(middle, 528, "from above", anchor="middle")
    used = {clip.place.connector: clip.place.channel for clip in clips} | {"CN6-6": ""}
    for connector, names, number, step, x, top in _CONNECTORS:
        yield from _connector(connector, names, number, step, x, top, used)


def _connector(
    connector: str,
    names: Sequence[str],
    number: int,
    step: int,
    x: int,
    top: int,
    used: Mapping[str, str],
) -> Iterator[str]:
    """`used` has the channels by the pins that have a wire; the ground has no channel."""
    side, anchor = (18, "start") if x == _LEFT else (-18, "end")
    yield _text(x + side, top - 20, connector, anchor=anchor, weight="bold")
    for row, name in enumerate(names):
        pin = f"{connector}-{number + step * row}"
        is_used = pin in used
        y = top + _PITCH * row
        fill = "#333333" if is_used else "#ffffff"
        yield f'<rect x="{x - 6}" y="{y - 6}" width="12" height="12" fill="{fill}" stroke="#333333"/>'
        yield _text(
            x + side,
            y + 5,
            name,
            anchor=anchor,
            weight="bold" if is_used else "normal",
            fill="#111111" if is_used else "#6a6a6a",
        )
        if channel := used.get(pin):
            yield _text(x + 3 * side, y + 5, channel, anchor=anchor, weight="bold", fill=_COLOURS[channel])


def _analyzer(clips: Sequence[Clip]) -> Iterator[str]:
    bottom = _INPUT_TOP + _INPUT_PITCH * len(clips)
    yield (
        f'<rect x="{_INPUT_X}" y="{_INPUT_TOP - 60}" width="{WIDTH - 20 - _INPUT_X}" '
        f'height="{bottom - _INPUT_TOP + 90}" rx="8" fill="#ffffff" stroke="#444444" stroke-width="2"/>'
    )
    yield _text((_INPUT_X + WIDTH - 20) // 2, _INPUT_TOP - 32, "analyzer", anchor="middle", weight="bold")


def _wires(clips: Sequence[Clip]) -> Iterator[str]:
    wires = [
        _Wire(clip.place.channel, clip.input, *_pin(clip.place.connector), _INPUT_TOP + _INPUT_PITCH * row)
        for row, clip in enumerate(clips)
    ]
    wires.append(_Wire(GROUND, GROUND, *_pin("CN6-6"), _INPUT_TOP + _INPUT_PITCH * len(clips)))
    rounds = sorted((wire.from_y, wire.name) for wire in wires if wire.from_x == _LEFT)
    place = {name: number for number, (_, name) in enumerate(rounds)}
    for wire in wires:
        yield from _wire(wire, place.get(wire.name))


def _wire(wire: _Wire, around: int | None) -> Iterator[str]:
    """`around` is the place among those that go round the board, None for a straight one."""
    lane = _FIRST_LANE + _LANE_PITCH * _LANES.index(wire.name)
    path = f"M{wire.from_x} {wire.from_y}"
    if around is not None:
        path += f"H{_OUTER_X + _ROUND_PITCH * around}V{_LOWEST_Y - _ROUND_PITCH * around}"
    path += f"H{lane}V{wire.to_y}H{_INPUT_X}"
    colour = _COLOURS[wire.name]
    style = 'fill="none" stroke-linejoin="round" stroke-linecap="round"'
    yield f'<path d="{path}" {style} stroke="#fbfaf7" stroke-width="6"/>'
    yield f'<path d="{path}" {style} stroke="{colour}" stroke-width="3"/>'
    yield f'<circle cx="{_INPUT_X}" cy="{wire.to_y}" r="5" fill="{colour}"/>'
    if wire.name == GROUND:
        yield _text(_INPUT_X + 14, wire.to_y + 5, GROUND, weight="bold", fill=colour)
        return
    yield _text(_INPUT_X + 14, wire.to_y + 5, wire.input, weight="bold")
    yield _text(WIDTH - 34, wire.to_y + 5, wire.name, anchor="end", weight="bold", fill=colour)


def _pin(connector: str) -> tuple[int, int]:
    """Where a pin is drawn."""
    name, _, number = connector.partition("-")
    for drawn, _names, first, step, x, top in _CONNECTORS:
        if drawn == name:
            return x, top + _PITCH * (int(number) - first) * step
    raise AssertionError(f"{connector} is not drawn.")


def _text(
    x: int, y: int, words: str, anchor: str = "start", weight: str = "normal", fill: str = "#111111"
) -> str:
    return (
        f'<text x="{x}" y="{y}" text-anchor="{anchor}" font-weight="{weight}" fill="{fill}">'
        f"{escape(words)}</text>"
    )
