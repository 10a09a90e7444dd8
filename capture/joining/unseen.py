"""What one fault of the wire may change in silence: how far an edge can move before a rule tells.

Every interval is told twice, by the wire and by DWT or a timer, and the two may differ by their
tolerance. An edge that is off by nearly that much to one side may be moved by twice as much to the
other. Where several answers met one operation, the timer told their sum, and each may be as far off
as all of them together.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from base.metrology.quantiles import PERCENTILES, rank, samples_needed
from base.run_folder.quantities import Quantity
from capture.joining.latencies import LatencyWitness
from capture.reading.wire import Wire


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
    witness = next((witness for witness in latencies if witness.of.channels == quantity.interval), None)
    if witness is None or witness.compared.is_empty():
        return None
    together = witness.compared["number"] * witness.compared["allowed_cycles"]
    widest = together.max()
    return wire.ns_of(2 * float(widest)) if isinstance(widest, int | float) else None


def rank_ns(quantity: Quantity, values: npt.NDArray[np.float64]) -> float:
    """The most that a percentile of the latencies changes if one answer moves past it.

    Between operations the timer tells the least latency and the greatest alone. An answer there may
    move between the two unseen, and every percentile on its way shifts by one rank.
    """
    if quantity.table != "interrupts" or len(values) < 2:
        return 0.0
    steps = np.diff(np.sort(values))
    generator = (share for share in PERCENTILES.values() if len(values) >= samples_needed(share))
    at = {rank(len(values), share) - 1 for share in generator}
    beside = {step for place in at for step in (place - 1, place) if 0 <= step < len(steps)}
    return float(steps[sorted(beside)].max())
