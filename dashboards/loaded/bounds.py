"""The bound of a run's critical sections, beside what was observed (docs/reference/run-json.md)."""

from __future__ import annotations

from dataclasses import dataclass

from dashboards.loaded.runs import LoadedRun

SECTIONS = {"allocate": "allocation", "free": "free"}


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
    """`Static bound (no interrupts): allocation ≤ 1,021 cycles, 2.3 × the worst undisturbed; …`.

    Empty where the run tells no bound.
    """
    found = [(words, bound_of(run, section)) for section, words in SECTIONS.items()]
    listed = [_words(words, bound) for words, bound in found if bound is not None]
    return f"Static bound (no interrupts): {'; '.join(listed)}" if listed else ""


def _words(words: str, bound: KnownBound) -> str:
    grows = ", grows with heap size" if bound.region_decided else ""
    times = "" if bound.ratio is None else f", {bound.ratio:.1f} × the worst undisturbed"
    return f"{words} ≤ {bound.cycles:,.0f} cycles{grows}{times}"
