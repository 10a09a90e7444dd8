"""Every number that the demo shows, against a plain computation from its edges and operations.

The computation shares no code with the product: it walks the rows of edges.parquet one by one.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import polars as pl
import pytest

import tailscope
from analysis.compare.compared import as_json as document
from analysis.compare.compared import compare
from analysis.explain import explanation
from analysis.explain.text import as_text
from analysis.judge.limits import parse
from analysis.judge.runs import judge
from base.microseconds import microseconds
from base.run_folder.edges import read_parquet
from cli import scenario
from cli.demo import SCENARIOS
from cli.shell import start as program
from cli.shell.shared import RunOptions
from dashboards.loaded.runs import load_run
from dashboards.terminal import terminal_report
from dashboards.tests.packed import all_text

ALLOCATORS = ("seglist", "tlsf")
CRIT, OP, STIM, ISR, TASK, CTRL, CISR = range(7)


@dataclass
class Truth:
    """Of one run, in ns: the longest section, the longest without interrupts, those of measured
    allocations and frees, the longest waits, and the median time from a section's end to the
    answer. `holder` is the operation of the longest section, `met` that of the longest wait.
    """

    section: float
    without: float
    allocate: float
    free: float | None
    interrupt: float
    task: float
    control: float
    tails: list[float]
    holder: int
    met: int


def changes(folder: Path) -> tuple[dict[int, list[tuple[int, bool]]], float]:
    """Of each channel its edges: sample, and whether it rose; and the ns of a sample."""
    table = pl.read_parquet(folder / "edges.parquet")
    meta = json.loads(pl.read_parquet_metadata(folder / "edges.parquet")["tailscope"])
    assert meta["channels"][:7] == ["CRIT", "OP", "STIM", "ISR", "TASK", "CTRL", "CISR"]
    changes_by_bit: dict[int, list[tuple[int, bool]]] = {bit: [] for bit in range(7)}
    before = table["word"][0]
    for sample, word in table.select("sample", "word").iter_rows():
        for bit in range(7):
            if (before ^ word) >> bit & 1:
                changes_by_bit[bit].append((sample, bool(word >> bit & 1)))
        before = word
    return changes_by_bit, 1e9 / meta["samplerate_hz"]


def pulses(edges: list[tuple[int, bool]]) -> Iterator[tuple[int, int]]:
    begin = None
    for sample, rose in edges:
        if rose:
            begin = sample
        elif begin is not None:
            yield begin, sample


def waits(
    stimuli: list[tuple[int, bool]], answers: list[tuple[int, bool]], first: int, last: int
) -> list[tuple[int, int]]:
    """From the first stimulus that is not answered yet to the answer, between two samples."""
    moments = [(sample, 0) for sample, _ in stimuli] + [(sample, 1) for sample, rose in answers if rose]
    result, pending = [], None
    for sample, answered in sorted(moments):
        if not first <= sample <= last:
            continue
        if not answered and pending is None:
            pending = sample
        elif answered and pending is not None:
            result.append((pending, sample))
            pending = None
    return result


def truth_of(folder: Path) -> Truth:
    edges, sample_ns = changes(folder)
    table = pl.read_parquet(folder / "operations.parquet")
    rows = table.select("seq", "kind", "measured", "start_sample", "wire_operation_samples").rows()
    first, last = rows[0][3], rows[-1][3] + rows[-1][4]
    inside = [sample for channel in (ISR, CISR) for sample, rose in edges[channel] if rose]
    sections = [(begin, end) for begin, end in pulses(edges[CRIT]) if first <= begin < last]
    assert len(sections) == len(rows)  # each operation of the demo masks once
    lengths = {}
    for (seq, _, _, start, width), (begin, end) in zip(rows, sections, strict=True):
        assert start <= begin < end <= start + width
        lengths[seq] = end - begin
    calm = set()
    ordered = iter(sorted(inside))
    at = next(ordered, last)
    for seq, (begin, end) in enumerate(sections):
        while at < begin:
            at = next(ordered, last)
        if at >= end:
            calm.add(seq)
    of_kind = {
        kind: [lengths[seq] for seq, its, measured, _, _ in rows if measured and its in kind]
        for kind in ("AO", "F")
    }
    answered = waits(edges[STIM], edges[ISR], first, last)
    longest = max(answered, key=lambda wait: wait[1] - wait[0])
    (met,) = (seq for seq, _, _, start, width in rows if start <= longest[0] < start + width)
    woken = waits(edges[STIM], edges[TASK], first, last)
    controls = waits(edges[CTRL], edges[CISR], first, last)
    tails = [
        answer - end
        for stimulus, answer in answered
        for begin, end in sections
        if begin <= stimulus < end <= answer
    ]
    return Truth(
        section=max(lengths.values()) * sample_ns,
        without=max(lengths[seq] for seq in calm) * sample_ns,
        allocate=max(of_kind["AO"]) * sample_ns,
        free=max(of_kind["F"]) * sample_ns if of_kind["F"] else None,
        interrupt=(longest[1] - longest[0]) * sample_ns,
        task=max(answer - stimulus for stimulus, answer in woken) * sample_ns,
        control=max(answer - stimulus for stimulus, answer in controls) * sample_ns,
        tails=sorted(tail * sample_ns for tail in tails),
        holder=max(lengths, key=lambda seq: (lengths[seq], -seq)),
        met=met,
    )


@dataclass
class Demo:
    folders: dict[tuple[str, str], Path]
    truths: dict[tuple[str, str], Truth]
    page: str


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Demo:
    runs = tmp_path_factory.mktemp("runs")
    assert (
        scenario.run(SCENARIOS, ALLOCATORS, RunOptions(capture="direct"), runs_folder=runs, as_json=True) == 0
    )
    folders = {
        (manifest["scenario"], manifest["allocator"]): path.parent
        for path in runs.glob("*/run.json")
        for manifest in [json.loads(path.read_text())]
    }
    (page,) = runs.glob("*.html")
    truths = {key: truth_of(folder) for key, folder in folders.items()}
    return Demo(folders, truths, all_text(page.read_text(encoding="utf-8")))


def us(ns: float | None) -> str:
    return "–" if ns is None else f"{ns / 1000:,.2f}"


KEYS = {
    "section_ns": "section",
    "uninterrupted_section_ns": "without",
    "critical_ns": "allocate",
    "free_critical_ns": "free",
    "interrupt_latency_ns": "interrupt",
    "task_latency_ns": "task",
    "control_latency_ns": "control",
}


def test_run_json_has_them(demo: Demo) -> None:
    for key, folder in demo.folders.items():
        manifest, truth = json.loads((folder / "run.json").read_text()), demo.truths[key]
        for name, field in KEYS.items():
            assert manifest[name]["max"] == pytest.approx(getattr(truth, field)), (key, name)
        assert manifest["maxima"]["section_ns"]["seq"] == truth.holder
        assert manifest["maxima"]["interrupt_latency_ns"]["seq"] == truth.met
        wait = manifest["possible_wait"]
        assert wait["of"] == "interrupt_latency_ns"
        # The entry is the median without the waits that a tick or a control interrupt touched; the
        # tails here are of all. That moves the rank of a median by half of what is left out.
        all_n, calm_n = len(truth.tails), wait["entry_n"]
        assert 3 * all_n / 4 <= calm_n <= all_n
        low, high = truth.tails[(calm_n - 1) // 2], truth.tails[all_n - calm_n + calm_n // 2]
        assert low - 1e-6 <= wait["entry_ns"] <= high + 1e-6
        assert wait["ns"] == pytest.approx(max(truth.section + wait["entry_ns"], truth.interrupt))
        assert (wait["by"] == "wait") == (truth.interrupt > truth.section + wait["entry_ns"])


def test_the_terminal_has_them(demo: Demo) -> None:
    shown = " ".join(terminal_report([load_run(folder) for folder in demo.folders.values()]).split())
    for (of, allocator), truth in demo.truths.items():
        wait = json.loads((demo.folders[of, allocator] / "run.json").read_text())["possible_wait"]["ns"]
        row = [allocator, us(wait), us(truth.interrupt), us(truth.section), us(truth.without)]
        assert " ".join([*row, us(truth.allocate), us(truth.free)]) in shown
        assert f"{allocator}: masked {us(truth.section)} µs by operation {truth.holder:,}, " in shown
        assert re.search(
            rf"seen is {us(truth.interrupt)} µs[a-z, ]*, which met operation {truth.met:,}, ", shown
        )


def test_the_report_has_them(demo: Demo) -> None:
    for (_, allocator), truth in demo.truths.items():
        assert f"{allocator}: masked {us(truth.section)} µs by operation {truth.holder:,}, " in demo.page
        for value in (truth.section, truth.without, truth.allocate, truth.task, truth.control):
            assert re.search(rf">\s*{re.escape(us(value))}\b", demo.page), (allocator, value)


def test_python_has_them(demo: Demo) -> None:
    for key, folder in demo.folders.items():
        run, truth = tailscope.Run(folder), demo.truths[key]
        assert run.worst("section").ns == pytest.approx(truth.section)
        assert run.worst("section").operation == truth.holder
        assert run.worst("allocate").ns == pytest.approx(truth.allocate)
        assert run.worst("interrupt").ns == pytest.approx(truth.interrupt)
        assert run.worst("task").ns == pytest.approx(truth.task)


def test_explain_has_them(demo: Demo) -> None:
    key = ("mem_frag", "tlsf")
    (result,) = explanation.explain(demo.folders[key], "section")
    truth = demo.truths[key]
    assert (result.quantity, result.key) == ("section", str(truth.holder))
    assert result.value_ns == pytest.approx(truth.section)
    assert f": {us(truth.section)} µs" in as_text(result).splitlines()[0]


def test_a_timeline_has_each_pulse_and_what_the_core_did_meanwhile(demo: Demo, tmp_path: Path) -> None:
    key = ("mem_frag", "tlsf")
    file = tmp_path / "timeline.json"
    words = ["explain", str(demo.folders[key]), "--quantity", "section", "--perfetto", str(file)]
    assert program.run(words) == 0
    events = json.loads(file.read_text(encoding="utf-8"))["traceEvents"]
    groups = {event["pid"]: event["args"]["name"] for event in events if event["name"] == "process_name"}
    drawn = [(groups[event["pid"]], event) for event in events if event["ph"] == "X"]
    crit = [event for group, event in drawn if (group, event["name"]) == ("pins", "CRIT")]
    pulses = read_parquet(demo.folders[key] / "edges.parquet").transitions("CRIT")
    assert len(crit) == pulses.level.sum()
    truth = demo.truths[key]
    (worst,) = [event for group, event in drawn if group == "explained" and "value_ns" in event["args"]]
    assert worst["dur"] * 1000 == pytest.approx(truth.section, abs=12)
    assert {"tasks", "masks", "handlers", "heap"} <= {group for group, _ in drawn}
    calls = [event for group, event in drawn if group == "explained" and "source" in event["args"]]
    inside = (worst["ts"] - 0.001, worst["ts"] + worst["dur"] + 0.001)
    assert calls and all(inside[0] <= event["ts"] <= inside[1] for event in calls)
    # The section is masked from its first cycles on.
    masks = [event for group, event in drawn if group == "masks"]
    middle = worst["ts"] + worst["dur"] / 2
    assert any(event["ts"] <= middle <= event["ts"] + event["dur"] for event in masks)


def test_compare_and_gate_have_them(demo: Demo) -> None:
    for of in SCENARIOS:
        a, b = (demo.folders[of, allocator] for allocator in ALLOCATORS)
        ours, theirs = (demo.truths[of, allocator] for allocator in ALLOCATORS)
        (pair,) = document(compare(a, b))["pairs"]
        for worst in pair["worst"]:
            field = KEYS.get(worst["quantity"])
            if field is None:
                continue
            for shown, truth in ((worst["a"], ours), (worst["b"], theirs)):
                value = getattr(truth, field)
                assert (shown and shown["value"]) == (value and pytest.approx(value)), worst["quantity"]
        limit = f"{int(ours.section) - 1}ns"
        report = judge(None, [a], parse({"section": limit}, ["section"]))
        (check,) = report.checks
        assert (check.state, microseconds(ours.section) in check.sentence) == ("worse", True)
        assert f"operation {ours.holder:,}" in check.sentence
