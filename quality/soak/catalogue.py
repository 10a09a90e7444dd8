"""The faults that a desk can have: those of faults.toml; what befalls a run at a step of the bench,
done by the bench's own process.

The bench says what step it is at (the run's `progress`), and an act is done there and then. So it
happens at the same place of the run on a busy machine, too.
"""

from __future__ import annotations

import os
import re
import signal
import threading
import time
import tomllib
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from base.run_folder.folder import SERIAL_LOG
from simulator.desk import CONTROL, ask

COMPLETE, TRUNCATED, REFUSED = "complete", "truncated", "refused"
"""Verdicts that are looked for, and REFUSED where nothing was captured and a sentence says why."""


@dataclass(frozen=True)
class DeskFault:
    """One fault.

    `verdict` is the outcome that is due, and `says` part of a sentence that must come with it; an
    ellipsis in it stands for any words.
    `requests` are lines for the desk's control socket (docs/how-to/desk.md), sent before
    the run. `act` is done when the bench is at `step` (ACTS). `records` says what carries the
    records, uart or rtt. `other_firmware`: the flash holds the firmware of another allocator at
    first. `notes` is part of a warning that a complete run must have. `loses_cycles`: some
    operations have no cycles by DWT, so that statistic may differ from a run without.
    """

    name: str
    injected: str
    verdict: str
    detected_by: str
    says: str
    requests: Sequence[str] = ()
    step: str = ""
    act: str = ""
    records: str = "uart"
    other_firmware: bool = False
    notes: str = ""
    loses_cycles: bool = False
    boards: Sequence[str] = ("desk",)

    @property
    def exit_status(self) -> int:
        """Of the command: 0 for a complete run alone, 143 after a SIGTERM."""
        if self.act == "terminate":
            return 143
        return 0 if self.verdict == COMPLETE else 1


def is_part(words: str, sentence: str) -> bool:
    """Whether these words, of which an ellipsis stands for any, are in the sentence."""
    return re.search(".*".join(map(re.escape, words.split("…"))), sentence) is not None


_ROWS = tomllib.loads(Path(__file__).with_name("faults.toml").read_text(encoding="utf-8"))["fault"]
FAULTS = tuple(DeskFault(**row) for row in _ROWS)
NONE = FAULTS[0]


def named(name: str) -> DeskFault:
    """The fault called `name`. Raises KeyError."""
    return {fault.name: fault for fault in FAULTS}[name]


TOOL = "sigrok-cli"
POLL_S = 0.02


def _rename_port(_runs: Path) -> None:
    for act in ("unplug", "plug as ttyACM1"):
        ask(_control(), f"probe {act}")


ACTS: Mapping[str, Callable[[Path], object]] = {
    "terminate": lambda _: os.kill(os.getpid(), signal.SIGTERM),
    "unplug analyzer": lambda _: ask(_control(), "analyzer unplug"),
    "rename port": _rename_port,
    "kill sigrok-cli": lambda runs: threading.Thread(
        target=_kill_once_heard, args=(runs,), daemon=True
    ).start(),
}
"""By name; each gets the folder of the runs."""


def _control() -> Path:
    """The control socket of the desk whose devices this process sees."""
    return Path(os.environ["UMOCKDEV_DIR"]) / CONTROL


def _kill_once_heard(runs: Path) -> None:
    """Kills sigrok-cli once the board has spoken, and so long before its capture is over."""
    while not any(log.stat().st_size for log in runs.glob(f"*/{SERIAL_LOG}")):
        time.sleep(POLL_S)
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):  # it has ended
            name, _, rest = (process / "stat").read_text("utf-8").partition("(")[2].rpartition(")")
            if name == TOOL and int(rest.split()[1]) == os.getpid():
                os.kill(int(process.name), signal.SIGKILL)
