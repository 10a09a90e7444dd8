"""One run of the soak in a process of its own, as `./lab scenario` conducts it.

    python -m quality.soak.once BOARD RUNS_FOLDER [FAULT]

The last line on standard output is JSON: what came of the run, and how much memory it took. FAULT
is one of the catalogue: this process does what befalls at a step of the bench; the desk does the
rest. The exit status is that of `./lab scenario`.
"""

from __future__ import annotations

import json
import resource
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from base.processes import children, signals

SCENARIO, ALLOCATOR, PARAMETERS = "mem_frag", "tlsf", {"depth": "8"}
HEADLINES = ("probes", "dwt_cycles")
"""Statistics that no fault may change in a complete run, and that no analyzer rounds."""


def main(arguments: Sequence[str]) -> int:
    """Runs, decodes what was kept again, and tells of both."""
    from base.files.errors import TailscopeError

    children.keep()
    signals.listen()
    board, runs, *fault = arguments
    document: dict[str, Any] = {}
    try:
        status = _run(board, Path(runs), fault[0] if fault else "none", document)
    except TailscopeError as error:
        document["sentences"] = [str(error)]
        status = 1
    except signals.Stopped as stopped:
        document.setdefault("sentences", [str(stopped)])
        status = stopped.exit_status
    document["memory_kib"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(json.dumps(document), flush=True)
    return status


def _run(board: str, runs: Path, name: str, document: dict[str, Any]) -> int:
    from base.run_folder import folder as names
    from capture.acquisition.sigrok import Sigrok
    from capture.acquisition.source import RunRequest
    from capture.conduct import run
    from firmware.build import image as firmware
    from quality.soak.catalogue import ACTS, named
    from scenarios import catalogue

    plan = catalogue.load(SCENARIO, PARAMETERS).compile()
    image = firmware.build(ALLOCATOR)

    fault = named(name)

    def progress(now: str) -> None:
        if now == fault.step:
            ACTS[fault.act](runs)

    with signals.orderly():
        before = len(list(Path("/proc/self/fd").iterdir()))
        request = RunRequest(plan, image, board, runs=runs, records=fault.records, progress=progress)
        result = run(Sigrok(request))
        document["verdict"], document["sentences"] = result.verdict, list(result.reasons)
        document["folder"] = str(result.folder)
        document["descriptors_left"] = len(list(Path("/proc/self/fd").iterdir())) - before
        manifest = json.loads((result.folder / names.MANIFEST).read_text(encoding="utf-8"))
        document["warnings"] = manifest["warnings"]
        document["headlines"] = {
            name: [manifest[name][part] for part in ("n", "min", "mean", "max")] for name in HEADLINES
        }
        document["redecoded"] = _redecoded(result.folder)
    return 0 if result.verdict == "complete" else 1


def _redecoded(folder: Path) -> str:
    """The verdict from what was kept alone, or why there is none."""
    from base.files.errors import TailscopeError
    from capture.conduct import redecode

    try:
        return redecode(folder).verdict
    except TailscopeError as error:
        return str(error)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
