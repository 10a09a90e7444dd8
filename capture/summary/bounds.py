"""The bounds of the critical sections, beside the longest that the run showed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl

from base.run_folder.manifest import SectionBound
from base.run_folder.records import ALLOCATION_KINDS, Boot
from capture.joining.evidence import Evidence
from scenarios.operations import Allocate, Mark, decode

# Freed, and refused by the allocator: it ran in both.
FREE_KINDS = ("F", "E")


def compare_bounds(bounds: Mapping[str, SectionBound], evidence: Evidence) -> dict[str, dict[str, Any]]:
    """What run.json says: each bound, the longest section observed, and their ratio."""
    boot = evidence.log.first(Boot)
    by_kind = {}
    for name, bound in bounds.items():
        cycles, observed = bound.cycles, _longest_observed(name, evidence)
        by_kind[name] = {
            **bound.model_dump(),
            "ns": evidence.wire.ns_of(cycles) if cycles is not None and boot else None,
            "observed_cycles": observed,
            "ratio": cycles / observed if cycles is not None and observed else None,
        }
    return by_kind


def exceeded_bounds(compared: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """A sentence for each of the compared bounds that the run refutes."""
    return [
        f"A section took {bound['observed_cycles']:,} cycles, more than its bound of {bound['cycles']:,} "
        f"({name}): do not trust the bound, and report what ran."
        for name, bound in compared.items()
        if bound["ratio"] is not None and bound["ratio"] < 1
    ]


def _longest_observed(name: str, evidence: Evidence) -> int | None:
    """The longest section of that name by DWT, in cycles, of all operations, measured or not.

    Those that the control interrupt hit are left out: they have its handler's cycles too.
    """
    table = evidence.joined.operations.filter(pl.col("control_hits") == 0)
    table = table.filter(pl.col("kind").is_in(FREE_KINDS if name == "free" else ALLOCATION_KINDS))
    if name != "free":
        aligned = pl.col("seq").is_in(aligned_allocations(evidence))
        table = table.filter(aligned == (name == "allocate_aligned"))
    longest = table["dwt_cycles"].max()
    return None if longest is None else int(longest)  # type: ignore[arg-type]


def aligned_allocations(evidence: Evidence) -> list[int]:
    """The numbers of the operations that ask for an alignment of their own."""
    operations = (
        operation for operation in decode(evidence.plan.image).operations if not isinstance(operation, Mark)
    )
    return [
        seq
        for seq, operation in enumerate(operations)
        if isinstance(operation, Allocate) and operation.align_log2
    ]
