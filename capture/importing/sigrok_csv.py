"""CSV as sigrok writes it without options: a line for each sample, and the samplerate in a comment.

Its column of times (`time=true`) is no way to more: it counts samples of a whole number of
nanoseconds, 11 instead of 11.9 at 84 MS/s.
"""

from __future__ import annotations

import re
from typing import BinaryIO

import numpy as np

from base.files.errors import CaptureError
from base.run_folder.edges import EdgeList
from base.run_folder.extract import EdgeExtractor
from capture.importing.changes import LINE_MOST_BYTES
from capture.importing.selection import Selection
from capture.importing.timed import agreed, stated_in

COMMENT = ";"
MOST_BYTES = 1 << 37
"""2**33 samples of 8 channels. They are read as a stream."""

_RATE = re.compile(r"; Samplerate: ([0-9.]{1,15} ?[kMG]?Hz)")
_CHANNELS = re.compile(r"; Channels \((\d{1,3})/\d+\): (.*)")
_LOGIC = "logic"
_BLOCK_ROWS = 1 << 16
# A line that was begun: digits and commas in turn.
_BEGUN = re.compile(rb"[01](?:,[01])*,?")


def read_sigrok_csv(
    file: BinaryIO, selection: Selection, samplerate_hz: int | None
) -> tuple[EdgeList, dict[str, str], bool, bool]:
    """The chosen channels, what each of ours is called there, whether the file states the rate, and
    whether it is cut: then the last line has no end, and is left out.

    Raises CaptureError.
    """
    names, stated_hz = _heading(file)
    rate_hz = agreed(stated_hz, samplerate_hz)
    if rate_hz is None:
        raise CaptureError("it states no samplerate; give --samplerate.")
    chosen = selection.among(names)
    extractor = EdgeExtractor(rate_hz, tuple(chosen))
    # Each line has the same width: a digit and what follows it for each channel.
    width = 2 * len(names)
    columns = [2 * index for index in chosen.values()]
    cut = False
    while block := file.read(width * _BLOCK_ROWS):
        rest = len(block) % width
        if rest and len(block) < width * _BLOCK_ROWS and _BEGUN.fullmatch(block[-rest:]):
            cut, block = True, block[:-rest]
        extractor.feed(_words(block, width, columns))
    named = {name: names[index] for name, index in chosen.items()}
    return extractor.finish(), named, stated_hz is not None, cut


def _heading(file: BinaryIO) -> tuple[list[str], int | None]:
    """The names of the channels and the samplerate, of the comments and the line below them."""
    names: list[str] = []
    rate_hz: int | None = None
    while line := file.readline(LINE_MOST_BYTES + 1).decode("utf-8", errors="replace").rstrip("\r\n"):
        if match := _RATE.fullmatch(line):
            rate_hz = stated_in(match[1])
        elif match := _CHANNELS.fullmatch(line):
            names = match[2].split(", ")
            if len(names) != int(match[1]):  # a name has a comma in it, and which is not known
                names = [f"D{number}" for number in range(int(match[1]))]
        elif not line.startswith(COMMENT):
            break
    if not names or line.split(",") != [_LOGIC] * len(names):
        raise CaptureError(
            "its columns are not logic channels alone; export with sigrok-cli -O csv and without options."
        )
    return names, rate_hz


def _words(block: bytes, width: int, columns: list[int]) -> bytes:
    """A byte for each sample: bit i is the digit in column i of `columns`."""
    text = np.frombuffer(block, np.uint8)
    if text.size % width:
        raise CaptureError("it ends within a line, or its lines differ.")
    rows = text.reshape(-1, width)
    digits = rows[:, ::2] - ord("0")
    if (digits > 1).any() or (rows[:, 1:-1:2] != ord(",")).any() or (rows[:, -1] != ord("\n")).any():
        raise CaptureError("a line in it is not one digit, 0 or 1, for each channel.")
    word = np.zeros(rows.shape[0], np.uint8)
    for bit, column in enumerate(columns):
        word |= digits[:, column // 2] << np.uint8(bit)
    return word.tobytes()
