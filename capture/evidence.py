"""All that is known of a finished run, sound or broken: what the verdict and the summary are drawn from."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from capture.edges import EdgeList
from capture.join import Join, join
from capture.records import Boot, RecordLog, parse
from capture.wire import Wire, read_wire
from scenarios.plan import Plan


@dataclass(frozen=True)
class ToolReport:
    """What the tools did, apart from the data they brought.

    `losses` are sentences on what a tool did not deliver, `oddities` on what it said or did unexpectedly.
    """

    asked_samples: int
    interrupted: bool = False
    losses: tuple[str, ...] = ()
    oddities: tuple[str, ...] = ()


@dataclass(frozen=True)
class Evidence:
    """One run: the plan, what came back over wire and serial line, and their join."""

    plan: Plan
    tools: ToolReport
    edges: EdgeList
    log: RecordLog
    wire: Wire
    joined: Join

    @property
    def tolerance_cycles(self) -> float:
        """How far wire and DWT may lie apart for one critical section, in cycles.

        A width is quantised at both edges: it is known to one sample. At or above the core clock the marker
        cost is exact, since it is a whole number of cycles; below, it is known to one sample itself and a
        comparison to two. The clock fit adds its residual in proportion of the widest section to a frame.
        """
        samples = 1.0 if self.edges.samplerate_hz >= self.wire.core_hz else 2.0
        return (samples + self._fit_error_samples()) / self.wire.samples_per_cycle

    def _fit_error_samples(self) -> float:
        frame, clock = self.wire.start_frame, self.wire.clock
        widest = self.joined.operations["wire_critical_samples"].max()
        if frame is None or clock is None or not isinstance(widest, int):
            return 0.0
        return clock.residual_max_samples * widest / float(np.ptp(frame))


def weigh(plan: Plan, tools: ToolReport, edges: EdgeList, serial_bytes: bytes) -> Evidence:
    """Decodes and joins what a run left behind; a broken run gives as much as can be joined."""
    log = parse(serial_bytes)
    boot = log.first(Boot)
    wire = read_wire(edges, boot.core_hz if boot else None)
    return Evidence(plan, tools, edges, log, wire, join(wire, log, plan))
