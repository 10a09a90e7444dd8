"""All that is known of a finished run, sound or broken: what the verdict and the summary are drawn from."""

from __future__ import annotations

from dataclasses import dataclass

from capture.joining.budget import Budget, Instruments, error_budgets
from capture.joining.join import Join, join
from capture.reading.probes import Probes, witness
from capture.reading.wire import Wire, read_wire
from capture.run_folder.edges import EdgeList
from capture.run_folder.manifest import ToolReport
from capture.run_folder.records import Boot, RecordLog, parse
from scenarios.plan import Plan


@dataclass(frozen=True)
class Evidence:
    """One run: the plan, what came back over wire and serial line, and their join."""

    plan: Plan
    tools: ToolReport
    edges: EdgeList
    log: RecordLog
    wire: Wire
    joined: Join
    probes: Probes

    @property
    def instruments(self) -> Instruments:
        """What the calibration found, for the error budget."""
        return Instruments(self.wire, self.joined.counter, self.joined.critical_cost, self.log)

    @property
    def tolerance_cycles(self) -> float:
        """How far wire and DWT may lie apart for one critical section, in cycles: their join's budget."""
        widest = self.joined.operations["dwt_cycles"].max()
        longest = widest if isinstance(widest, int) else 0
        return self.instruments.agreement_cycles + self.instruments.clock_share * longest

    @property
    def budgets(self) -> dict[str, Budget]:
        """The error budget of each quantity of run.json."""
        return error_budgets(self.instruments, self.joined.operations, self.joined.interrupts)


def decode(
    plan: Plan, tools: ToolReport, edges: EdgeList, serial_bytes: bytes, counts: bytes | None = None
) -> Evidence:
    """Decodes and joins what a run left behind; a broken run gives as much as can be joined.

    `counts` is the table of what the virtual board counted. Raises CaptureError where it is damaged.
    """
    log = parse(serial_bytes)
    boot = log.first(Boot)
    wire = read_wire(edges, boot.core_hz if boot else None)
    probes = witness(log, counts)
    return Evidence(plan, tools, edges, log, wire, join(wire, log, plan, probes), probes)
