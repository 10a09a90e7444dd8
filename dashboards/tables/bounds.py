"""The bound of a run's critical sections, beside what was observed (docs/SPEC.md, section 5)."""

from __future__ import annotations

from dataclasses import dataclass

from dashboards.runs import LoadedRun

SECTIONS = {"allocate": "an allocation", "free": "a free"}


@dataclass(frozen=True)
class Ceiling:
    """The most that a section can take without interrupts, and how often the longest observed one goes in."""

    cycles: float
    ns: float
    ratio: float | None
    region_decided: bool


def ceiling(run: LoadedRun, section: str) -> Ceiling | None:
    """The bound of `section` (SECTIONS). None where the run tells none."""
    every = run.manifest.raw.get("bounds")
    bound = every.get(section) if isinstance(every, dict) else None
    if not isinstance(bound, dict):
        return None
    cycles, ns, ratio = (bound.get(name) for name in ("cycles", "ns", "ratio"))
    if not isinstance(cycles, int | float) or not isinstance(ns, int | float):
        return None
    known = float(ratio) if isinstance(ratio, int | float) else None
    return Ceiling(float(cycles), float(ns), known, bool(bound.get("region_decided")))


def sentence(run: LoadedRun) -> str:
    """`bounded, without interrupts, by 1,021 cycles for an allocation, 2.3 times the longest observed; …`."""
    found = [(words, ceiling(run, section)) for section, words in SECTIONS.items()]
    listed = [_words(words, bound) for words, bound in found if bound is not None]
    return f"critical section without interrupts at most {'; '.join(listed)}" if listed else ""


def _words(words: str, bound: Ceiling) -> str:
    times = "" if bound.ratio is None else f", {bound.ratio:.1f} × the longest"
    region = ", by the region's size" if bound.region_decided else ""
    return f"{bound.cycles:,.0f} cycles in {words}{region}{times}"
