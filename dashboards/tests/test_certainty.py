"""Interval and budget beside the numbers, and the table of differences."""

from __future__ import annotations

import re

from capture.run_folder.quantities import CRITICAL
from dashboards.figures.interrupt_latency import interrupt_latency
from dashboards.figures.survival import survival
from dashboards.headline import headline
from dashboards.quantities import samples
from dashboards.series import Series
from dashboards.tables.comparison import comparison_table
from dashboards.tables.differences import differences_table


def test_a_maximum_has_its_budget_and_a_percentile_its_interval(stress: list[Series]) -> None:
    table = comparison_table(stress)
    median = stress[0].run.summary(CRITICAL).median
    assert median is not None
    assert f"{median:,.1f}<small>[{median - 5:,.1f}, {median + 5:,.1f}]</small>" in table
    assert table.count("<small>±23.9, overhead 83.3</small>") > 4
    assert "<small>±0</small>" in table  # probes are counted


def test_an_interval_that_is_too_narrow_says_so(stress: list[Series], frag: list[Series]) -> None:
    table = comparison_table(stress)
    group = table[table.index("critical section by DWT") : table.index("critical section on the wire")]
    assert len(re.findall(r"\[[\d,.]+, [\d,.]+\]†", group)) == len(stress)
    assert table.count("†") == len(stress) + 1 and "† The samples are not independent" in table
    assert "†" not in comparison_table(frag)


def test_a_ramp_says_why_it_has_no_interval(frag: list[Series]) -> None:
    table = comparison_table(frag)
    assert "The scenario is a ramp." in table and "<small>[" not in table


def test_the_headline_has_the_budget(frag: list[Series]) -> None:
    assert re.search(r"was 40\.79 ± 0\.03 µs with seglist", headline("mem_frag", frag).replace("\u00a0", " "))


def test_differences_are_against_the_least_worst(stress: list[Series], frag: list[Series]) -> None:
    table = differences_table(stress)
    assert "Each against" in table and len(re.findall(r"[+-]\d\.\d{3} <small>\[[+-]", table)) == 2
    seglist, tlsf = (samples(one.run, CRITICAL)["wire_critical_ns"].to_list() for one in frag)
    above = sum((x > y) - (x < y) for x in seglist for y in tlsf) / len(seglist) / len(tlsf)
    ramp = differences_table(frag)
    assert f"{above:+.3f}" in ramp and "<small>" not in ramp and "chosen, not drawn" in ramp


def test_one_run_is_compared_with_nothing(frag: list[Series]) -> None:
    assert differences_table(frag[:1]) == ""


def test_ticks_have_their_rings(frag: list[Series]) -> None:
    chart = interrupt_latency(frag)
    assert chart is not None and "A ring" in chart.explanation
    rings = [trace for trace in chart.figure.data if trace.marker.symbol == "circle-open"]
    touched = sum(int(one.run.answered["tick"].sum()) for one in frag)
    touched += sum(int(one.run.answered_control["tick"].sum()) for one in frag)
    assert sum(len(trace.x) for trace in rings) == touched > 10


def test_survival_has_bars_at_its_percentiles(stress: list[Series], frag: list[Series]) -> None:
    chart, ramp = survival(stress), survival(frag)
    assert chart is not None and ramp is not None
    bars = [trace for trace in chart.figure.data if trace.error_x.array is not None and len(trace.x)]
    assert [(list(trace.y), list(trace.error_x.array)) for trace in bars] == [([0.5], [5.0])] * 4
    assert not [trace for trace in ramp.figure.data if trace.error_x.array is not None and len(trace.x)]
