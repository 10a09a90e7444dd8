"""The wiring plan: where each channel is on the board, and which input of the analyzer sees it; as
a table and as a picture.

Of the picture nucleo.svg has the board and the analyzer, and nine wires are drawn over it. It has a
light ground of its own, so that it can be read on a dark page, too.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, astuple, dataclass
from pathlib import Path
from string import Template
from xml.sax.saxutils import escape

from base.run_folder.channels import CHANNELS
from base.text_table import columns
from capture.desk.bench import BoardResource
from firmware.build import boards

GROUND = "GND"


GROUND_CONNECTOR = "CN6-6 or CN6-7"
GROUND_MORPHO = "CN7-20"


@dataclass(frozen=True)
class Clip:
    """A clip: the analyzer's own name of the input, the channel, and where that is on a board, by
    its table (ST's UM1724, "Extension connectors").

    `pin` is the chip's, `header` the Arduino's name, `connector` the connector and its position,
    and `morpho` where the same pin is on ST's own headers.
    """

    input: str
    channel: str
    pin: str
    header: str
    connector: str
    morpho: str

    @property
    def place(self) -> str:
        """Where it belongs, in words."""
        return f"{self.channel} ({self.header}, {self.connector})"


def clips(board: BoardResource) -> tuple[Clip, ...]:
    """The eight clips of a board, in the order of CHANNELS.

    Where bench.toml names no inputs, they are the analyzer's first eight.
    """
    inputs, pins = board.analyzer.by_channel, board.board.pins
    return tuple(Clip(inputs[channel], channel, **pins[channel].model_dump()) for channel in CHANNELS)


def as_text(board: BoardResource) -> str:
    """The plan as a table, a line for each clip, and the ground."""
    rows = [("input", "channel", "pin", "header", "connector")]
    rows += [astuple(clip)[:-1] for clip in clips(board)]
    rows.append((GROUND, "", GROUND, GROUND, GROUND_CONNECTOR))
    analyzer = board.analyzer
    rate = f"{analyzer.samplerate_hz:,} samples per second"
    return "\n".join([f"{board.name}, {board.board.title}: {analyzer.driver} at {rate}", "", *columns(rows)])


def as_json(board: BoardResource) -> list[dict[str, str]]:
    """The plan's rows, without the ground."""
    return [asdict(clip) for clip in clips(board)]


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


def svg(clips: Sequence[Clip], title: str = "") -> str:
    """The picture of these eight clips and the ground on the board called `title`; without one, on
    the default board. Equal clips give equal bytes.
    """
    title = title or boards.default().title
    return Template(_BACKGROUND.read_text(encoding="utf-8")).substitute(
        title=escape(title),
        chip=escape(title.rpartition("-")[2]),
        words=escape("; ".join(f"{clip.input} on {clip.header}" for clip in clips)),
        wires="\n".join(_wires([*clips, Clip(GROUND, GROUND, GROUND, GROUND, "CN6-6", GROUND_MORPHO)])),
    )


def _wires(clips: Sequence[Clip]) -> Iterator[str]:
    """Each wire, both its ends, and the pin that a clip may take instead."""
    pins = []
    for clip in clips:
        socket, _, number = clip.connector.partition("-")
        first, step, x, top = _CONNECTORS[socket]
        pins.append((x, top + _PITCH * (int(number) - first) * step))
    rounds = sorted(y for x, y in pins if x == _LEFT)
    for place, (clip, (x, y)) in enumerate(zip(clips, pins, strict=True)):
        colour, to_y = _COLOURS[clip.channel], _INPUT_TOP + _INPUT_PITCH * place
        name, _, number = clip.morpho.partition("-")
        row, column = divmod(int(number) - 1, 2)
        morpho_x, morpho_y = _MORPHO_X[name] + 14 * column, _MORPHO_TOP + _PITCH * row
        yield f'<rect x="{morpho_x - 3}" y="{morpho_y - 3}" width="6" height="6" rx="1" fill="#ffcf4d"/>'
        yield f'<rect x="{x - 5}" y="{y - 5}" width="10" height="10" rx="1" fill="#f5f6f7"/>'
        path = f"M{x} {y}"
        if x == _LEFT:
            around = _ROUND_PITCH * rounds.index(y)
            path += f"H{_OUTER_X + around}V{_LOWEST_Y - around}"
        path += f"H{_FIRST_LANE + _LANE_PITCH * [*_COLOURS].index(clip.channel)}V{to_y}H{_INPUT_X}"
        for stroke, width in (("#fbfaf7", 6), (colour, 3)):
            style = f'stroke="{stroke}" stroke-width="{width}" stroke-linejoin="round" stroke-linecap="round"'
            yield f'<path d="{path}" fill="none" {style}/>'
        yield f'<circle cx="{_INPUT_X}" cy="{to_y}" r="5" fill="{colour}"/>'
        yield _label(_INPUT_X + 14, to_y, clip.input, "#111111")
        if clip.channel != GROUND:
            yield _label(_NAME_X, to_y, clip.channel, colour, "end")
            side, anchor = (54, "start") if x == _LEFT else (-54, "end")
            yield _label(x + side, y, clip.channel, colour, anchor)


def _label(x: int, y: int, words: str, colour: str, anchor: str = "start") -> str:
    return (
        f'<text x="{x}" y="{y + 5}" text-anchor="{anchor}" font-weight="bold" fill="{colour}">'
        f"{escape(words)}</text>"
    )
