"""pyOCD: which probe is meant, and what it tells of a core. Nothing here loads pyOCD itself."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from base.paths import ROOT
from base.processes import children

TARGET_SCRIPT = ROOT / "pyocd_user.py"


@dataclass(frozen=True)
class ProbeAddress:
    """A probe by pyOCD's unique id (empty: the only one connected), and the target behind it."""

    unique_id: str
    target: str


FAULTS_WITHIN_S = 60.0


def post_mortem(probe: ProbeAddress, elf: Path) -> tuple[str, ...]:
    """What the core's fault registers tell, in a sentence, or why they cannot be read.

    A process of its own attaches to the probe (fault_report.py) and halts the core for a moment.
    Raises signals.Stopped.
    """
    command = [*children.with_devices(), sys.executable, "-m", "capture.desk.fault_report"]
    command += [probe.target, str(elf.resolve())]
    command += [probe.unique_id] if probe.unique_id else []
    try:
        done = children.run(command, within_s=FAULTS_WITHIN_S, folder=ROOT)
    except subprocess.TimeoutExpired:
        return (
            f"The board's fault registers could not be read within {FAULTS_WITHIN_S:g} s; end what else uses "
            "the probe, and leave the board its power: without it DBG_SLEEP is lost, and a core that sleeps "
            "answers nothing.",
        )
    if done.returncode:
        return (f"The board's fault registers could not be read: {children.last_words(done.stderr)}",)
    return tuple(done.stdout.strip().splitlines()[-1:])
