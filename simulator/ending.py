"""How the run of somebody's program ended: at its time, or early, which is a result too."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path

from capture.processes import children
from simulator.build import SimulatorError
from simulator.run import MOST_S


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
    words = " ".join(done.stderr.split()).removeprefix("virtual-nucleo: ") or "it does not say why"
    if not stats.exists():
        raise SimulatorError(f"The virtual Nucleo cannot run this: {words.rstrip('.')}.")
    return words
