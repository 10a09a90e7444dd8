"""Whole charts of runs that are small enough to work them out by hand: words, places and keys.

A sample is a cycle, at 84 MS/s. The first operation begins (OP) at sample 10,040, its section 20
later; the next one 2,480 samples behind the section's width. Stimuli come at 9,000 and every 5,003.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import plotly.graph_objects as go
import pytest

from dashboards.blocks import Chart
from dashboards.figures.chart import badges, make_chart, per_series, provenance, with_maximum
from dashboards.figures.interrupts import latency_by_depth, task_latency_by_depth
from dashboards.figures.sections import (
    agreement,
    cycles_by_probes,
    cycles_by_size,
    latency_survival,
    ramp,
    survival,
)
from dashboards.loaded.runs import load_run
from dashboards.loaded.series import Series, by_scenario
from dashboards.tests.synthetic import Operation, write_run
from tests.sentences import Sentences

OPERATIONS = [
    Operation("A", 100, probes=3, cycles=400),
    Operation("A", 200, probes=5, cycles=600),
    Operation("F", 100, probes=0, cycles=190),
    Operation("A", 64, probes=3, cycles=350),
    Operation("A", 32, probes=3, cycles=380),
]


def us(*cycles: float) -> Any:
    return pytest.approx([cycle * 1e6 / 84e6 for cycle in cycles])


def made(
    folder: Path, operations: Sequence[Operation], scenario: str, *names: str, **changes: object
) -> list[Series]:
    runs = [load_run(write_run(folder, scenario, name, list(operations), changes=changes)) for name in names]
    return by_scenario(runs)[scenario]


def whole(chart: Chart | None, sentences: Sentences | None = None) -> Any:
    """The chart; its words are held to those of the test."""
    assert chart is not None
    drawn: Any = chart
    if sentences:
        sentences.hold("\n".join([chart.key, chart.title, chart.subtitle, chart.explanation, *axes(drawn)]))
        for trace in chart.figure.data:
            sentences.hold((trace.name, trace.mode, trace.hovertemplate, trace.text, trace.meta))
    return drawn


def axes(chart: Any) -> list[str]:
    every = (*chart.figure.select_xaxes(), *chart.figure.select_yaxes())
    return [axis.title.text for axis in every if axis.title.text]


def listed(values: Any) -> Any:
    if values is None:
        return None
    return [list(value) if isinstance(value, tuple) else value for value in list(values)]


def traces(chart: Any) -> list[tuple[Any, Any, Any]]:
    """Places and keys of each trace."""
    return [(listed(drawn.x), listed(drawn.y), listed(drawn.customdata)) for drawn in chart.figure.data]


def test_cycles_by_probes(tmp_path: Path, sentences: Sentences) -> None:
    """DWT is off by 0, 1, 0, -1 cycles in turn. Two runs stand 0.09 to either side of a count."""
    chart = whole(cycles_by_probes(made(tmp_path, OPERATIONS, "s", "seglist", "tlsf")), sentences)
    assert traces(chart) == [
        drawn
        for shift in (-0.09, 0.09)
        for drawn in (
            (pytest.approx([at + shift for at in (3, 5, 3, 3)]), [400, 599, 351, 380], list("0134")),
            (pytest.approx([at + shift for at in (3, 5)]), [377.0, 599.0], [[3, 3], [5, 1]]),
        )
    ]
    assert [drawn.showlegend for drawn in chart.figure.data] == [None, False] * 2


def test_cycles_by_size(tmp_path: Path, sentences: Sentences) -> None:
    """Of three trials a size the median and the most, in both states of the heap."""
    cycles = {("fresh", 8): (200, 204, 290), ("fresh", 16): (220, 220, 220),
              ("fragmented", 8): (840, 800, 870), ("fragmented", 16): (220, 440, 330)}  # fmt: skip
    operations = [
        operation
        for (label, size), each in cycles.items()
        for took in each
        # Each fourth, from the second on, is a cycle off: that is a free here.
        for operation in (
            Operation("A", size, 1, took, label=label),
            Operation("F", size, 0, 999, label=label),
        )
    ]
    chart = whole(cycles_by_size(made(tmp_path, operations, "sizes", "first_fit")), sentences)
    each = ([204, 220], [290, 220], [840, 330], [870, 440])
    assert traces(chart) == [([8, 16], values, None) for values in each]
    thin, _, thick, _ = chart.figure.data
    assert thin.line.width < thick.line.width


def test_survival_of_sections(tmp_path: Path, sentences: Sentences) -> None:
    chart = whole(survival(made(tmp_path, OPERATIONS, "s", "tlsf")), sentences)
    assert traces(chart) == [
        (us(350, 380, 400, 600), [1, 0.75, 0.5, 0.25], list("3401")),
        # The nearest rank of the median is the second of four; 5 ns to either side.
        (us(380), [0.5], None),
    ]
    bars = chart.figure.data[1].error_x
    assert (list(bars.array), list(bars.arrayminus)) == ([pytest.approx(0.005)], [pytest.approx(0.005)])
    assert list(chart.figure.layout.yaxis.range) == pytest.approx([math.log10(0.25) - 0.12, 0.15])


def test_survival_of_interrupts(tmp_path: Path, sentences: Sentences) -> None:
    """Operation 3 begins at 18,670, its section ends at 19,040: 34 cycles, and 46 of the entry."""
    chart = whole(latency_survival(made(tmp_path, OPERATIONS, "s", "tlsf")), sentences)
    least = pytest.approx(1 / 5)  # of the stimuli at 9,000, 14,003, 19,006, 24,009 and 29,012
    curve, _ = traces(chart)
    assert curve == (us(38, 80), [1.0, least], ["@9000", "3"])


@pytest.mark.parametrize(
    ("draw", "locking", "more"), [(latency_by_depth, "basepri", 0), (task_latency_by_depth, "scheduler", 300)]
)
def test_latencies_by_depth(tmp_path: Path, sentences: Sentences, draw: Any, locking: str, more: int) -> None:
    """The section of operation 0 ends at 16,060, that of 1 at 30,540; the entry takes 46."""
    operations = [Operation("A", 120, 2, 6_000, depth=1), Operation("A", 120, 3, 12_000, depth=2)]
    series = made(tmp_path, operations, "mem_frag", "tlsf", locking=locking)
    chart = whole(draw(series), sentences)
    points, control, line = traces(chart)
    singles = us(*(drawn + more for drawn in (2_103, 11_580, 6_577, 1_574)))
    assert points == ([1, 2, 2, 2], singles, list("0111"))
    assert line == ([1, 2], us(2_103 + more, 11_580 + more), [["0", 1], ["1", 3]])
    # The control interrupt at 25,338 fell into operation 1.
    assert control[:2] == (([], []) if more else ([2], us(26)))
    without = made(tmp_path / "none", OPERATIONS, "s", "tlsf", locking=locking)
    assert draw(without) is None


def test_agreement(tmp_path: Path, sentences: Sentences) -> None:
    tight = {"n": 5, "wire_minus_dwt_cycles_max_abs": 1.0, "tolerance_cycles": 0.75, "resolution_cycles": 0.5,
             "clock_cycles": 0.0}  # fmt: skip
    chart = whole(agreement(made(tmp_path, OPERATIONS, "s", "tlsf", agreement=tight)), sentences)
    points, tolerance = traces(chart)
    assert (points[:2], tolerance[:2]) == (
        ([0, 1, 2, 3, 4], [0, 1, 0, -1, 0]),
        ([0, 4, None, 0, 4], [0.75, 0.75, None, -0.75, -0.75]),
    )


RAMP = [
    Operation("A", 8, 1, 100, measured=False, label="setup"),
    *(
        Operation("A", 120, depth + 1, cycles, depth=depth, trial=trial)
        for depth, each in ((1, (400, 420)), (2, (500, 480)), (9, (3_000, 2_900)))
        for trial, cycles in enumerate(each)
    ),
]


def test_the_ramp(tmp_path: Path, sentences: Sentences) -> None:
    """Operations 1 to 6, of which DWT is off by 1, 0, -1, 0, 1, 0."""
    chart = whole(ramp(made(tmp_path, RAMP, "mem_frag", "tlsf")), sentences)
    assert traces(chart) == [
        drawn
        for every, worst, keys in (
            (us(400, 420, 500, 480, 3_000, 2_900), us(420, 500, 3_000), "235"),
            ([399, 420, 501, 480, 2_999, 2_900], [420, 501, 2_999], "235"),
            ([2, 2, 3, 3, 10, 10], [2, 3, 10], "135"),
        )
        for drawn in (([1, 1, 2, 2, 9, 9], every, list("123456")), ([1, 2, 9], worst, list(keys)))
    ]
    assert [drawn.showlegend for drawn in chart.figure.data[:4]] == [False, True, False, False]


def test_what_all_charts_have_in_common(tmp_path: Path, sentences: Sentences) -> None:
    operations = [Operation("A", 16, 1, 300)]
    many = [series for name in "abcdefg" for series in made(tmp_path / name, operations, "s", name)]
    for count in (1, 6, 7):
        sentences.hold(provenance(many[:count]))
    assert per_series([1_234], "x") == "n = 1,234 x"
    assert per_series([9, 9], "x") == "n = 9 x each"
    assert per_series([9, 8, 1_000], "x") == "n = 8 to 1,000 x each"
    values = ((1_234.56, "ns"), (7, "probes"), (7, ""), (None, "ns"))
    assert [with_maximum(many[0], value, unit) for value, unit in values] == [
        *("a, max 1.23 µs", "a, max 7 probes", "a, max 7", "a")
    ]
    assert badges(many) == ()
    cut = write_run(tmp_path / "cut", "s", "a", operations, verdict="truncated", reasons=("One.", "Two."))
    (series,) = by_scenario([load_run(cut)])["s"]
    assert badges([series, many[1]]) == (f"{cut.name} is truncated: One. Two.",)
    chart = make_chart("key", "title", many[:1], "n = 1", "words", go.Figure(), 123)
    assert chart.subtitle.startswith("n = 1 · 84 MS/s (±0.01 µs) · run ")
    assert chart.figure.layout.height == 123
