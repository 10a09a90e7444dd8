"""The wiring plan: where each channel is on the board, and which input of the analyzer sees it."""

from __future__ import annotations

from dataclasses import asdict, dataclass

from base.run_folder.channels import CHANNELS
from capture.desk.bench import BoardResource
from firmware.build.boards import Board

GROUND = "GND"


@dataclass(frozen=True)
class Place:
    """Where a channel is on a board, by its table (ST's UM1724, "Extension connectors").

    `pin` is the chip's, `header` the Arduino's name, `connector` the connector and its position,
    and `morpho` where the same pin is on ST's own headers.
    """

    channel: str
    pin: str
    header: str
    connector: str
    morpho: str

    def __str__(self) -> str:
        return f"{self.channel} ({self.header}, {self.connector})"


GROUND_CONNECTOR = "CN6-6 or CN6-7"
GROUND_MORPHO = "CN7-20"


def places(board: Board) -> tuple[Place, ...]:
    """Where the channels are, in the order of CHANNELS."""
    pins = board.pins
    return tuple(Place(channel, **pins[channel].model_dump()) for channel in CHANNELS)


@dataclass(frozen=True)
class Clip:
    """One clip: the analyzer's own name of the input, and the place that it belongs on."""

    input: str
    place: Place


def clips(board: BoardResource) -> tuple[Clip, ...]:
    """The eight clips of a board, in the order of CHANNELS.

    Where bench.toml names no inputs, they are the analyzer's first eight.
    """
    named = board.analyzer.channels
    return tuple(
        Clip(named.get(place.channel, f"D{number}"), place)
        for number, place in enumerate(places(board.board))
    )


def as_text(board: BoardResource) -> str:
    """The plan as a table, a line for each clip, and the ground."""
    rows = [("input", "channel", "pin", "header", "connector")]
    rows += [
        (clip.input, clip.place.channel, clip.place.pin, clip.place.header, clip.place.connector)
        for clip in clips(board)
    ]
    rows.append((GROUND, "", GROUND, GROUND, GROUND_CONNECTOR))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ["  ".join(map(str.ljust, row, widths)).rstrip() for row in rows]
    analyzer = board.analyzer
    rate = f"{analyzer.samplerate_hz:,} samples per second"
    title = f"{board.name}, {board.board.title}: {analyzer.driver} at {rate}"
    return "\n".join([title, "", *lines])


def as_json(board: BoardResource) -> list[dict[str, str]]:
    """The plan's rows, without the ground."""
    return [{"input": clip.input, **asdict(clip.place)} for clip in clips(board)]
