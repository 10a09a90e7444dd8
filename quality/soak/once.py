"""One run of the soak in a process of its own, as `./lab scenario` conducts it.

    python -m quality.soak.once BOARD RUNS_FOLDER [FAULT]

The last line on standard output is JSON: what came of the run. FAULT
is one of the catalogue: this process does what befalls at a step of the bench; the desk does the
rest. The exit status is that of `./lab scenario`.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from base.files.errors import TailscopeError
from base.processes import children, signals
from quality.soak.catalogue import ACTS, COMPLETE, REFUSED, named

SCENARIO, ALLOCATOR, PARAMETERS = "mem_frag", "tlsf", {"depth": "8"}
HEADLINES = ("probes", "dwt_cycles")
"""Statistics that no fault may change in a complete run, and that no analyzer rounds."""


def main(arguments: Sequence[str]) -> int:
    """Runs, decodes what was kept again, and tells of both."""
    children.keep()
    signals.listen()
    board, runs, name = arguments
    document: dict[str, Any] = {}
    fault = named(name)

    def progress(now: str) -> None:
        if now == fault.step:
            ACTS[fault.act](Path(runs))

    try:
        from base.run_folder import folder as names
        from capture.acquisition.sigrok import Sigrok
        from capture.acquisition.source import RunRequest
        from capture.conduct import redecode, run
        from firmware.build import image as firmware
        from scenarios import catalogue

        plan, image = catalogue.load(SCENARIO, PARAMETERS).compile(), firmware.build(ALLOCATOR)
        with signals.orderly():
            request = RunRequest(
                plan, image, board, runs=Path(runs), records=fault.records, progress=progress
            )
            result = run(Sigrok(request))
            manifest = json.loads((result.folder / names.MANIFEST).read_text(encoding="utf-8"))
            document = {
                "verdict": result.verdict,
                "sentences": list(result.reasons),
                "folder": str(result.folder),
                "warnings": manifest["warnings"],
                "headlines": {
                    key: [manifest[key][part] for part in ("n", "min", "mean", "max")] for key in HEADLINES
                },
            }
            try:
                document["redecoded"] = redecode(result.folder).verdict
            except TailscopeError as error:
                document["redecoded"] = str(error)
        status = int(result.verdict != COMPLETE)
    except (TailscopeError, signals.Stopped) as error:
        document = {"verdict": REFUSED, "sentences": [str(error)], **document}
        status = error.exit_status if isinstance(error, signals.Stopped) else 1
    print(json.dumps(document), flush=True)
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
