"""Which cases diverge, and in which fields."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from quality.differential.batches import APSR_MASK, EXECUTED, MARGIN_BYTES, SLOT_BYTES, Batch, Results
from quality.differential.encodings import Mask


@dataclass(frozen=True)
class Divergence:
    """One case that the core and Unicorn end differently.

    `fields` has the fields that differ, each with our value and Unicorn's. `code` is the program in
    hexadecimal, `fpscr_before` the FPSCR that the case began with.
    """

    row: int
    code: str
    fields: dict[str, tuple[int, int]]
    fpscr_before: int
    detail: str

    def __str__(self) -> str:
        shown = ", ".join(
            f"{name} {ours:#x} and not {theirs:#x}" for name, (ours, theirs) in self.fields.items()
        )
        return f"{self.code}: {shown}; {self.detail}"


def divergences(batch: Batch, ours: Results, theirs: Results) -> list[Divergence]:
    """All divergent cases of a batch."""
    return [_describe(batch, ours, theirs, int(at)) for at in np.flatnonzero(_differs(ours, theirs))]


def _differs(ours: Results, theirs: Results) -> Mask:
    executed = (ours["outcome"] == EXECUTED) & (theirs["outcome"] == EXECUTED)
    differs = np.zeros(len(ours), bool)
    for name in ("pc", "fpscr", "memory"):
        differs |= ours[name] != theirs[name]
    differs |= ((ours["status"] ^ theirs["status"]) & APSR_MASK) != 0
    for name in ("r", "s"):
        differs |= (ours[name] != theirs[name]).any(axis=1)
    return differs & executed | ((ours["outcome"] == EXECUTED) != (theirs["outcome"] == EXECUTED))


def _describe(batch: Batch, ours: Results, theirs: Results, at: int) -> Divergence:
    mine, other, before = ours[at], theirs[at], batch.cases[at]
    start = MARGIN_BYTES + SLOT_BYTES * at + int(before["pc"]) % SLOT_BYTES
    return Divergence(
        row=int(batch.rows[at]),
        code=batch.code[start : start + int(batch.lengths[at])].hex(),
        fields=_fields(mine, other),
        fpscr_before=int(before["fpscr"]),
        detail=f"before: apsr {before['status']:#x} fpscr {before['fpscr']:#x}"
        f" r {[hex(v) for v in before['r']]} s {[hex(v) for v in before['s']]}",
    )


def _fields(mine: np.void, other: np.void) -> dict[str, tuple[int, int]]:
    """The fields that differ; only `outcome` if one of the two did not execute the case."""
    if mine["outcome"] != other["outcome"]:
        return {"outcome": (int(mine["outcome"]), int(other["outcome"]))}
    pairs = {name: (int(mine[name]), int(other[name])) for name in ("pc", "fpscr", "memory")}
    pairs["apsr"] = (int(mine["status"] & APSR_MASK), int(other["status"] & APSR_MASK))
    for name in ("r", "s"):
        pairs |= {
            f"{name}{n}": (int(a), int(b))
            for n, (a, b) in enumerate(zip(mine[name], other[name], strict=True))
        }
    return {name: (a, b) for name, (a, b) in pairs.items() if a != b}
