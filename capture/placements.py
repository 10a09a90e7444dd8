"""A run measured again with its code at other places in the flash: placements.json.

On the virtual board a placement takes no analyzer, no serial line and no folder, and as many go on
at a time as there are cores. On any other it is flashed and captured as every run is.
"""

from __future__ import annotations

import os
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

from base.processes import signals
from base.run_folder.folder import MANIFEST
from base.run_folder.manifest import Manifest, read_manifest
from base.run_folder.placements import Measured, Placements
from base.tell import Tell
from capture.acquisition import direct
from capture.acquisition.direct import Direct
from capture.acquisition.sigrok import Sigrok
from capture.acquisition.source import RunRequest
from capture.conduct import judge, run
from capture.summary.summary import summarise_run
from firmware.build.placement import placed, placement


def measure(
    request: RunRequest, count: int, first: Manifest | None = None, tell: Tell = lambda _: None
) -> Placements:
    """The figures of `request` at its first `count` placements. `first` is the run.json of
    placement 0, the image as it is, where that has run already.

    `tell` hears of each placement. Raises TailscopeError, and signals.Stopped.
    """
    plain = RunRequest(
        plan=request.plan,
        image=request.image,
        board=request.board,
        samplerate_hz=request.samplerate_hz,
        duration_s=request.duration_s,
        records=request.records,
    )

    def alone(number: int) -> Manifest:
        signals.check()
        account, seen = Direct(replace(plain, image=placed(plain.image, placement(number)))).taken()
        return summarise_run(*judge(account, seen))

    def captured(number: int) -> Manifest:
        with tempfile.TemporaryDirectory(prefix="tailscope-placement-") as name:
            image = placed(plain.image, placement(number))
            result = run(Sigrok(replace(plain, image=image, runs=Path(name))))
            return read_manifest(result.folder / MANIFEST)

    manifests = [] if first is None else [first]
    numbers = range(len(manifests), count)
    with ThreadPoolExecutor(os.cpu_count(), "placement") as at_a_time:
        try:
            at_once = direct.fits(request.resource, request.records)
            for manifest in at_a_time.map(alone, numbers) if at_once else map(captured, numbers):
                manifests.append(manifest)
                tell(f"placement {len(manifests):,} of {count:,}")
        finally:
            at_a_time.shutdown(cancel_futures=True)
    return Placements.of(
        [
            Measured.of(number, place.rest_bytes, place.heap_bytes, manifest)
            for number, (place, manifest) in enumerate(
                zip(map(placement, range(count)), manifests, strict=True)
            )
        ]
    )
