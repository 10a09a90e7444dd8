"""What one fault of the wire may change in silence: how far an edge can move before a rule tells.

Every interval is told twice, by the wire and by DWT or a timer, and the two may differ by their
tolerance. An edge that is off by nearly that much to one side may be moved by twice as much to the
other. Where several answers met one operation, the timer told their sum, and each may be as far off
as all of them together.
"""

from __future__ import annotations

from collections.abc import Sequence

from capture.joining.latencies import LatencyWitness
from capture.reading.wire import Wire
from capture.run_folder.quantities import Quantity


def unseen_ns(
    quantity: Quantity, wire: Wire, tolerance_cycles: float, latencies: Sequence[LatencyWitness]
) -> float | None:
    """The most that one moved edge changes of the
    quantity's maximum unseen; None without a witness.

    `tolerance_cycles` is that of wire and DWT on a critical section. What the records alone tell
    changes by nothing: they have a checksum.
    """
    if quantity.interval is None:
        return 0.0
    if quantity.interval == ("CRIT", "CRIT"):
        return wire.ns_of(2 * tolerance_cycles)
    witness = next((one for one in latencies if one.of.channels == quantity.interval), None)
    if witness is None or witness.compared.is_empty():
        return None
    together = witness.compared["number"] * witness.compared["allowed_cycles"]
    widest = together.max()
    return wire.ns_of(2 * float(widest)) if isinstance(widest, int | float) else None
