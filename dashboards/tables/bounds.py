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
    bound = run.manifest.bounds.get(section)
    if bound is None or bound.cycles is None or bound.ns is None:
        return None
    return Ceiling(bound.cycles, bound.ns, bound.ratio, bound.region_decided)


def sentence(run: LoadedRun) -> str:
    """`bounded, without interrupts, by 1,021 cycles for an allocation, 2.3 times the longest observed; …`."""
    found = [(words, ceiling(run, section)) for section, words in SECTIONS.items()]
    listed = [_words(words, bound) for words, bound in found if bound is not None]
    return f"critical section without interrupts at most {'; '.join(listed)}" if listed else ""


def _words(words: str, bound: Ceiling) -> str:
    times = "" if bound.ratio is None else f", {bound.ratio:.1f} × the longest"
    region = ", by the region's size" if bound.region_decided else ""
    return f"{bound.cycles:,.0f} cycles in {words}{region}{times}"
