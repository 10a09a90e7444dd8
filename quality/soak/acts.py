"""What befalls a run at a step of the bench, done by the bench's own process.

The bench says what step it is at (the run's `progress`), and an act is done there and then.
So it happens at the same place of the run on a busy machine, too.
"""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from base.run_folder.folder import SERIAL_LOG
from simulator.desk import CONTROL, ask

TOOL = "sigrok-cli"
POLL_S = 0.02


def _terminate(_runs: Path) -> None:
    os.kill(os.getpid(), signal.SIGTERM)


def _unplug_analyzer(_runs: Path) -> None:
    ask(_control(), "analyzer unplug")


def _rename_port(_runs: Path) -> None:
    ask(_control(), "probe unplug")
    ask(_control(), "probe plug as ttyACM1")


def _kill_sigrok(runs: Path) -> None:
    threading.Thread(target=_kill_once_heard, args=(runs,), daemon=True).start()


ACTS: Mapping[str, Callable[[Path], None]] = {
    "terminate": _terminate,
    "unplug analyzer": _unplug_analyzer,
    "rename port": _rename_port,
    "kill sigrok-cli": _kill_sigrok,
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
        if _is_our_sigrok(process):
            os.kill(int(process.name), signal.SIGKILL)


def _is_our_sigrok(process: Path) -> bool:
    try:
        name, _, rest = (process / "stat").read_text(encoding="utf-8").partition("(")[2].rpartition(")")
    except OSError:
        return False  # it has ended
    return name == TOOL and int(rest.split()[1]) == os.getpid()
