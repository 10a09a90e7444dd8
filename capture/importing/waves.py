"""FST, as GTKWave, Verilator and others write it, and GHW of GHDL: by wellen.

It tells nothing of where a vector's bits begin, so single bits are read. The end of a GHW is its
last change of what is chosen, since it states none.
"""

from __future__ import annotations

import struct
from fractions import Fraction
from pathlib import Path
from typing import Any

from base.files.errors import CaptureError, first_line
from base.run_folder.panics import silence
from capture.importing.changes import Changes
from capture.importing.selection import Selection, by_path
from capture.importing.timed import Timed

KINDS = {b"GHDLwave": "GHW", b"\0\0\0\0\0\0\0\1": "FST"}
"""By the bytes that the file begins with: of FST the type and the length of its header block."""
_FST_TIMES = struct.Struct(">QQ")
_FST_TIMES_AT = 9
_LEVELS = {0: False, 1: True, "l": False, "h": True}


def read_waves(path: Path, kind: str, selection: Selection) -> tuple[Timed, dict[str, str]]:
    """The chosen channels, and what each of ours is called there. Raises CaptureError, OSError."""
    try:
        import pywellen
    except ImportError:
        raise CaptureError(
            f"{kind} is read by pywellen, which is not installed; install tailscope[waves]."
        ) from None
    try:
        with silence():
            waves = pywellen.Waveform(str(path), multi_threaded=False)
            return _read(path, kind, waves, selection)
    except CaptureError:
        raise
    except BaseException as error:
        # A damaged file ends in a panic of its Rust code, an exception of a type that has no name.
        if isinstance(error, RuntimeError) or type(error).__name__ == "PanicException":
            raise CaptureError(f"it is no sound {kind} ({first_line(error)}).") from None
        raise


def _read(path: Path, kind: str, waves: Any, selection: Selection) -> tuple[Timed, dict[str, str]]:
    variables = [variable for variable in waves.all_vars() if variable.is_1bit]
    names = [variable.full_name for variable in variables]
    at = by_path(names)

    def find(name: str) -> list[int]:
        """The first variable of each net of the name."""
        return list({variables[number].signal_id: number for number in reversed(at(name))}.values())

    chosen, named = selection.nets(find, names)
    changes = Changes(chosen)
    begin, end = _extent(path) if kind == "FST" else (0, 0)
    for name, number in chosen.items():
        for tick, value in variables[number].signal:
            if value in _LEVELS:
                changes.add(name, _LEVELS[value], tick, first=tick == begin)
            elif changes.known(name):
                raise CaptureError(f"{name} has no level ({value}) at its time {tick}.")
            end = max(end, tick)
    timescale = waves.timescale
    return Timed(
        initial=changes.initial,
        changes=changes.times(begin),
        begin=0,
        end=end - begin,
        tick_s=timescale.factor * Fraction(10) ** timescale.unit.to_exponent(),
    ), named


def _extent(path: Path) -> tuple[int, int]:
    """The first and the last time of an FST, of its header."""
    with path.open("rb") as file:
        file.seek(_FST_TIMES_AT)
        begin, end = _FST_TIMES.unpack(file.read(_FST_TIMES.size))
    return begin, end
