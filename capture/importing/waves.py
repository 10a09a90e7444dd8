"""FST, as GTKWave, Verilator and others write it, and GHW of GHDL: by wellen.

It tells nothing of the numbers of a vector's bits, so they are counted from the least significant:
`bus[lsb+1]`. The end of a GHW is its last change of what is chosen, since it states none.
"""

from __future__ import annotations

import re
import struct
from fractions import Fraction
from pathlib import Path
from typing import Any

from base.files.complaints import quoted
from base.files.errors import CaptureError, first_line
from base.run_folder.tables import silence
from capture.importing.timed import Changes, Named, Timed, by_path, nets

KINDS = {b"GHDLwave": "GHW", b"\0\0\0\0\0\0\0\1": "FST"}
"""By the bytes that the file begins with: of FST the type and the length of its header block."""
_FST_TIMES = struct.Struct(">QQ")
_FST_TIMES_AT = 9
_BIT = re.compile(r"(.*)\[lsb\+([0-9]{1,4})\]")


def read_waves(path: Path, kind: str, named: Named) -> Timed:
    """The chosen channels. Raises CaptureError, OSError."""
    try:
        import pywellen
    except ImportError:
        raise CaptureError(
            f"{kind} is read by pywellen, which is not installed; install tailscope[waves]."
        ) from None
    try:
        with silence():
            return _read(path, kind, pywellen.Waveform(str(path), multi_threaded=False), named)
    except CaptureError:
        raise
    except BaseException as error:
        # A damaged file ends in a panic of its Rust code, an exception of a type that has no name.
        if isinstance(error, RuntimeError) or type(error).__name__ == "PanicException":
            raise CaptureError(f"it is no sound {kind} ({first_line(error)}).") from None
        raise


def _read(path: Path, kind: str, waves: Any, named: Named) -> Timed:
    variables = [variable for variable in waves.all_vars() if variable.is_bit_vector]
    at = by_path(variable.full_name for variable in variables)

    def find(name: str) -> list[tuple[int, int]]:
        """The first variable of each net of the name, and which of its bits."""
        bit = _BIT.fullmatch(name)
        numbers = {variables[number].signal_id: number for number in reversed(at(bit[1] if bit else name))}
        wide = [variables[number] for number in numbers.values() if variables[number].bitwidth > 1]
        if wide and not bit:
            path, width = wide[0].full_name, wide[0].bitwidth
            raise CaptureError(
                f"{quoted(path)} has {width} bits, whose numbers are not read; count from the least "
                f"significant, {path}[lsb+0] to {path}[lsb+{width - 1}]."
            )
        place = int(bit[2]) if bit else 0
        return [(number, place) for number in numbers.values() if place < variables[number].bitwidth]

    chosen, named = nets(named, find, [variable.full_name for variable in variables if variable.is_1bit])
    changes = Changes(chosen)
    begin = end = 0
    if kind == "FST":
        with path.open("rb") as file:
            file.seek(_FST_TIMES_AT)
            begin, end = _FST_TIMES.unpack(file.read(_FST_TIMES.size))
    for name, (number, place) in chosen.items():
        for tick, states in variables[number].signal:
            text = f"{states:0{place + 1}b}" if isinstance(states, int) else states
            changes.add(name, text[-1 - place], tick, first=tick == begin)
            end = max(end, tick)
    timescale = waves.timescale
    return Timed(
        format=kind,
        named=named,
        initial=changes.initial,
        changes=changes.times(begin),
        begin=0,
        end=end - begin,
        tick_s=timescale.factor * Fraction(10) ** timescale.unit.to_exponent(),
    )
