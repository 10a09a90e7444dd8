"""`./lab pulseview`: opens PulseView on a run, with the decoders on."""

from __future__ import annotations

import os
import sys
from fractions import Fraction
from pathlib import Path
from typing import NamedTuple

from analysis.explain.worst import find
from base.files.errors import CaptureError, TailscopeError
from base.files.whole import why, write_bytes
from base.processes import children
from base.run_folder import folder as names
from base.run_folder.edges import read_parquet
from base.run_folder.manifest import read_manifest
from base.run_folder.tables import read_operations
from cli.work import tools
from decoders.pulseview import VARIABLES, Marked, setup

TOOL = "pulseview"
# Without one of these Qt ends with a core dump.
_DISPLAYS = ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM")


def run(folder: Path, quantity: str | None = None) -> int:
    """Opens the capture of the run in `folder`, and returns PulseView's exit status.

    With a `quantity` of named_quantities it shows the worst sample of that, and
    says on standard error where it is. Writes PulseView's set-up into the folder. Raises
    TailscopeError, before anything is opened, where something is missing.
    """
    names.check_members(folder)
    session = folder / names.SESSION
    if not session.is_file():
        raise CaptureError(
            f"{session} does not exist; name a run folder, and ./lab redecode it if it has edges.parquet."
        )
    worst = _worst(folder, quantity) if quantity else None
    if worst:
        print(worst.told, file=sys.stderr)
    _check_tool()
    write_bytes(folder / names.SETUP, setup(worst.place if worst else None).encode())
    told = [f"{name}={value}" for name, value in VARIABLES.items()]
    try:
        return children.attend(["env", *told, TOOL, "--dont-scan", "--clean", session])
    except OSError as error:
        raise TailscopeError(f"{TOOL} did not start: {why(error)}.") from None


class _Worst(NamedTuple):
    """Where the worst sample is, and a sentence that says so."""

    place: Marked
    told: str


def _worst(folder: Path, quantity: str) -> _Worst:
    manifest = read_manifest(folder / names.MANIFEST)
    edges = read_parquet(folder / names.EDGES)
    worst = find(quantity, manifest.maxima, read_operations(folder / names.OPERATIONS), edges)
    number = worst.maximum.seq
    where = "outside of all operations" if number is None else f"operation {number}"
    begin_s, end_s = (Fraction(sample, edges.samplerate_hz) for sample in (worst.start, worst.end))
    return _Worst(
        Marked(begin_s, end_s),
        f"The longest {worst.quantity.words}, {where}: from {float(begin_s):.9f} s to {float(end_s):.9f} s, "
        "between the cursors.",
    )


def _check_tool() -> None:
    if not tools.is_installed(TOOL):
        raise TailscopeError(
            f"{TOOL} is not installed; install it, on Debian with: sudo apt-get install {TOOL}."
        )
    if not any(os.environ.get(name) for name in _DISPLAYS):
        raise TailscopeError(
            f"There is no display for {TOOL}: DISPLAY is not set; run this on a desktop, or over ssh -X."
        )
