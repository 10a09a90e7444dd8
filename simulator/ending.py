"""How the run of somebody's program ended: at its time, or early, which is a result too."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path

from base.processes import children
from simulator.build import SimulatorError
from simulator.run import MOST_S

_OWN = "virtual-nucleo: "


def run_to_end(command: Sequence[str | Path], stats: Path) -> str:
    """Runs the command in the folder of `stats`, the file that it writes if it ran at all.

    Returns why it ended early, in the simulator's words; an empty string if it did not. Raises
    SimulatorError if the program cannot run.
    """
    try:
        done = children.run(command, within_s=MOST_S, folder=stats.parent)
    except subprocess.TimeoutExpired:
        raise SimulatorError(
            f"The virtual Nucleo did not end within {MOST_S:g} s and was ended; ask for less with --until."
        ) from None
    if done.returncode < 0:
        raise SimulatorError(f"The virtual Nucleo was killed by signal {-done.returncode}; run again.")
    if done.returncode == 0:
        return ""
    words = _words(done.stderr)
    if not stats.exists():
        raise SimulatorError(f"The virtual Nucleo cannot run this: {words.rstrip('.')}.")
    return words


def _words(stderr: str) -> str:
    """What the simulator says, in one line; not what the program or the options' parser adds."""
    lines = stderr.splitlines()
    own = [line.removeprefix(_OWN).strip() for line in lines if line.startswith(_OWN)]
    said = "; ".join(own) or " ".join(stderr.split()).removeprefix("error: ")
    for added in (" tip: ", " Usage: ", " For more information, "):
        said = said.partition(added)[0]
    return said or "it does not say why"
