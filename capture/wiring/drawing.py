"""The wiring plan as a picture: the Nucleo's headers from above, nine wires, the analyzer's inputs.

It has a light ground of its own, so that it can be read on a dark page, too.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from xml.sax.saxutils import escape

from capture.wiring.plan import GROUND, GROUND_MORPHO, Clip
from firmware.build import boards

WIDTH, HEIGHT = 1010, 760

# From the top, as the board lies with its USB connector up (UM1724, "Extension connectors").
_CN6 = ("", "IOREF", "NRST", "3V3", "5V", "GND", "GND", "VIN")
_CN8 = ("A0", "A1", "A2", "A3", "A4", "A5")
_CN5 = ("D15", "D14", "AREF", "GND", "D13", "D12", "D11", "D10", "D9", "D8")
_CN9 = ("D7", "D6", "D5", "D4", "D3", "D2", "D1", "D0")

_BOARD_LEFT, _BOARD_RIGHT, _BOARD_TOP, _BOARD_BOTTOM = 186, 564, 40, 692
# Above it lies the ST-Link, which can be broken off.
_BREAK = 166
_PITCH = 24
# Of each connector its names from the top, the number of the topmost pin, and where that is drawn.
_LEFT, _RIGHT = 256, 494
_CONNECTORS = (
    ("CN6", _CN6, 1, 1, _LEFT, 294),
    ("CN8", _CN8, 1, 1, _LEFT, 510),
    ("CN5", _CN5, 10, -1, _RIGHT, 222),
    ("CN9", _CN9, 8, -1, _RIGHT, 498),
)
# ST's own headers: 19 rows of two pins, odd numbers in the left column; where the topmost lie.
_MORPHO = (("CN7", 204, 198), ("CN10", 532, 198))
_MORPHO_ROWS, _MORPHO_PITCH = 19, _PITCH
_INPUT_X, _INPUT_TOP, _INPUT_PITCH = 856, 222, 48

# Lanes from the board to the analyzer, in an order in which few wires cross.
_LANES = ("CRIT", "OP", "CISR", "STIM", "TASK", "ISR", "CTRL", GROUND, "SYNC")
_FIRST_LANE, _LANE_PITCH = 598, 26
# Wires of the left side go round below the board, the outermost from the topmost pin.
_OUTER_X, _LOWEST_Y, _ROUND_PITCH = 124, 738, 14
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
_BOARD, _PRINT = "#eef1f2", "#4b5258"


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
    width, middle = _BOARD_RIGHT - _BOARD_LEFT, (_BOARD_LEFT + _BOARD_RIGHT) // 2
    # The ST-Link's part, two bridges of board, and the part of the chip.
    yield _box(_BOARD_LEFT + 30, _BOARD_TOP, width - 60, _BREAK - _BOARD_TOP - 8, _BOARD, 10)
    yield _box(_BOARD_LEFT, _BREAK, width, _BOARD_BOTTOM - _BREAK, _BOARD, 14)
    yield from (_box(x, _BREAK - 10, 44, 12, "#eef1f2", 0, "none") for x in (middle - 96, middle + 52))
    yield from _st_link(middle)
    yield from _chip_and_buttons(middle, title)
    used = {clip.place.connector: clip.place.channel for clip in clips} | {"CN6-6": ""}
    for connector, names, number, step, x, top in _CONNECTORS:
        yield from _connector(connector, names, number, step, x, top, used)
    same = {clip.place.morpho for clip in clips} | {GROUND_MORPHO}
    for connector, x, top in _MORPHO:
        yield from _morpho(connector, x, top, same)


def _st_link(middle: int) -> Iterator[str]:
    yield _box(middle - 30, 20, 60, 40, "#c9ced3", 5, "#5d646a")
    yield _text(middle, 45, "USB", anchor="middle")
    yield _box(middle - 22, 82, 44, 44, "#23272b", 3)
    yield _text(middle, 109, "ST-Link", anchor="middle", fill="#ffffff", size=10)
    yield f'<circle cx="{middle + 70}" cy="98" r="5" fill="#c4442f"/>'
    yield _text(middle + 82, 103, "LD1", fill=_PRINT, size=11)


def _chip_and_buttons(middle: int, title: str) -> Iterator[str]:
    y = 400
    yield f'<g transform="rotate(45 {middle} {y})">'
    yield _box(middle - 42, y - 42, 84, 84, "#9aa1a7", 2, "none")
    yield _box(middle - 36, y - 36, 72, 72, "#23272b", 4)
    yield "</g>"
    yield _text(middle, y - 3, "STM32", anchor="middle", fill="#e6e9eb", size=12)
    yield _text(middle, y + 13, title.rpartition("-")[2], anchor="middle", fill="#e6e9eb", size=12)
    for x, colour, words in ((middle - 34, "#2257a8", "user"), (middle + 34, "#23272b", "reset")):
        yield _box(x - 17, 182, 34, 34, "#d5dade", 4, "#5d646a")
        yield f'<circle cx="{x}" cy="199" r="11" fill="{colour}"/>'
        yield _text(x, 232, words, anchor="middle", fill=_PRINT, size=11)
    yield _text(middle, 652, title, anchor="middle", weight="bold")
    yield _text(middle, 672, "from above", anchor="middle", fill=_PRINT, size=13)


def _morpho(connector: str, x: int, top: int, same: Container[str]) -> Iterator[str]:
    """A double row of pins; those that a clip may take instead are golden."""
    height = _MORPHO_PITCH * _MORPHO_ROWS
    yield _box(x - 7, top - 12, 28, height, "#3a4046", 3)
    yield _text(x + 7, top + height + 4, connector, anchor="middle", fill=_PRINT, size=11)
    for number in range(1, 2 * _MORPHO_ROWS + 1):
        row, column = divmod(number - 1, 2)
        fill = "#ffcf4d" if f"{connector}-{number}" in same else "#8d949a"
        yield _box(x - 3 + 14 * column, top - 3 + _MORPHO_PITCH * row, 6, 6, fill, 1, "none")


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
    yield _text(x + side, top - 18, connector, anchor=anchor, weight="bold")
    yield _box(x - 11, top - 13, 22, _PITCH * (len(names) - 1) + 26, "#23272b", 3)
    for row, name in enumerate(names):
        pin = f"{connector}-{number + step * row}"
        is_used = pin in used
        y = top + _PITCH * row
        fill = "#f5f6f7" if is_used else "#5d646a"
        yield _box(x - 5, y - 5, 10, 10, fill, 1, "none")
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
    """The usual box of an FX2: a lead for each input on one side, USB on the other."""
    bottom, width = _INPUT_TOP + _INPUT_PITCH * len(clips), WIDTH - 20 - _INPUT_X
    middle = _INPUT_X + width // 2
    yield _box(middle - 26, _INPUT_TOP - 116, 52, 34, "#c9ced3", 5, "#5d646a")
    yield _text(middle, _INPUT_TOP - 94, "USB", anchor="middle")
    yield _box(_INPUT_X, _INPUT_TOP - 84, width, bottom - _INPUT_TOP + 124, "#eef1f2", 10, "#23272b")
    yield _box(_INPUT_X, _INPUT_TOP - 84, width, 50, "#23272b", 10)
    yield _text(middle, _INPUT_TOP - 62, "analyzer", anchor="middle", weight="bold", fill="#ffffff")
    yield _text(middle, _INPUT_TOP - 45, f"{len(clips)} channels", anchor="middle", fill="#ffffff", size=12)
    yield _text(_INPUT_X + 14, bottom + 23, "clip it first", fill=_PRINT, size=12)
    words = "ground first; all leads alike, 15 cm at the most; golden: the same pin on ST's own header"
    yield _text(WIDTH - 20, 30, words, anchor="end", fill=_PRINT, size=12)


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


def _box(x: int, y: int, width: int, height: int, fill: str, radius: int, stroke: str = "#23272b") -> str:
    return (
        f'<rect x="{x}" y="{y}" width="{width}" height="{height}" rx="{radius}" '
        f'fill="{fill}" stroke="{stroke}"/>'
    )


def _text(
    x: int,
    y: int,
    words: str,
    anchor: str = "start",
    weight: str = "normal",
    fill: str = "#111111",
    size: int | None = None,
) -> str:
    sized = f' font-size="{size}"' if size else ""
    return (
        f'<text x="{x}" y="{y}" text-anchor="{anchor}" font-weight="{weight}" fill="{fill}"{sized}>'
        f"{escape(words)}</text>"
    )
