"""Digital CSV exports of Saleae's Logic 1 and Logic 2: a line for each change, with its time.

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

from base.files.complaints import quoted
from base.files.errors import CaptureError
from capture.importing.changes import Changes, Lines
from capture.importing.selection import Selection
from capture.importing.timed import Timed

_TIME_HEADING = re.compile(r"Time ?\[s\]")
_TIME = re.compile(r"(-?[0-9]{1,9})(?:[.,]([0-9]{1,18}))?")
_MOST_TICK = 1 << 62
_LEVELS = {"0": False, "1": True}


def is_heading(line: str) -> bool:
    """Whether a file that begins with this line is one of these."""
    return _TIME_HEADING.match(line.strip('"')) is not None


def read_saleae_csv(file: BinaryIO, selection: Selection) -> tuple[Timed, dict[str, str]]:
    """The chosen channels, and what each of ours is called there. Raises CaptureError."""
    lines = Lines(file)
    rows = _rows(lines)
    heading = next(rows, [])
    if not heading or not _TIME_HEADING.fullmatch(heading[0]):
        raise CaptureError("its first column is not Time [s].")
    chosen = selection.among(heading[1:])
    columns = {name: index + 1 for name, index in chosen.items()}
    changes = Changes(columns)
    begin: int | None = None
    now, decimals = 0, 0
    cut = False
    for row in rows:
        if lines.unended and (len(row) < len(heading) or not row[-1]):
            cut = True
            break
        if len(row) != len(heading):
            raise CaptureError(f"a line in it has {len(row)} columns instead of {len(heading)}.")
        whole, fraction = _time(row[0])
        if len(fraction) > decimals:
            changes.rescale(10 ** (len(fraction) - decimals))
            begin = None if begin is None else begin * 10 ** (len(fraction) - decimals)
            decimals = len(fraction)
        now = int(whole + fraction.ljust(decimals, "0"))
        if not -_MOST_TICK < now < _MOST_TICK:
            raise CaptureError(f"its time {quoted(row[0])} is none of a capture.")
        begin = now if begin is None else begin
        for name, column in columns.items():
            changes.add(name, _level(row[column], name), now)
    if begin is None:
        raise CaptureError("it has no line but the heading.")
    timed = Timed(
        initial=changes.initial,
        changes=changes.times(begin),
        begin=0,
        end=now - begin,
        tick_s=Fraction(1, 10**decimals),
        cut=cut,
    )
    return timed, {name: heading[column] for name, column in columns.items()}


def _rows(lines: Lines) -> Iterator[list[str]]:
    try:
        for row in csv.reader((line for line in lines if line), skipinitialspace=True):
            yield [cell.strip() for cell in row]
    except csv.Error as error:
        raise CaptureError(f"a line in it cannot be read ({error}).") from None


def _time(text: str) -> tuple[str, str]:
    """The digits of a time in seconds, before and after the point or comma."""
    match = _TIME.fullmatch(text)
    if not match:
        raise CaptureError(
            f"its time {quoted(text)} is no number of seconds; export without ISO 8601 timestamps."
        )
    return match[1], match[2] or ""


def _level(text: str, name: str) -> bool:
    if text == "X":
        raise CaptureError(f"{name} has a gap in it (X); export a part without gaps.")
    level = _LEVELS.get(text)
    if level is None:
        raise CaptureError(f"its level {quoted(text)} is neither 0 nor 1.")
    return level
