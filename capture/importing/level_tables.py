"""CSV of levels: a line for each sample (sigrok), or for a change with its time (DSView, Saleae).

sigrok's, made without options, states the samplerate in a comment. Its column of times
(`time=true`) is no way to more: it counts whole nanoseconds, 11 instead of 11.9 at 84 MS/s.

DSView's has comments too, then `Time(s), 0, …`; times are samples over the samplerate, told to 15
digits (its libsigrok4DSL/output/csv.c). Without "original data" a line is left out whose levels
are those of the line before.

Logic 2 heads the columns `Time [s],Channel 0,…`, Logic 1 `Time[s], Channel 0, …`. The first line is
the begin of the capture; the last one is a change, so that its end is not known. `X` is a gap.
(support.saleae.com, "Binary and CSV Export Formats" and "Data Export".)
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from fractions import Fraction
from typing import BinaryIO

import numpy as np
import polars as pl

from base.arrays import Floats
from base.files.complaints import quoted
from base.files.errors import CaptureError
from base.run_folder.edges import MOST_SAMPLES, Words
from base.run_folder.tables import without_panic
from capture.importing.timed import LINE_MOST_BYTES, Named, Timed, agreed, among, check_count, stated_in

MOST_BYTES = 1 << 37
"""2**33 samples of 8 channels. They are read as a stream."""
SALEAE, DSVIEW, SIGROK = "Saleae CSV", "DSView CSV", "sigrok CSV"

_COMMENT = ";"
_RATE = re.compile(r"; Sample ?rate: ([0-9.]{1,15} ?[kMG]?Hz)")
_COUNT = re.compile(r"; Sample count: ([0-9.]{1,31} ?[kMG]?) Samples")
_NAMES = re.compile(r"; Channels \((\d{1,3})/\d+\): (.*)")
_TIME = re.compile(r"Time ?[\[(]s[\])]")
_LEVEL = "logic"
_MOST_CHANNELS = 64
_BLOCK_BYTES = 1 << 22
_BEGUN = re.compile(rb'"?[0-9.,e+-]*"?(?:, ?[01])*,? ?')
_DIGITS_MOST = 18
_MOST_TICK = 1 << 62
# How far from a sample a time may lie that has 15 digits.
_ROUNDING = 1e-3


def is_heading(line: str) -> bool:
    """Whether a file that begins with this line is one of these."""
    return line.startswith(_COMMENT) or _TIME.match(line.strip('"')) is not None


def read_level_table(file: BinaryIO, named: Named, samplerate_hz: int | None) -> Timed:
    """The chosen channels.

    The end is the last line, or what DSView calls its count of samples if that is more. Raises
    CaptureError.
    """
    kind, names, stated_hz, count = _heading(file)
    rate_hz = agreed(stated_hz, samplerate_hz)
    if rate_hz is None and kind != SALEAE:
        raise CaptureError("it states no samplerate; give --samplerate.")
    chosen = among(named, names)
    changed: list[tuple[Floats, Words]] = []
    begin, end, rows, digits, before, count_changed = 0.0, -np.inf, 0, 0, -1, 0
    cut = False
    for block, cut in _blocks(file, kind, len(names)):
        if cut:
            break
        table = _table(block, kind, len(names))
        levels = table.select(f"c{index}" for index in chosen.values()).to_numpy()
        if levels.max() > 1:
            raise CaptureError("a level in it is neither 0 nor 1.")
        word = np.packbits(levels, axis=1, bitorder="little")[:, 0]
        if kind == SIGROK:
            time = np.arange(rows, rows + word.size, dtype=np.float64)
        else:
            time, decimals = _times(table["time"])
            digits = max(digits, decimals)
        if (np.diff(time, prepend=end) < 0).any():
            raise CaptureError("its times do not increase.")
        begin, end = begin if rows else float(time[0]), float(time[-1])
        moved = np.append(word[:1] != before, word[1:] != word[:-1])
        changed.append((time[moved], word[moved]))
        before, rows = int(word[-1]), rows + word.size
        count_changed += int(moved.sum())
        check_count(count_changed - 1)
    if not rows:
        raise CaptureError("it has no line but the heading.")
    per_s = rate_hz if rate_hz and kind != SALEAE else 10**digits
    unit = 1 if kind == SIGROK else per_s
    place, word = (np.concatenate(parts) for parts in zip(*changed, strict=True))
    if max(abs(begin), abs(end)) * unit > _MOST_TICK:
        raise CaptureError("a time in it is none of a capture.")
    ticks = np.rint(place * unit).astype(np.int64)
    if kind == DSVIEW and np.abs(place * unit - ticks).max() > _ROUNDING:
        raise CaptureError(f"its times do not lie on samples of {per_s:,} Hz.")
    after = round(end * unit) + (kind != SALEAE)
    flips = word[1:] ^ word[:-1]
    return Timed(
        format=kind,
        named={name: names[index] for name, index in chosen.items()},
        initial={name: bool(word[0] >> bit & 1) for bit, name in enumerate(chosen)},
        changes={name: ticks[1:][flips >> bit & 1 != 0] for bit, name in enumerate(chosen)},
        begin=round(begin * unit),
        end=max(after, count) if count and not cut else after,
        tick_s=Fraction(1, per_s),
        samplerate_hz=stated_hz,
        cut=cut,
    )


def _heading(file: BinaryIO) -> tuple[str, list[str], int | None, int]:
    """What stands above the lines: the kind, the names, the rate, and how many samples there are; 0
    where nobody tells.
    """
    rate_hz, count = None, 0
    names: list[str] = []
    while True:
        line = file.readline(LINE_MOST_BYTES).decode("utf-8", errors="replace").strip().lstrip("\ufeff")
        if not line.startswith(_COMMENT):
            break
        if match := _RATE.fullmatch(line):
            rate_hz = stated_in(match[1])
        elif match := _COUNT.fullmatch(line):
            count = min(stated_in(match[1]) or 0, MOST_SAMPLES)  # written as a rate is
        elif match := _NAMES.fullmatch(line):
            names = match[2].split(", ")
            if len(names) != int(match[1]):  # a name has a comma in it, and which is not known
                names = [f"D{number}" for number in range(int(match[1]))]
    cells = [cell.strip() for cell in next(csv.reader(line.splitlines(), skipinitialspace=True), [""])]
    if names and cells == [_LEVEL] * len(names):
        return SIGROK, names, rate_hz, 0
    if not _TIME.fullmatch(cells[0]) or not 1 < len(cells) <= _MOST_CHANNELS:
        raise CaptureError(
            "its columns are not Time and logic channels, nor logic channels alone; export the logic data, "
            "from sigrok-cli by -O csv without options."
        )
    return DSVIEW if "(" in cells[0] else SALEAE, cells[1:], rate_hz, count


def _blocks(file: BinaryIO, kind: str, channels: int) -> Iterator[tuple[bytes, bool]]:
    """Whole lines, some megabytes at a time; and at the end nothing and true, where the last line
    was cut.
    """
    time = r"" if kind == SIGROK else r'"?[0-9.,e+-]+"?, ?'
    whole = re.compile(rf"{time}[01](?:, ?[01]){{{channels - 1}}}\r?".encode())
    rest = b""
    while block := file.read(_BLOCK_BYTES):
        lines, _, rest = (rest + block).rpartition(b"\n")
        if len(rest) > LINE_MOST_BYTES:
            raise CaptureError(f"a line in it has more than {LINE_MOST_BYTES:,} bytes.")
        if lines := lines.strip():
            yield lines, False
    if whole.fullmatch(rest):
        yield rest, False
    elif rest.strip():
        if not _BEGUN.fullmatch(rest):
            raise CaptureError("its last line is neither times nor levels.")
        yield b"", True


def _table(block: bytes, kind: str, channels: int) -> pl.DataFrame:
    """The columns `time`, but of sigrok's, and `c0` and so on, all there in each line."""
    times = {} if kind == SIGROK else {"time": pl.String}
    schema = pl.Schema({**times, **{f"c{index}": pl.UInt8 for index in range(channels)}})
    try:
        with without_panic():
            table = pl.read_csv(block, has_header=False, schema=schema)
    except (pl.exceptions.PolarsError, OSError):
        table = None
    if table is None or any(table.null_count().row(0)):
        gap = " It has a gap (X); export a part without gaps." if b"X" in block else ""
        raise CaptureError(f"a line in it is not a time and {channels} levels of 0 or 1.{gap}")
    return table


def _times(column: pl.Series) -> tuple[Floats, int]:
    """The times of a column, and how many decimals they have."""
    text = column.str.replace(",", ".", literal=True)
    time = text.cast(pl.Float64, strict=False).fill_null(np.nan).to_numpy()
    if not np.isfinite(time).all():
        wrong = quoted(column[int(np.argmin(np.isfinite(time)))])
        raise CaptureError(f"its time {wrong} is no number of seconds; export without ISO 8601 timestamps.")
    decimals = text.str.extract(r"\.([0-9]+)$").str.len_bytes().max()
    return time, min(decimals, _DIGITS_MOST) if isinstance(decimals, int) else 0
