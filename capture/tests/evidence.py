"""The evidence that a made-up run leaves, as the bench would have found it."""

from __future__ import annotations

from collections.abc import Mapping

from base.run_folder.manifest import AskedFirmware, ToolReport
from capture.joining.evidence import Evidence, decode
from capture.tests.synthetic import CORE_HZ, HEAP_BYTES, SyntheticRun

ASKED = AskedFirmware(
    allocator="tlsf",
    heap_bytes=HEAP_BYTES,
    core_hz=CORE_HZ,
    kernel="V11.2.0",
    flash_acr="00000702",
    locking="basepri",
    knobs={},
)
"""What the BOOT record of a SyntheticRun tells."""


def evidence_of(
    run: SyntheticRun,
    samplerate_hz: int = CORE_HZ,
    ppm: int = 0,
    *,
    serial_bytes: bytes | None = None,
    counts: bytes | None = None,
    report: Mapping[str, object] | None = None,
) -> Evidence:
    """Decodes `run`, captured at `samplerate_hz` by an analyzer whose clock runs `ppm` fast.

    `serial_bytes` come instead of the run's own records. `counts` are the virtual board's. `report`
    are fields of the tools' report, which otherwise tells of no fault.
    """
    edges = run.edges(samplerate_hz, ppm)
    tools = ToolReport(asked_samples=edges.total_samples).model_copy(update=report or {})
    log = run.uart() if serial_bytes is None else serial_bytes
    return decode(run.plan, tools, edges, log, counts, ASKED)
