"""Cases and results, in the form of the core's side (simulator/examples/differential.rs)."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

STATE: list[Any] = [
    ("pc", "<u4"),
    ("r", "<u4", 15),
    ("status", "<u4"),
    ("fpscr", "<u4"),
    ("s", "<u4", 32),
]
CASE = np.dtype([("steps", "<u4"), *STATE])
RESULT = np.dtype([("outcome", "<u4"), *STATE, ("memory", "<u8")])
STATE_BYTES = 4 * (1 + 15 + 2 + 32)

Cases = npt.NDArray[Any]
Results = npt.NDArray[Any]
Bytes = npt.NDArray[np.uint8]

# The outcome of a case that was executed; any other means that it was not.
EXECUTED = 0

APSR_MASK = np.uint32(0xF80F_0000)


def memory_hash(before: Bytes, after: Bytes) -> int:
    """The hash of the changed bytes; 0 if none changed. The core's side computes the same."""
    changed = np.flatnonzero(before != after)
    terms = changed.astype(np.uint64) << np.uint64(8) | after[changed].astype(np.uint64)
    return int((terms * terms * terms | np.uint64(1)).sum(dtype=np.uint64))
