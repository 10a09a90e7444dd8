"""A thesis's tables of fragmentation beside the same traces
here: the tables of docs/FRAGMENTATION.md.

E. Auvinen, "Embedded Dynamic Memory Allocator Optimisation", Tampere University 2022, appendix B
and table 13. To print them: .venv/bin/python -m analysis.fragmentation.published
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median_low

from analysis.fragmentation.study import Row, Study
from scenarios import catalogue
from scenarios.trace import Trace, of_steps

HEAP_BYTES = 86_064
SEEDS = range(1, 33)


@dataclass(frozen=True)
class Published:
    """One row of the thesis: in the heap of 86,064 bytes, then in the smallest."""

    fragmentation_percent: float
    sbbm_bytes: int
    cost_metric_bytes: int
    fragmentation_there_percent: float
    sbbm_there_bytes: int


PEAK_LIVE_BYTES = {"small": 5777, "large": 33923, "random": 37061, "typical": 4972}

PUBLISHED: dict[str, dict[str, Published]] = {
    "small": {
        "ublox_buddy": Published(46.24, 12288, 7488, 28.79, 48),
        "first_fit": Published(64.34, 76554, 7424, 28.23, 300),
        "best_fit": Published(19.99, 79112, 6576, 13.48, 213),
        "tlsf_conte": Published(18.82, 78669, 6976, 11.62, 193),
        "o1heap": Published(74.49, 75808, 9824, 67.28, 256),
        "half_fit_cstm": Published(21.59, 78960, 6704, 14.66, 196),
        "half_tree": Published(19.85, 78992, 7048, 19.44, 220),
    },
    "large": {
        "ublox_buddy": Published(8.67, 12288, 36912, 8.67, 0),
        "first_fit": Published(22.04, 44647, 41424, 22.06, 5007),
        "best_fit": Published(22.04, 44643, 41424, 22.05, 4964),
        "tlsf_conte": Published(21.97, 44157, 42720, 23.95, 5481),
        "o1heap": Published(141.49, 24448, 61600, 81.12, 8192),
        "half_fit_cstm": Published(22.08, 44572, 41496, 22.09, 4968),
        "half_tree": Published(22.08, 44504, 41560, 22.08, 4964),
    },
    "random": {
        "ublox_buddy": Published(65.78, 12288, 55344, 49.20, 3072),
        "first_fit": Published(43.19, 32981, 44840, 20.95, 4604),
        "best_fit": Published(16.95, 42703, 39680, 7.01, 1243),
        "tlsf_conte": Published(26.79, 38545, 47328, 26.22, 4821),
        "o1heap": Published(131.75, 22400, 61600, 65.78, 2048),
        "half_fit_cstm": Published(9.97, 45228, 41840, 12.68, 2424),
        "half_tree": Published(21.55, 40868, 41912, 12.69, 2380),
    },
    "typical": {
        "ublox_buddy": Published(147.14, 12288, 7728, 54.47, 192),
        "first_fit": Published(84.57, 76871, 7104, 42.56, 1215),
        "best_fit": Published(25.30, 79814, 5336, 6.92, 115),
        "tlsf_conte": Published(19.63, 79585, 5912, 8.29, 197),
        "o1heap": Published(87.93, 76544, 9504, 87.93, 1152),
        "half_fit_cstm": Published(19.55, 80040, 5552, 10.06, 288),
        "half_tree": Published(26.23, 79640, 5664, 10.94, 180),
    },
}
"""By trace, then by the allocator here that is nearest. Appendix B has 5,663 for half_tree on
typical, table 13 has 5,664, which agrees with the other figures of the row.
"""

NO_KNOBS: Mapping[str, int] = {}

FORMATS: tuple[tuple[str, Mapping[str, int]], ...] = (
    ("ublox_buddy", NO_KNOBS),
    ("ublox_buddy", {"REMAINDER_FIRST": 1}),
    ("first_fit", NO_KNOBS),
    ("best_fit", NO_KNOBS),
    ("tlsf_conte", NO_KNOBS),
    ("o1heap", NO_KNOBS),
    ("half_fit_cstm", NO_KNOBS),
    ("half_fit_cstm", {"HDR": 8}),
    ("half_tree", NO_KNOBS),
    ("half_tree", {"HDR": 4}),
)
"""The rows of a table, an allocator and its knobs: as it is here, and in the thesis's format."""

_COLUMNS: tuple[tuple[str, Callable[[Published], float], Callable[[Row], float | None], str], ...] = (
    ("F %", lambda p: p.fragmentation_percent, lambda row: row.given.fragmentation_percent, ".2f"),
    ("SBBM", lambda p: p.sbbm_bytes, lambda row: row.given.sbbm_bytes, ",.0f"),
    ("Cost Metric", lambda p: p.cost_metric_bytes, lambda row: row.cost_metric.smallest_bytes, ",.0f"),
    (
        "F % there",
        lambda p: p.fragmentation_there_percent,
        lambda row: row.fragmentation_there_percent,
        ".2f",
    ),
    (
        "SBBM there",
        lambda p: p.sbbm_there_bytes,
        lambda row: row.sbbm_there_bytes,
        ",.0f",
    ),
)


def traces(name: str, seeds: Sequence[int] = SEEDS) -> list[Trace]:
    """One of the thesis's four traces, for every seed."""
    scenarios = [catalogue.load(f"lifetimes_{name}", seed=seed) for seed in seeds]
    return [
        of_steps(one.name, one.generator.steps(), seed) for one, seed in zip(scenarios, seeds, strict=True)
    ]


def label(allocator: str, knobs: Mapping[str, int]) -> str:
    """How a row of the tables begins."""
    return ", ".join([allocator, *(f"{name}={value}" for name, value in knobs.items())])


def table(name: str, formats: Sequence[tuple[str, Mapping[str, int]]] = FORMATS, jobs: int = 1) -> str:
    """One of the thesis's tables in Markdown, with these rows. Raises HostHeapError."""
    drawn = traces(name)
    found = [
        (allocator, knobs, Study(drawn, [allocator], HEAP_BYTES, knobs, jobs).rows())
        for allocator, knobs in formats
    ]
    peaks = [row.given.peak_live_bytes for row in found[0][2]]
    head = " | ".join(f"{heading}: published | here" for heading, *_ in _COLUMNS)
    return "\n".join(
        [
            f"**{name}**: {len(SEEDS)} seeds; live at most {PEAK_LIVE_BYTES[name]:,} bytes (published), "
            f"{_told(peaks, ',.0f')} (here)",
            "",
            f"| | {head} |",
            f"|---|{'---:|' * 2 * len(_COLUMNS)}",
            *(
                _line(PUBLISHED[name][allocator], label(allocator, knobs), rows)
                for allocator, knobs, rows in found
            ),
        ]
    )


def _line(published: Published, begins: str, rows: Sequence[Row]) -> str:
    cells = [begins]
    for _, theirs, ours, form in _COLUMNS:
        cells += [f"{theirs(published):{form}}", _told([ours(row) for row in rows], form)]
    return f"| {' | '.join(cells)} |"


def _told(values: Sequence[float | None], form: str) -> str:
    """The median that occurred, and the range in brackets."""
    found = [value for value in values if value is not None]
    if len(found) < len(values):
        raise AssertionError("every heap here serves these traces")
    least, middle, most = (f"{pick(found):{form}}" for pick in (min, median_low, max))
    return middle if least == most else f"{middle} ({least}–{most})"


if __name__ == "__main__":
    for trace in PUBLISHED:
        print(table(trace, jobs=2), end="\n\n")
