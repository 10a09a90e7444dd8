"""The tables: interval and budget beside the numbers, and differences."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from capture.run_folder.manifest import Maximum
from capture.run_folder.quantities import CRITICAL, HIT
from capture.summary.maxima import OPERATION_COLUMNS
from dashboards.headline import headline
from dashboards.loaded.quantities import samples
from dashboards.loaded.runs import load_run
from dashboards.loaded.series import Series, by_scenario
from dashboards.tables.comparison import comparison
from dashboards.tables.cycles_by_probes import cycles_by_probes
from dashboards.tables.differences import differences
from dashboards.tests.synthetic import Operation, mem_stress, write_run


def test_a_maximum_has_its_budget_and_a_percentile_its_interval(stress: list[Series]) -> None:
    groups = {group.words: group for group in comparison(stress).groups}
    median = stress[0].run.summary(CRITICAL).median
    assert median is not None
    of_critical = groups["critical section on the wire (ns)"].rows[0]
    assert of_critical.percentiles[0].value == f"{median:,.1f}"
    assert of_critical.percentiles[0].interval == f"[{median - 5:,.1f}, {median + 5:,.1f}]"
    assert of_critical.maximum.notes == ("±23.9, overhead 83.3",)
    # Probes are counted.
    assert groups["probes of an allocation"].rows[0].maximum.notes == ("±0",)


def test_a_worst_latency_has_what_the_timer_told(stress: list[Series]) -> None:
    one = stress[0]
    nothing = dict.fromkeys(OPERATION_COLUMNS)
    told = Maximum.model_validate({**nothing, "value": 1240.0, "times": 1, "timer_ns": 1234.5})
    maxima = one.run.manifest.maxima | {HIT.key: told}
    manifest = one.run.manifest.model_copy(update={"maxima": maxima})
    table = comparison([replace(one, run=replace(one.run, manifest=manifest))])
    (row,) = next(group.rows for group in table.groups if group.words.startswith(HIT.words))
    assert row.maximum.notes[-1] == "by the timer 1,234.5"
    assert "timer" in table.legend
    assert "by the timer" not in str(comparison(stress))


def test_frees_are_compared_by_dwt_and_on_the_wire(stress: list[Series], frag: list[Series]) -> None:
    rows = {group.words: group.rows for group in comparison(stress).groups}
    for one, row in zip(stress, rows["critical section of a free, by DWT (cycles)"], strict=True):
        told = one.run.manifest.statistics["free_dwt_cycles"]
        assert (row.n, row.maximum.value) == (f"{told.n:,}", f"{told.max:,.0f}")
        assert row.maximum.address
    assert "critical section of a free, on the wire (ns)" in rows
    # The frees of a ramp are not measured.
    assert not [group.words for group in comparison(frag).groups if "free" in group.words]


@pytest.fixture
def exhausted(tmp_path: Path) -> list[Series]:
    """Three requests that are served and two that are refused, the latter with the longer walk."""
    operations = [
        Operation("A", 16, 1, 300),
        Operation("A", 16, 2, 320),
        Operation("O", 900, 9, 700),
        Operation("A", 16, 1, 310),
        Operation("O", 900, 9, 690),
        Operation("F", 16, 0, 200),
    ]
    folder = write_run(tmp_path, "until_full", "seglist", operations)
    worst = {**dict.fromkeys(OPERATION_COLUMNS), "value": 700, "times": 1, "seq": 2, "kind": "O"}
    path = folder / "run.json"
    told = json.loads(path.read_text())
    told["maxima"] |= {"dwt_cycles": worst, "critical_ns": worst, "interrupt_latency_ns": worst}
    path.write_text(json.dumps(told))
    return by_scenario([load_run(folder)])["until_full"]


def test_refused_requests_stand_apart_from_served_ones(exhausted: list[Series]) -> None:
    rows = {group.words: group.rows[0] for group in comparison(exhausted).groups}
    assert [rows[f"probes of {what}"].n for what in ("an allocation", "a served request")] == ["5", "3"]
    refused = rows["probes of a refused request"]
    assert (refused.n, refused.minimum, refused.mean, refused.deviation) == ("2", "9", "9", "0")
    wire = "critical section of a {} request, on the wire (ns)"
    served, refused = rows[wire.format("served")], rows[wire.format("refused")]
    assert served.maximum.value == f"{320e9 / 84e6:,.1f}"
    assert (refused.minimum, refused.mean) == (f"{690e9 / 84e6:,.1f}", f"{695e9 / 84e6:,.1f}")


def test_the_worst_of_all_says_that_it_was_refused(exhausted: list[Series]) -> None:
    rows = {group.words: group.rows[0] for group in comparison(exhausted).groups}
    assert "of a refused request" in rows["critical section on the wire (ns)"].maximum.notes
    latency = [row.maximum.notes for words, row in rows.items() if "latency" in words]
    assert latency and not any("of a refused request" in notes for notes in latency)
    spoken = headline("until_full", exhausted).replace("\u00a0", " ")
    assert "the longest critical section of an allocation was 8.33 ± 0.03 µs (a refused request)" in spoken


def test_where_nothing_was_refused_there_are_no_rows_of_it(stress: list[Series]) -> None:
    assert not [group.words for group in comparison(stress).groups if "request" in group.words]


def test_mean_cycles_by_probes_are_of_those_served(exhausted: list[Series]) -> None:
    """Operations are 40 cycles longer than sections; DWT is one less in the second of them."""
    table = cycles_by_probes(exhausted)
    assert table is not None and table.names == ("seglist",)
    assert [(row.probes, *row.cells) for row in table.rows] == [
        ("1", "2", "305.5", "345"),
        ("2", "1", "319", "360"),
    ]


def test_mean_cycles_of_runs_stand_side_by_side(stress: list[Series], frag: list[Series]) -> None:
    table = cycles_by_probes(stress)
    assert table is not None and table.names == ("seglist", "tlsf")
    assert [row.probes for row in table.rows] == [str(probes) for probes in range(1, 9)]
    # tlsf never looks at more than two.
    assert table.rows[2].cells[3:] == ("–", "–", "–")
    operations = [one for one in mem_stress("seglist") if one.kind == "A" and one.probes == 3]
    assert table.rows[2].cells[0] == str(len(operations))
    assert float(table.rows[2].cells[2]) == 331 + 25 * 3 + 40
    assert cycles_by_probes(frag) is None


def test_an_interval_that_is_too_narrow_says_so(stress: list[Series], frag: list[Series]) -> None:
    table = comparison(stress)
    marked = [
        (group.words, cell.interval)
        for group in table.groups
        for row in group.rows
        for cell in row.percentiles
        if "†" in cell.interval
    ]
    assert [words for words, _ in marked] == ["critical section by DWT (cycles)"] * len(stress)
    assert all(re.fullmatch(r"\[[\d,.]+, [\d,.]+\]†", interval) for _, interval in marked)
    assert table.legend.count("†") == 1 and "† The samples are not independent" in table.legend
    assert "†" not in str(comparison(frag))


def test_a_ramp_says_why_it_has_no_interval(frag: list[Series]) -> None:
    table = comparison(frag)
    assert "The scenario is a ramp." in table.legend
    assert not any(cell.interval for group in table.groups for row in group.rows for cell in row.percentiles)


def test_differences_are_against_the_least_worst(stress: list[Series]) -> None:
    found = differences(stress)
    least = min(stress, key=lambda one: one.run.summary(CRITICAL).max or 0)
    assert found is not None and found.reference == least.name
    deltas = [row.delta for group in found.groups for row in group.rows]
    assert len(deltas) == 2
    assert all(re.fullmatch(r"[+-]\d\.\d{3}", delta.value) and delta.interval for delta in deltas)


def test_a_difference_of_ramps_says_why_it_has_no_interval(frag: list[Series]) -> None:
    ramp = differences(frag)
    assert ramp is not None
    seglist, tlsf = (samples(one.run, CRITICAL)["wire_critical_ns"].to_list() for one in frag)
    above = sum((x > y) - (x < y) for x in seglist for y in tlsf) / len(seglist) / len(tlsf)
    delta = ramp.groups[0].rows[0].delta
    assert (delta.value, delta.interval) == (f"{above:+.3f}", "")
    assert "chosen, not drawn" in delta.no_interval


def test_one_run_is_compared_with_nothing(frag: list[Series]) -> None:
    assert differences(frag[:1]) is None
