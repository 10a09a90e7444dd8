"""A run measured again with its code at other places in the flash: placements.json.

On the virtual board a placement takes no analyzer, no serial line and no folder, and as many go on
at a time as there are cores. On any other it is flashed and captured as every run is.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

from base.processes import signals
from base.run_folder import folder as names
from base.run_folder.manifest import Manifest, read_manifest
from base.run_folder.placements import Measured, Placements
from base.tell import Tell
from capture.acquisition import direct
from capture.acquisition.direct import Direct
from capture.acquisition.sigrok import Sigrok
from capture.acquisition.source import RunRequest
from capture.conduct import find
from capture.conduct import run as conduct
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
    conduct_them = _at_once if direct.fits(request.resource, request.records) else _each
    manifests = [] if first is None else [first]
    for manifest in conduct_them(plain, range(len(manifests), count)):
        manifests.append(manifest)
        tell(f"placement {len(manifests):,} of {count:,}")
    return Placements.of([_measured(number, manifest) for number, manifest in enumerate(manifests)])


def _measured(number: int, manifest: Manifest) -> Measured:
    at = placement(number)
    return Measured.of(number, at.rest_bytes, at.heap_bytes, manifest)


def _placed(request: RunRequest, number: int) -> RunRequest:
    return replace(request, image=placed(request.image, placement(number)))


def _at_once(request: RunRequest, numbers: Iterable[int]) -> Iterator[Manifest]:
    with ThreadPoolExecutor(os.cpu_count(), "placement") as at_a_time:
        try:
            yield from at_a_time.map(lambda number: _alone(request, number), numbers)
        finally:
            at_a_time.shutdown(cancel_futures=True)


def _alone(request: RunRequest, number: int) -> Manifest:
    signals.check()
    run = find(Direct(_placed(request, number)))
    return summarise_run(run.evidence, run.setting)


def _each(request: RunRequest, numbers: Iterable[int]) -> Iterator[Manifest]:
    for number in numbers:
        with tempfile.TemporaryDirectory(prefix="tailscope-placement-") as name:
            run_request = replace(_placed(request, number), runs=Path(name))
            yield read_manifest(conduct(Sigrok(run_request)).folder / names.MANIFEST)
