"""Boards whose devices are emulated: the bench starts itself anew where it sees them.

The preload library that shows them must be there before a program starts, and what touches USB and
the serial port is this program itself, pyOCD and sigrok-cli. So the same command line runs again,
as a child on the emulated desk. All that follows is the path of a real board.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from base.files.errors import CaptureError
from base.processes import children
from capture.desk.bench import BoardResource
from capture.desk.board import NOTES
from simulator.build import DESK, build
from simulator.desk import EmulatedDesk
from simulator.run import STRICT

MARK = "TAILSCOPE_DESK"
"""In the environment of a program that sees emulated devices: the board's name."""


def is_seen(resource: BoardResource) -> bool:
    """Whether this program sees the board's devices. Of a board that is not emulated: yes."""
    return resource.emulated is None or os.environ.get(MARK) == resource.name


def clipped(resource: BoardResource, clips: str) -> BoardResource:
    """The board, with `clips` behind those of its analyzer; they hold where both name an input."""
    assert resource.emulated is not None
    both = ",".join(part for part in (resource.emulated.clips, clips) if part)
    return replace(resource, emulated=resource.emulated.model_copy(update={"clips": both}))


def run_again(resource: BoardResource, options: Sequence[str] = STRICT) -> int:
    """Runs this program's command line on the board's desk, and returns its exit status.

    `options` are those of somebody's own program. Signals are its to act on. Raises CaptureError
    where this program is on a desk already, SimulatorError where there can be none, and BuildError.
    """
    if MARK in os.environ:
        raise CaptureError(
            f"The board {resource.name!r} is emulated, and this command runs on the desk of "
            f"{os.environ[MARK]!r} already; use one of them at a time."
        )
    away = desk_of(resource, options=options)
    build(_say, DESK)
    with away as desk:
        status = children.attend([*seeing(resource, desk), sys.executable, *sys.orig_argv[1:]])
        # All is well if it is silent.
        ended, words = desk.status(), desk.words()
        said = f" The virtual Nucleo said: {words}." if words else ""
        if ended is not None:
            said = f" The emulated desk ended by itself, with status {ended}; run again.{said}"
        if said:
            _say(said.strip())
    return status


def desk_of(
    resource: BoardResource,
    elf: Path | None = None,
    image: bytes | None = None,
    options: Sequence[str] = STRICT,
) -> EmulatedDesk:
    """The desk of an emulated board, with `elf` and `image` in its flash; not entered yet.

    `options` are further words of the simulator's command line.
    """
    assert resource.emulated is not None
    emulated = resource.emulated
    board = resource.board
    named = any(word.startswith("--chip") for word in options)
    of_board = () if named else board.virtual_options
    if emulated.oscillator is not None:
        of_chip = () if named else board.virtual_chip_options
        of_board = (*of_chip, *board.hse_options(emulated.oscillator))
    return EmulatedDesk(
        elf,
        image=image,
        channels=emulated.channels,
        bare=emulated.bare,
        clips=resource.clipped(emulated.clips),
        clock_error_ppm=emulated.clock_error_ppm,
        flash_acr=emulated.flash_acr,
        options=(*options, *of_board),
    )


def seeing(resource: BoardResource, desk: EmulatedDesk) -> list[str]:
    """What stands before a command of the bench so that it finds the board's devices on `desk`."""
    environment = desk.environment
    variables = {**environment, **children.seen_by(environment[children.PRELOAD]), MARK: resource.name}
    variables[NOTES] = str(desk.notes_file)
    return ["env", *(f"{name}={value}" for name, value in variables.items())]


def _say(words: str) -> None:
    with suppress(OSError):
        print(words, file=sys.stderr)
