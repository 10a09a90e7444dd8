"""The bounds of the critical sections beside what was observed of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl

from capture.joining.evidence import Evidence
from capture.run_folder.manifest import SectionBound
from capture.run_folder.records import Boot
from scenarios.operations import Allocate, Mark, decode


def beside(bounds: Mapping[str, SectionBound], evidence: Evidence) -> dict[str, dict[str, Any]]:
    """Each bound with the longest section observed that no interrupt lengthened, and their ratio."""
    boot = evidence.log.first(Boot)
    found = {}
    for name, bound in bounds.items():
        cycles, observed = bound.cycles, _longest(name, evidence)
        found[name] = {
            **bound.model_dump(),
            "ns": cycles * 1e9 / boot.core_hz if cycles is not None and boot else None,
            "observed_cycles": observed,
            "ratio": cycles / observed if cycles is not None and observed else None,
        }
    return found


def exceeded(bounds: Mapping[str, SectionBound], evidence: Evidence) -> list[str]:
    """A sentence for each bound that the run refutes."""
    return [
        f"A section took {bound['observed_cycles']:,} cycles, more than its bound of {bound['cycles']:,} "
        f"({name}): do not trust the bound, and report what ran."
        for name, bound in beside(bounds, evidence).items()
        if bound["ratio"] is not None and bound["ratio"] < 1
    ]


def _longest(name: str, evidence: Evidence) -> int | None:
    """Of all operations, measured or not; what the control interrupt hit has its handler's cycles too."""
    table = evidence.joined.operations.filter(pl.col("control_hits") == 0)
    table = table.filter(pl.col("kind").is_in(["F", "E"] if name == "free" else ["A", "O"]))
    if name != "free":
        aligned = _aligned(evidence)
        table = table.filter(pl.col("seq").is_in(aligned) == (name == "allocate_aligned"))
    longest = table["dwt_cycles"].max()
    return None if longest is None else int(longest)  # type: ignore[arg-type]


def _aligned(evidence: Evidence) -> list[int]:
    """The operations that ask for more than the allocator's own alignment."""
    operations = (one for one in decode(evidence.plan.image).operations if not isinstance(one, Mark))
    return [seq for seq, one in enumerate(operations) if isinstance(one, Allocate) and one.align_log2]
