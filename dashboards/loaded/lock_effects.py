"""Whom the heap's lock holds off: what a reader of latencies must know."""

from __future__ import annotations

from collections.abc import Sequence

from dashboards.caveats import LOCKS
from dashboards.loaded.series import Series


def spares_control(one: Series) -> bool:
    """True unless the lock holds off the control interrupt too."""
    return one.run.manifest.locking != "primask"


def spares_interrupts(one: Series) -> bool:
    """True if the lock holds off tasks only."""
    return one.run.manifest.locking == "scheduler"


def caveats(series: Sequence[Series]) -> str:
    """A sentence for each lock among `series` other than the usual mask in BASEPRI."""
    sentences = []
    for locking, sentence in LOCKS.items():
        names = [one.name for one in series if one.run.manifest.locking == locking]
        if names:
            sentences.append(sentence.format(names=" and ".join(names)))
    return " ".join(sentences)
