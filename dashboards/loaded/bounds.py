"""The bound of a run's critical sections, beside what was observed (docs/SPEC.md, section 5)."""

from __future__ import annotations

from dataclasses import dataclass

from dashboards.loaded.runs import LoadedRun

SECTIONS = {"allocate": "an allocation", "free": "a free"}


@dataclass(frozen=True)
class KnownBound:
    """The most that a section can take without interrupts.

    `ratio` is the bound divided by the longest section observed. `region_decided` is True where
    the bound grows with the heap's region.
    """

    cycles: float
    ns: float
    ratio: float | None
    region_decided: bool


def bound_of(run: LoadedRun, section: str) -> KnownBound | None:
    """The bound of `section` (a key of SECTIONS). None where the run tells none."""
    told = run.manifest.bounds.get(section)
    if told is None or told.cycles is None or told.ns is None:
        return None
    return KnownBound(told.cycles, told.ns, told.ratio, told.region_decided)


def bounds_sentence(run: LoadedRun) -> str:
    """`critical section without interrupts at most 1,021 cycles in an allocation, …`.

    Empty where the run tells no bound.
    """
    found = [(words, bound_of(run, section)) for section, words in SECTIONS.items()]
    listed = [_words(words, bound) for words, bound in found if bound is not None]
    return f"critical section without interrupts at most {'; '.join(listed)}" if listed else ""


def _words(words: str, bound: KnownBound) -> str:
    times = "" if bound.ratio is None else f", {bound.ratio:.1f} × the longest"
    region = ", by the region's size" if bound.region_decided else ""
    return f"{bound.cycles:,.0f} cycles in {words}{region}{times}"
