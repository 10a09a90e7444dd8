"""Whole charts of runs that are small enough to work them out by hand: words, places and keys.

A sample is a cycle, at 84 MS/s. The first operation begins (OP) at sample 10,040, its section 20
later; the next one 2,480 samples behind the section's width. Stimuli come at 9,000 and every 5,003.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from dashboards.figures.agreement import agreement
from dashboards.figures.chart import Chart, badges, make_chart, per_series, provenance, with_maximum
from dashboards.figures.cycles import cycles_by_probes, cycles_by_size
from dashboards.figures.figure import Figure
from dashboards.figures.interrupt_latency import interrupt_latency, other_latency
from dashboards.figures.latency_by_depth import latency_by_depth, task_latency_by_depth
from dashboards.figures.ramp import ramp
from dashboards.figures.survival import latency_survival, survival
from dashboards.loaded.runs import load_run
from dashboards.loaded.series import MEANT_DOT, Series, by_scenario
from dashboards.tests.as_plotly import as_plotly
from dashboards.tests.synthetic import Operation, write_run

OPERATIONS = [
    Operation("A", 100, probes=3, cycles=400),
    Operation("A", 200, probes=5, cycles=600),
    Operation("F", 100, probes=0, cycles=190),
    Operation("A", 64, probes=3, cycles=350),
    Operation("A", 32, probes=3, cycles=380),
]
RATE = "84 MS/s (±0.01 µs)"
ID = "20250102T030405Z-{}-{}-virtual"


def us(*cycles: float) -> Any:
    return pytest.approx([cycle * 1e6 / 84e6 for cycle in cycles])


def made(
    folder: Path, operations: Sequence[Operation], scenario: str, *names: str, **changes: Any
) -> list[Series]:
    runs = [load_run(write_run(folder, scenario, name, list(operations), changes=changes)) for name in names]
    return by_scenario(runs)[scenario]


def whole(chart: Chart | None) -> Any:
    """The chart, its figure as Plotly's own objects."""
    assert chart is not None
    return replace(chart, figure=as_plotly(chart.figure))


def axes(chart: Any) -> list[str]:
    every = (*chart.figure.select_xaxes(), *chart.figure.select_yaxes())
    return [axis.title.text for axis in every if axis.title.text]


def listed(values: Any) -> Any:
    return (
        None if values is None else [list(value) if isinstance(value, tuple) else value for value in values]
    )


def traces(chart: Chart) -> list[dict[str, Any]]:
    """Name, mode, places, keys and words of each trace, and which run a click on it opens."""
    names = ("name", "mode", "x", "y", "customdata", "text", "hovertemplate", "meta")
    plain = ("name", "mode", "hovertemplate", "meta")
    return [
        {name: drawn[name] if name in plain else listed(drawn[name]) for name in names}
        for drawn in chart.figure.data
    ]


def trace(
    name: str, mode: str, x: Any, y: Any, hover: str, meta: Any, keys: Any = None, text: Any = None
) -> dict[str, Any]:
    fields = {"name": name, "mode": mode, "x": x, "y": y, "customdata": keys, "text": text}
    return {**fields, "hovertemplate": hover, "meta": meta}


def of_run(scenario: str, name: str, entry: int) -> dict[str, Any]:
    return {"run": ID.format(scenario, name), "entry": entry}


def test_cycles_by_probes(tmp_path: Path) -> None:
    """DWT is off by 0, 1, 0, -1 cycles in turn. Two runs stand 0.09 to either side of a count."""
    chart = whole(cycles_by_probes(made(tmp_path, OPERATIONS, "s", "seglist", "tlsf")))
    assert (chart.key, chart.title) == ("probes", "Cycles by probes")
    runs = f"{ID.format('s', 'seglist')}, {ID.format('s', 'tlsf')}"
    assert chart.subtitle == f"n = 4 measured allocations each · {RATE} · runs {runs}"
    assert chart.explanation == (
        "Points are single allocations, set side by side within a column; the line joins the worst. A "
        "dash is the "
        "mean of those that were served."
    )
    assert axes(chart) == ["free-list probes of the allocation", "critical section by DWT (cycles)"]
    assert chart.figure.layout.xaxis.dtick == 1
    assert traces(chart) == [
        drawn
        for name, entry, shift in (("seglist", 0, -0.09), ("tlsf", 1, 0.09))
        for drawn in (
            trace(
                f"{name}, max 599 cycles", "markers", pytest.approx([at + shift for at in (3, 5, 3, 3)]),
                [400, 599, 351, 380], "%{y:,} cycles<br>operation %{customdata}", of_run("s", name, entry),
                ["0", "1", "3", "4"],
            ),
            trace(
                f"{name} max", "lines", pytest.approx([at + shift for at in (3, 5)]), [400, 599],
                "max of %{text} probes: %{y:,} cycles<br>operation %{customdata}", of_run("s", name, entry),
                ["0", "1"], ["3", "5"],
            ),
            trace(
                f"{name} mean", "markers", pytest.approx([at + shift for at in (3, 5)]), [377.0, 599.0],
                "%{text}: %{y:,.1f} cycles", {"entry": entry}, None,
                ["mean of 3 with 3 probes", "mean of 1 with 5 probes"],
            ),
        )
    ]  # fmt: skip
    assert [drawn.showlegend for drawn in chart.figure.data] == [None, False, False] * 2
    many = made(tmp_path / "many", [Operation("A", 1, probes, 100) for probes in (20, 21)], "s", "tlsf")
    assert whole(cycles_by_probes(many)).figure.layout.xaxis.dtick is None


def test_a_run_without_allocations_has_no_points_and_its_place_stays(tmp_path: Path) -> None:
    frees = made(tmp_path / "a", [Operation("F", 8, 0, 100)], "mem_frag", "avl")
    both = [*frees, *made(tmp_path / "b", OPERATIONS, "mem_frag", "tlsf")]
    chart = whole(cycles_by_probes(both))
    assert [drawn.name for drawn in chart.figure.data] == ["tlsf, max 599 cycles", "tlsf max", "tlsf mean"]
    assert list(chart.figure.data[1].x) == pytest.approx([3.09, 5.09])
    assert chart.subtitle.startswith("n = 0 avl, 4 tlsf measured allocations · ")
    assert cycles_by_probes(frees) is None


def test_cycles_by_size(tmp_path: Path) -> None:
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
    chart = whole(cycles_by_size(made(tmp_path, operations, "sizes", "first_fit")))
    assert (chart.key, chart.title) == ("sizes", "Cycles by size")
    assert chart.subtitle == f"n = 12 allocations · {RATE} · run {ID.format('sizes', 'first_fit')}"
    assert chart.explanation == (
        "Lines join medians, points are maxima. Thin: a fresh heap; thick: behind fragments."
    )
    assert axes(chart) == ["size of the block (bytes)", "critical section by DWT (cycles)"]
    median, most = "%{x:,} bytes, median: %{y:,} cycles", "%{x:,} bytes, max: %{y:,} cycles"
    assert traces(chart) == [
        trace("first_fit fresh", "lines", [8, 16], [204, 220], median, {"entry": 0}),
        trace("first_fit fresh max", "markers", [8, 16], [290, 220], most, {"entry": 0}),
        trace("first_fit fragmented", "lines", [8, 16], [840, 330], median, {"entry": 0}),
        trace("first_fit fragmented max", "markers", [8, 16], [870, 440], most, {"entry": 0}),
    ]
    thin, _, thick, _ = chart.figure.data
    assert thin.line.width < thick.line.width
    assert chart.figure.data[1].marker.size < chart.figure.data[3].marker.size


def test_survival_of_sections(tmp_path: Path) -> None:
    chart = whole(survival(made(tmp_path, OPERATIONS, "s", "tlsf")))
    assert (chart.key, chart.title) == ("survival", "How often a critical section takes so long")
    assert chart.subtitle == f"n = 4 allocations · {RATE} · run {ID.format('s', 'tlsf')}"
    assert chart.explanation == (
        "Linear time, logarithmic share. A curve ends at its largest value; grey ones are not "
        "chosen. The largest value that was seen is the "
        "number that counts, but no bound: n samples say nothing below a share of 1/n. Bars across a "
        "curve "
        "are the 95 % bootstrap intervals of its percentiles; a ramp has none."
    )
    assert axes(chart) == ["critical section, on the wire (µs)", "share of samples at or above"]
    at = "%{y:.4~g} at or above %{hovertext}<br>%{customdata}"
    run = {**of_run("s", "tlsf", 0), "ns": "x"}
    assert traces(chart) == [
        trace("tlsf, max 7.14 µs", "lines+markers", us(350, 380, 400, 600), [1, 0.75, 0.5, 0.25], at,
              {**run, "curve": True},
              ["3", "4", "0", "1"]),
        # The nearest rank of the median is the second of four; 5 ns to either side.
        trace("tlsf intervals", "markers", us(380), [0.5], "%{hovertext}<extra></extra>",
              {"entry": 0, "ns": "x"}),
        trace("tlsf max", "markers", us(600), [0.25], "max %{hovertext}<br>%{customdata}", run, ["1"]),
    ]  # fmt: skip
    bars = chart.figure.data[1].error_x
    assert (list(bars.array), list(bars.arrayminus)) == ([pytest.approx(0.005)], [pytest.approx(0.005)])
    assert list(chart.figure.layout.yaxis.range) == pytest.approx([math.log10(0.25) - 0.12, 0.15])


def test_survival_of_interrupts(tmp_path: Path) -> None:
    """Operation 3 begins at 18,670, its section ends at 19,040: 34 cycles, and 46 of the entry."""
    chart = whole(latency_survival(made(tmp_path, OPERATIONS, "s", "tlsf")))
    assert (chart.key, chart.title) == ("survival-interrupts", "How often an interrupt waits so long")
    assert axes(chart)[0] == "interrupt latency, STIM to ISR (µs)"
    curve, _, most = traces(chart)
    assert (curve["x"], curve["customdata"]) == (us(38, 80), ["@9000", "3"])
    least = pytest.approx(1 / 5)  # of the stimuli at 9,000, 14,003, 19,006, 24,009 and 29,012
    assert (curve["y"], most["y"]) == ([1.0, least], [least])
    assert chart.subtitle.startswith("n = 5 interrupts · ")


def test_interrupts_by_what_they_met(tmp_path: Path) -> None:
    """Of five stimuli one met the section of operation 3; nothing met any other operation."""
    series = made(tmp_path, OPERATIONS, "s", "tlsf")
    met, others = whole(interrupt_latency(series)), whole(other_latency(series))
    assert (met.key, met.title) == ("latency", "Interrupt latency where it met a critical section")
    assert (others.key, others.folded, met.folded) == ("latency-others", True, False)
    assert met.subtitle.startswith("n = 1 answered stimuli · ")
    assert others.subtitle.startswith("n = 7 answered stimuli · ")
    assert (
        met.explanation
        == others.explanation
        == (
            "Each stroke is a latency that occurred. Met a critical section: CRIT was high at some sample "
            "between stimulus and answer, so the interrupt waited for its end. Undecided: an edge of CRIT "
            "lies so near that it may have met it or not. The control interrupt lies above BASEPRI: a mask "
            "there never delays it. A ring: the handler of the kernel's tick may have run between "
            "stimulus and answer. "
        )
    )
    assert axes(met) == axes(others) == ["latency, stimulus to handler (µs)"]
    words = ("met a critical section: tlsf", "outside operations: tlsf", "control interrupt: tlsf")
    values, keys = (us(80), us(38), us(26)), (["3", 1], ["@9000", 4], ["@9500", 3])
    hover = "%{hovertext}, seen %{customdata[1]} times<br>%{customdata[0]}"
    every = [*traces(met), *traces(others)]
    strips, rings = every[::2], every[1::2]
    assert strips == [
        trace("tlsf", "markers", value, [row], hover, {**of_run("s", "tlsf", 0), "ns": "x", "rows": 1}, [key])
        for row, value, key in zip(words, values, keys, strict=True)
    ]
    ring = "%{hovertext}, a tick's handler may have run meanwhile<br>%{customdata}"
    assert [(ring["x"], ring["name"], ring["hovertemplate"]) for ring in rings] == [
        ([], "tlsf, tick", ring)
    ] * 3
    labels = ("max 0.95 µs, n = 1", "max 0.45 µs, n = 4", "max 0.31 µs, n = 3")
    notes = (*met.figure.layout.annotations, *others.figure.layout.annotations)
    assert [(note.text, note.y) for note in notes] == [
        (f"{row}, {label}", row) for row, label in zip(words, labels, strict=True)
    ]
    assert interrupt_latency([]) is None and other_latency([]) is None


@pytest.mark.parametrize(
    ("draw", "locking", "key", "title", "axis", "what", "words"),
    [
        (latency_by_depth, "basepri", "depth", "Interrupt latency against depth", "latency (µs)",
         "interrupts",
         "Points are single interrupts that fell into an operation of that depth; the line is the worst "
         "of each "
         "band. A dip means that no stimulus came early in a search, not that the search was shorter. The "
         "control "
         "interrupt lies above BASEPRI: a mask there never delays it. It shows that the rise is the "
         "allocator's. "),
        (task_latency_by_depth, "scheduler", "task", "Task latency against depth",
         "latency, stimulus to task (µs)", "tasks woken",
         "The time from the stimulus to the first instruction of the task that its interrupt wakes, with the "
         "answer and the switch of tasks in it. It grows with a critical section, whatever the lock. With "
         "tlsf, "
         "scheduler only the scheduler is suspended. Interrupts are served meanwhile; the task that they "
         "wake "
         "waits, so task latency is the figure to read."),
    ],
)  # fmt: skip
def test_latencies_by_depth(
    tmp_path: Path, draw: Any, locking: str, key: str, title: str, axis: str, what: str, words: str
) -> None:
    """The section of operation 0 ends at 16,060, that of 1 at 30,540; the entry takes 46."""
    operations = [Operation("A", 120, 2, 6_000, depth=1), Operation("A", 120, 3, 12_000, depth=2)]
    series = made(tmp_path, operations, "mem_frag", "tlsf", locking=locking)
    chart = whole(draw(series))
    assert (chart.key, chart.title, chart.explanation) == (key, title, words)
    assert axes(chart) == ["depth (bands of 1)", axis]
    assert chart.subtitle.startswith(f"n = 4 {what} during operations with a depth · ")
    name, more = series[0].label, 300 * (key == "task")
    run = {**of_run("mem_frag", "tlsf", 0), "ns": "y"}
    band = "depth %{customdata[1]}: worst %{hovertext} of n = %{customdata[2]}<br>operation %{customdata[0]}"
    points, line, *control = traces(chart)
    assert points == trace(
        f"{name} single interrupts", "markers", [1, 2, 2, 2],
        us(*(drawn + more for drawn in (2_103, 11_580, 6_577, 1_574))),
        "depth %{x}: %{hovertext}<br>operation %{customdata}", run, ["0", "1", "1", "1"],
    )  # fmt: skip
    most = "141.43" if more else "137.86"
    assert line == trace(
        f"{name}, max {most} µs", "lines+markers", [1, 2], us(2_103 + more, 11_580 + more), band, run,
        [["0", "1–1", 1], ["1", "2–2", 3]],
    )  # fmt: skip
    # The control interrupt at 25,338 fell into operation 1.
    assert control == ([] if more else [
        trace("control interrupt", "lines+markers", [2], us(26), band, {**run, "shared": True},
              [["1", "2–2", 1]])
    ])  # fmt: skip
    for drawn in chart.figure.data[2:]:
        looks = (drawn.line.width, drawn.line.dash, drawn.marker.symbol, drawn.legendgroup)
        assert looks == (1, MEANT_DOT, "circle-open", "control")
    assert draw(made(tmp_path / "none", OPERATIONS, "s", "tlsf", locking=locking)) is None


def test_agreement(tmp_path: Path) -> None:
    tight = {"n": 5, "wire_minus_dwt_cycles_max_abs": 1.0, "tolerance_cycles": 0.75, "resolution_cycles": 0.5,
             "clock_cycles": 0.0}  # fmt: skip
    (series,) = made(tmp_path, OPERATIONS, "s", "tlsf", agreement=tight)
    chart = whole(agreement(series))
    assert (chart.key, chart.title) == ("agreement-0", "tlsf")
    assert chart.subtitle.startswith("n = 5 critical sections · ")
    assert chart.explanation == (
        "2 of 5 beyond ±0.75 cycles. The constant cost of the markers, calibrated on empty sections of "
        "the same "
        "run, is removed. The shaded band is the tolerance."
    )
    assert axes(chart) == ["operation (seq)", "cycles"]
    points, room = traces(chart)
    assert points == trace("tlsf", "markers", [0, 1, 2, 3, 4], [0, 1, 0, -1, 0],
                           "%{y:+.3f} cycles<br>operation %{x}", of_run("s", "tlsf", 0))  # fmt: skip
    assert (room["x"], room["y"], room["meta"]) == ([0, 0], pytest.approx([-0.9, 0.9]), {"entry": 0})
    assert [(shape.y0, shape.y1) for shape in chart.figure.layout.shapes] == [(-0.75, 0.75)]


RAMP = [
    Operation("A", 8, 1, 100, measured=False, label="setup"),
    *(
        Operation("A", 120, depth + 1, cycles, depth=depth, trial=trial)
        for depth, each in ((1, (400, 420)), (2, (500, 480)), (9, (3_000, 2_900)))
        for trial, cycles in enumerate(each)
    ),
]


def test_the_ramp(tmp_path: Path) -> None:
    """Operations 1 to 6, of which DWT is off by 1, 0, -1, 0, 1, 0."""
    chart = whole(ramp(made(tmp_path, RAMP, "mem_frag", "tlsf")))
    assert (chart.key, chart.title) == ("ramp", "Cost against depth")
    assert chart.subtitle.startswith("n = 6 measured allocations · ")
    assert axes(chart) == [
        "depth (free blocks that do not fit)", "critical section on the wire (µs)",
        "critical section by DWT (cycles)", "free-list probes",
    ]  # fmt: skip
    rows = (
        ("ns", us(400, 420, 500, 480, 3_000, 2_900), us(420, 500, 3_000), us(400, 480, 2_900), "235", "146"),
        ("cycles", [399, 420, 501, 480, 2_999, 2_900], [420, 501, 2_999], [399, 480, 2_900], "235", "146"),
        ("probes", [2, 2, 3, 3, 10, 10], [2, 3, 10], [2, 3, 10], "135", "135"),
    )
    expected = []
    for number, (unit, every, worst, best, keys, best_keys) in enumerate(rows):
        value = "%{hovertext}" if unit == "ns" else f"%{{y:,.6~g}} {unit}"
        hover = f"at depth %{{x}}: {value}<br>operation %{{customdata}}"
        run = {**of_run("mem_frag", "tlsf", 0), **({"ns": "y"} if unit == "ns" else {})}
        name = "tlsf, max 35.71 µs" if not number else "tlsf"
        expected += [
            trace(
                "tlsf trials", "markers", [1, 1, 2, 2, 9, 9], every, hover.removeprefix("at "), run,
                list("123456"),
            ),
            trace(name, "lines", [1, 2, 9], worst, f"max {hover}", run, list(keys)),
            trace(
                "minimum of trials", "lines", [1, 2, 9], best, f"min {hover}", {**run, "shared": True},
                list(best_keys),
            ),
        ]  # fmt: skip
    assert traces(chart) == expected
    thin = [drawn for drawn in chart.figure.data if drawn.name == "minimum of trials"]
    assert [(drawn.line.width, drawn.line.dash, drawn.legendgroup) for drawn in thin] == [
        (1, MEANT_DOT, "minimum")
    ] * 3
    assert [drawn.visible for drawn in chart.figure.data] == [None, None, "legendonly"] * 3
    assert [drawn.showlegend for drawn in chart.figure.data[:6]] == [False, True, True, False, False, False]


BOUND = {
    "instructions": 9,
    "cycles": 4_200,
    "ns": 50_000.0,
    "why_not": None,
    "observed_cycles": 3_000,
    "ratio": 1.4,
}


def test_a_bound_is_drawn_across_all_depths(tmp_path: Path) -> None:
    bound = {**BOUND, "region_decided": False}
    series = made(tmp_path, RAMP, "mem_frag", "tlsf", bounds={"allocate": bound})
    bounds = [drawn for drawn in traces(whole(ramp(series))) if drawn["name"] == "tlsf bound"]
    assert bounds == [
        trace("tlsf bound", "lines", [0, 9], us(4_200, 4_200), "bound %{hovertext}", {"entry": 0, "ns": "y"}),
        trace("tlsf bound", "lines", [0, 9], [4_200] * 2, "bound %{y:,.6~g} cycles", {"entry": 0}),
    ]
    bound["region_decided"] = True
    grows = made(tmp_path / "b", RAMP, "mem_frag", "tlsf", bounds={"allocate": bound})
    assert not [drawn for drawn in traces(whole(ramp(grows))) if drawn["name"] == "tlsf bound"]


def test_what_all_charts_have_in_common(tmp_path: Path) -> None:
    operations = [Operation("A", 16, 1, 300)]
    many = [series for name in "abcdefg" for series in made(tmp_path / name, operations, "s", name)]
    assert provenance(many[:1]) == f"{RATE} · run {ID.format('s', 'a')}"
    assert provenance(many[:6]).startswith(f"{RATE} · runs {ID.format('s', 'a')}, {ID.format('s', 'b')}, ")
    assert provenance(many) == f"{RATE} · 7 runs"
    assert per_series(many[:1], [1_234], "x") == "n = 1,234 x"
    assert per_series(many[:2], [9, 9], "x") == "n = 9 x each"
    assert per_series(many[:2], [9, 1_000], "x") == "n = 9 a, 1,000 b x"
    assert per_series(many, [9, *[8] * 5, 1_000], "x") == "n = 8 to 1,000 x each"
    values = ((1_234.56, "ns"), (7, "probes"), (7, ""), (None, "ns"))
    assert [with_maximum(many[0], value, unit) for value, unit in values] == [
        *("a, max 1.23 µs", "a, max 7 probes", "a, max 7", "a")
    ]
    assert badges(many) == ()
    cut = write_run(tmp_path / "cut", "s", "a", operations, verdict="truncated", reasons=("One.", "Two."))
    (series,) = by_scenario([load_run(cut)])["s"]
    assert badges([series, many[1]]) == (f"{ID.format('s', 'a')} is truncated: One. Two.",)
    chart = make_chart("key", "title", many[:1], "n = 1", "words", Figure(), 123)
    assert (chart.key, chart.title, chart.explanation) == ("key", "title", "words")
    assert chart.subtitle == f"n = 1 · {RATE} · run {ID.format('s', 'a')}"
    assert chart.figure.layout["height"] == 123
