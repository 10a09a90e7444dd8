"""`./lab pulseview`: a run in PulseView."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from base.files.errors import CaptureError, TailscopeError
from base.run_folder.named_quantities import CHOICE
from cli.shell.declare import argument, declare, option
from cli.shell.values import QUANTITY, RUN

Session = tuple[Path, tuple[int, int, int] | None, str]
"""The session that is opened; what is marked in it, in samples, and how many there are in a second;
and a sentence that says what that is.
"""
TOOL = "pulseview"
# Without one of these Qt ends with a core dump.
_DISPLAYS = ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM")


@declare("Read what came out")
@argument("run", RUN, "a run folder")
@option("--worst", "begin at the worst sample, between two cursors, and say where it is")
@option("--quantity", QUANTITY, f"of which the worst is meant: {CHOICE}", default="section")
@option("--window", str, "of a run of which only windows were kept: which one, such as CRIT-1")
def command(run: Path, worst: bool, quantity: str, window: str | None) -> int:
    """Open PulseView on a run, with the decoders on."""
    return show(run, quantity if worst else None, window)


def show(folder: Path, quantity: str | None = None, window: str | None = None) -> int:
    """Opens the capture of the run in `folder`, and returns PulseView's exit status.

    Of a run of which only windows were kept, it opens that `window`, or the first, between cursors.

    With a `quantity` of named_quantities it shows the worst sample of that, and
    says on standard error where it is. Writes PulseView's set-up into the folder. Raises
    TailscopeError, before anything is opened, where something is missing.
    """
    from fractions import Fraction

    from base.files.whole import why, write_bytes
    from base.processes import children, tools
    from base.run_folder import folder as names
    from base.run_folder.manifest import read_manifest
    from base.run_folder.observed import read_asked
    from decoders.pulseview import CORE_HZ, VARIABLES, Marked, setup

    names.check_members(folder)
    has_windows = (folder / names.KEPT).is_file() and quantity is None
    session, place, words = (_window if has_windows else _whole)(folder, quantity, window)
    if words:
        print(words, file=sys.stderr)
    if not tools.is_installed(TOOL):
        raise TailscopeError(
            f"{TOOL} is not installed; install it, on Debian with: sudo apt-get install {TOOL}."
        )
    if not any(map(os.environ.get, _DISPLAYS)):
        raise TailscopeError(
            f"There is no display for {TOOL}: DISPLAY is not set; run this on a desktop, or over ssh -X."
        )
    # The clock of the run's core, as far as its folder tells; else the first board's.
    core_hz, manifest = None, folder / names.MANIFEST
    if names.is_observed(folder):
        core_hz = read_asked(folder / names.OBSERVED).core_hz
    elif manifest.is_file():
        core_hz = read_manifest(manifest).core_hz
    marked = None
    if place:
        begin, end, hz = place
        marked = Marked(Fraction(begin, hz), Fraction(end, hz))
    suffix = Path(names.SETUP).suffix
    write_bytes(session.with_suffix(suffix), setup(marked, core_hz or CORE_HZ).encode())
    settings = [f"{name}={value}" for name, value in VARIABLES.items()]
    try:
        return children.attend(["env", *settings, TOOL, "--dont-scan", "--clean", session])
    except OSError as error:
        raise TailscopeError(f"{TOOL} did not start: {why(error)}.") from None


def _whole(folder: Path, quantity: str | None, window: str | None) -> Session:
    from analysis.explain.replay import find
    from base.run_folder import folder as names
    from base.run_folder.kept import window_name
    from base.run_folder.manifest import read_edges, read_manifest
    from base.run_folder.observed import read_observed_manifest
    from base.run_folder.tables import read_operations

    session = folder / names.SESSION
    if window and not names.is_observed(folder):
        raise CaptureError(f"{folder} has no windows: all of its capture was kept; leave out --window.")
    if not session.is_file():
        raise CaptureError(
            f"{session} does not exist; name a run folder, and ./lab redecode it if it has edges.parquet."
        )
    if window:
        observed = read_observed_manifest(folder / names.MANIFEST)
        spans = {
            window_name(of.removesuffix(", width"), 1): (of, span) for of, span in observed.longest.items()
        }
        if window not in spans:
            raise CaptureError(f"{folder} has no window {window}; it has {', '.join(spans)}.")
        of, span = spans[window]
        begin, end, hz = span.start, span.end, observed.samplerate_hz
    elif quantity:
        manifest = read_manifest(folder / names.MANIFEST)
        edges = read_edges(folder, manifest)
        worst = find(quantity, manifest.maxima, read_operations(folder / names.OPERATIONS), edges)
        number = worst.maximum.seq
        where = "outside of all operations" if number is None else f"operation {number}"
        of = f"{worst.quantity.words}, {where}"
        begin, end, hz = worst.start, worst.end, edges.samplerate_hz
    else:
        return session, None, ""
    words = f"The longest {of}: from {begin / hz:.9f} s to {end / hz:.9f} s, between the cursors."
    return session, (begin, end, hz), words


def _window(folder: Path, _quantity: str | None, name: str | None) -> Session:
    from base.run_folder import folder as names
    from base.run_folder.kept import LAST, read_kept

    windows = read_kept(folder)
    places = {window.place.name: window.place for window in windows.windows}
    place = places.get(name or next(iter(places)))
    if place is None:
        raise CaptureError(f"{folder} has no window {name}; it has {', '.join(places)}.")
    session = folder / names.WINDOWS / f"{place.name}.sr"
    if not session.is_file():
        raise CaptureError(f"{session} does not exist; ./lab redecode {folder} makes it.")
    if place.name == LAST:
        return session, None, ""
    hz = windows.samplerate_hz
    words = (
        f"{place.name}, {(place.end - place.start) / hz:.9f} s long, begins at {place.start / hz:.9f} s of "
        "the capture; it is between the cursors."
    )
    return session, (max(place.start - place.begin, 0), max(place.end - place.begin, 0), hz), words
