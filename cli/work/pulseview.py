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
from base.processes import children, tools
from base.run_folder import folder as names
from base.run_folder.kept import LAST, read_kept, window_name
from base.run_folder.manifest import read_edges, read_manifest
from base.run_folder.observed import read_asked, read_observed_manifest
from base.run_folder.tables import read_operations
from decoders.pulseview import CORE_HZ, VARIABLES, Marked, setup

TOOL = "pulseview"
_SETUP_SUFFIX = Path(names.SETUP).suffix
# Without one of these Qt ends with a core dump.
_DISPLAYS = ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM")


def run(folder: Path, quantity: str | None = None, window: str | None = None) -> int:
    """Opens the capture of the run in `folder`, and returns PulseView's exit status.

    Of a run of which only windows were kept, it opens that `window`, or the first, between cursors.

    With a `quantity` of named_quantities it shows the worst sample of that, and
    says on standard error where it is. Writes PulseView's set-up into the folder. Raises
    TailscopeError, before anything is opened, where something is missing.
    """
    names.check_members(folder)
    has_windows = (folder / names.KEPT).is_file() and quantity is None
    shown = _window(folder, window) if has_windows else _whole(folder, quantity, window)
    if shown.worst:
        print(shown.worst.told, file=sys.stderr)
    _check_tool()
    worst, session = shown.worst, shown.session
    write_bytes(
        session.with_suffix(_SETUP_SUFFIX), setup(worst.place if worst else None, _core_hz(folder)).encode()
    )
    settings = [f"{name}={value}" for name, value in VARIABLES.items()]
    try:
        return children.attend(["env", *settings, TOOL, "--dont-scan", "--clean", session])
    except OSError as error:
        raise TailscopeError(f"{TOOL} did not start: {why(error)}.") from None


def _core_hz(folder: Path) -> int:
    """The clock of the run's core, as far as its folder tells; else the first board's."""
    if names.is_observed(folder):
        return read_asked(folder / names.OBSERVED).core_hz or CORE_HZ
    path = folder / names.MANIFEST
    return (read_manifest(path).core_hz if path.is_file() else None) or CORE_HZ


class _Worst(NamedTuple):
    """Where the worst sample is, and a sentence that says so."""

    place: Marked
    told: str


class _Shown(NamedTuple):
    """The session that is opened, and what is marked in it."""

    session: Path
    worst: _Worst | None


def _whole(folder: Path, quantity: str | None, window: str | None) -> _Shown:
    session = folder / names.SESSION
    if window and not names.is_observed(folder):
        raise CaptureError(f"{folder} has no windows: all of its capture was kept; leave out --window.")
    if not session.is_file():
        raise CaptureError(
            f"{session} does not exist; name a run folder, and ./lab redecode it if it has edges.parquet."
        )
    if window:
        return _Shown(session, _longest(folder, window))
    return _Shown(session, _worst(folder, quantity) if quantity else None)


def _longest(folder: Path, name: str) -> _Worst:
    """The longest of a quantity of a capture that was kept whole, by the name of its window."""
    manifest = read_observed_manifest(folder / names.MANIFEST)
    spans = {window_name(of.removesuffix(", width"), 1): (of, span) for of, span in manifest.longest.items()}
    if name not in spans:
        raise CaptureError(f"{folder} has no window {name}; it has {', '.join(spans)}.")
    of, span = spans[name]
    begin_s, end_s = (Fraction(sample, manifest.samplerate_hz) for sample in (span.start, span.end))
    words = f"The longest {of}: from {float(begin_s):.9f} s to {float(end_s):.9f} s, between the cursors."
    return _Worst(Marked(begin_s, end_s), words)


def _window(folder: Path, name: str | None) -> _Shown:
    windows = read_kept(folder)
    places = {window.place.name: window.place for window in windows.windows}
    place = places.get(name or next(iter(places)))
    if place is None:
        raise CaptureError(f"{folder} has no window {name}; it has {', '.join(places)}.")
    session = folder / names.WINDOWS / f"{place.name}.sr"
    if not session.is_file():
        raise CaptureError(f"{session} does not exist; ./lab redecode {folder} makes it.")
    hz = windows.samplerate_hz
    marks = (Fraction(max(at - place.begin, 0), hz) for at in (place.start, place.end))
    text = (
        f"{place.name}, {(place.end - place.start) / hz:.9f} s long, begins at {place.start / hz:.9f} s of "
        "the capture; it is between the cursors."
    )
    return _Shown(session, None if place.name == LAST else _Worst(Marked(*marks), text))


def _worst(folder: Path, quantity: str) -> _Worst:
    manifest = read_manifest(folder / names.MANIFEST)
    edges = read_edges(folder, manifest)
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
