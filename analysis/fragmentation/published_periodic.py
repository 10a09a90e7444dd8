"""Slides' fragmentation of periodic tasks beside the same task
model here: a table of docs/FRAGMENTATION.md.

M. Masmano, I. Ripoll, A. Crespo, "Dynamic storage allocation for real-time embedded systems"
(slides): tests 1 to 3. To print it: .venv/bin/python -m analysis.fragmentation.published_periodic
"""

from __future__ import annotations

from collections.abc import Iterator
from statistics import fmean, stdev

from analysis.fragmentation.study import Study
from scenarios import catalogue
from scenarios.trace import Trace, of_steps

HEAP_BYTES = 1 << 17
"""Twice the board's, so that every allocator serves every request."""
SEEDS = range(1, 25)

PUBLISHED: dict[str, dict[str, tuple[float, float]]] = {
    "periodic_huge": {
        "first_fit": (93.25, 3.99),
        "best_fit": (10.26, 1.25),
        "binary_buddy": (73.56, 6.36),
        "half_fit": (84.67, 3.02),
        "tlsf": (10.49, 1.66),
    },
    "periodic_small": {
        "first_fit": (83.21, 9.04),
        "best_fit": (21.51, 2.73),
        "binary_buddy": (61.97, 1.97),
        "half_fit": (71.50, 3.44),
        "tlsf": (14.86, 2.15),
    },
    "periodic_hybrid": {
        "first_fit": (87.63, 4.41),
        "best_fit": (11.76, 1.32),
        "binary_buddy": (77.58, 5.39),
        "half_fit": (98.14, 3.12),
        "tlsf": (11.15, 1.10),
    },
}
"""Mean and standard deviation of F in percent. The slides do not say which test has which
blocks; huge, small, hybrid is the order in which they name them.
"""


def traces(name: str) -> list[Trace]:
    """One of the scenarios, for every seed."""
    return [of_steps(name, catalogue.load(name, seed=seed).generator.steps(), seed) for seed in SEEDS]


def table(name: str, jobs: int = 1) -> str:
    """One scenario's rows in Markdown. Raises HostHeapError."""
    rows = Study(traces(name), list(PUBLISHED[name]), HEAP_BYTES, jobs=jobs, searches=False).rows()
    found: dict[str, list[float]] = {}
    for row in rows:
        f = row.given.fragmentation_from_start_percent
        assert f is not None and not row.given.failures
        found.setdefault(row.allocator, []).append(f)
    return "\n".join(_lines(name, found))


def _lines(name: str, found: dict[str, list[float]]) -> Iterator[str]:
    for allocator, values in found.items():
        mean, deviation = PUBLISHED[name][allocator]
        ours = (fmean(values), stdev(values), max(values), min(values))
        here = " | ".join(f"{value:.2f}" for value in ours)
        yield f"| {name} | {allocator} | {mean:.2f} | {deviation:.2f} | {here} |"


if __name__ == "__main__":
    for scenario in PUBLISHED:
        print(table(scenario, jobs=2))
