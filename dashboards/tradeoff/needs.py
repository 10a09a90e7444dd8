"""What each allocator needs for the traces, gathered for figures and tables."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import groupby
from math import inf
from statistics import median_low

from analysis.fragmentation.study import Row
from dashboards.loaded.series import Style, assign_styles
from dashboards.tradeoff.runs import Run

Figure = Callable[[Row], float | None]


@dataclass(frozen=True)
class Need:
    """One allocator. `rows` are of the traces, in their order; `runs` the longest section first.

    `number` counts the allocators from 1, in the order in which the page has them.
    """

    number: int
    name: str
    style: Style
    rows: Sequence[Row]
    runs: Sequence[Run]

    @property
    def label(self) -> str:
        return f"{self.number} {self.name}"

    @property
    def failures(self) -> int:
        """Requests that were refused, over all traces."""
        return sum(row.given.failures for row in self.rows)

    @property
    def live_bytes(self) -> float:
        return self.known(peak_live_bytes)

    @property
    def used_bytes(self) -> float:
        return self.known(used_bytes)

    def typical(self, figure: Figure) -> float | None:
        """The median that occurred over the traces, None where a trace lacks the figure."""
        values = self.values(figure)
        return median_low(values) if len(values) == len(self.rows) else None

    def known(self, figure: Figure) -> float:
        """The median of a figure that every trace has."""
        return median_low(self.values(figure))

    def values(self, figure: Figure) -> list[float]:
        """Of the traces that have the figure."""
        return [value for row in self.rows if (value := figure(row)) is not None]


def peak_live_bytes(row: Row) -> float:
    return row.given.peak_live_bytes


def used_bytes(row: Row) -> float:
    return row.given.used_bytes


def cost_metric_bytes(row: Row) -> float | None:
    return row.cost_metric.smallest_bytes


def sbbm_bytes(row: Row) -> float | None:
    return row.given.sbbm_bytes


def johnstone(place: int) -> Figure:
    """Of his four ratios the one at `place`, from 0."""
    return lambda row: row.given.johnstone[place] if row.given.johnstone else None


def gather(rows: Sequence[Row], runs: Sequence[Run]) -> list[Need]:
    """The allocators that were replayed, the smallest heap first."""
    groups = [(name, list(group)) for name, group in groupby(rows, key=lambda row: row.allocator)]
    styles = assign_styles(name for name, _ in groups)
    made = [Need(0, name, styles[name], group, _worst_first(name, runs)) for name, group in groups]
    made.sort(key=lambda need: (_or_last(need.typical(cost_metric_bytes)), need.used_bytes, need.name))
    return [
        Need(number, need.name, need.style, need.rows, need.runs) for number, need in enumerate(made, start=1)
    ]


def _worst_first(name: str, runs: Sequence[Run]) -> list[Run]:
    return sorted((run for run in runs if run.allocator == name), key=lambda run: -run.worst_ns)


def _or_last(value: float | None) -> float:
    return inf if value is None else value
