# spans: base/metrology, capture/summary, dashboards, analysis, tailscope
"""A capture that ends in an open wait: its longest wait is told as a least one everywhere."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from analysis.compare.findings import Extreme, worst_cases
from analysis.compare.pairing import read as read_run
from analysis.explain import explanation
from analysis.explain import text as explain_text
from analysis.judge import limits
from analysis.judge.rows import Words
from analysis.judge.stored import rows_of
from base.microseconds import decimals_of
from base.run_folder.edge_stream import NewEdges
from base.run_folder.edges import EdgeList
from base.run_folder.folder import RunName
from base.run_folder.manifest import Manifest, read_manifest
from base.run_folder.observed import ObservedManifest
from base.run_folder.quantities import LATENCY
from capture.conduct import begin_folder, keep_observation, kind_of
from capture.reading.counter import Growing
from capture.reading.observed import read_observed
from capture.reading.wire import find_frames
from capture.tests.synthetic import CORE_HZ
from capture.tests.test_redecode import TIME
from cli import _wire as wire_table
from dashboards import extremes
from dashboards.loaded.runs import load_run
from dashboards.loaded.series import by_scenario
from dashboards.tables import among, possible, worst
from dashboards.terminal import terminal_report
from quality.faults.tests.conftest import stored


def without_answers(edges: EdgeList, first: int, last: int) -> EdgeList:
    """ISR and TASK stay low from sample `first` to `last`."""
    quiet = sum(1 << edges.channels.index(name) for name in ("ISR", "TASK"))
    inside = (edges.sample >= first) & (edges.sample < last)
    word = np.where(inside, edges.word & ~np.uint8(quiet), edges.word).astype(np.uint8)
    new = np.append(True, word[1:] != word[:-1])
    return EdgeList(edges.sample[new], word[new], edges.samplerate_hz, edges.total_samples, edges.channels)


@pytest.fixture(scope="module")
def cut(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, EdgeList, float]:
    """A run, its capture, and how long its last wait had lasted when it ended, in ns."""
    run = stored(depth=5)
    edges = run.seen.edges
    end = find_frames(edges, CORE_HZ).end
    assert end is not None
    stimuli = edges.transitions("STIM").sample
    within = stimuli[stimuli < end[0]]
    since = int(within[-3])
    broken = without_answers(edges, since, int(end[0]))
    kind = kind_of(run.account)
    folder = begin_folder(
        tmp_path_factory.mktemp("runs"), RunName(run.account.plan.name, "tlsf", "nucleo"), TIME, kind
    )
    seen = run.seen.__class__(broken, run.seen.serial_bytes, run.seen.report)
    keep_observation(folder, kind, seen)
    kind.conclude(folder, seen)
    return folder, broken, (int(end[-1]) + 1 - since) * edges.sample_ns


@pytest.fixture(scope="module")
def manifest(cut: tuple[Path, EdgeList, float]) -> Manifest:
    return read_manifest(cut[0] / "run.json")


def test_run_json_has_the_wait_and_that_it_is_open(
    cut: tuple[Path, EdgeList, float], manifest: Manifest
) -> None:
    summary = manifest.statistics[LATENCY.key]
    assert summary.max == pytest.approx(cut[2])
    assert summary.open == 1
    greatest = manifest.maxima[LATENCY.key]
    assert greatest is not None and greatest.open
    assert manifest.possible_wait is not None and manifest.possible_wait.open
    assert manifest.statistics["control_latency_ns"].open == 0
    assert manifest.verdict == "inconclusive"


def test_each_surface_of_a_run_says_at_least(cut: tuple[Path, EdgeList, float]) -> None:
    us = f"≥ {cut[2] / 1e3:,.2f}"
    run = load_run(cut[0])
    for full in (False, True):
        assert us in terminal_report([run], full)
    (series,) = by_scenario([run]).values()
    assert worst(series[0], among(LATENCY, series)).text.startswith(us)
    assert possible(series[0]).text.startswith("≥ ")
    (explained,) = explanation.explain(cut[0], "interrupt")
    assert us in explain_text.as_text(explained)
    files = extremes.write(cut[0], cut[0].parent / "hgrm")
    (histogram,) = [file for file in files if file.name.startswith("interrupt_latency_ns")]
    assert f"{cut[2]:.3f} or more" in histogram.read_text(encoding="ascii")


def test_comparison_and_gate_cannot_say(cut: tuple[Path, EdgeList, float]) -> None:
    from types import SimpleNamespace

    manifest = read_manifest(cut[0] / "run.json")
    run = read_run(SimpleNamespace(folder=cut[0], manifest=manifest))  # type: ignore[arg-type]
    extreme = Extreme.of(run, LATENCY)
    assert extreme is not None and extreme.at_least
    (result,) = [case for case in worst_cases(run, run, True, None) if case.quantity is LATENCY]
    assert result.finding == "not told"
    measured = SimpleNamespace(manifest=manifest, exact=True, names=[])
    rows = rows_of(measured)  # type: ignore[arg-type]
    held = [limits.parse({"interrupt": text}, ["interrupt"])[0] for text in ("900ms", "1us")]
    states = {limit.text: limits.hold(limit, rows, Words(), limits.Allowance()).state for limit in held}
    assert states == {"1us": "worse", "900ms": "cannot say"}


def test_the_wire_alone_says_at_least(cut: tuple[Path, EdgeList, float]) -> None:
    _, edges, until_last_edge_ns = cut
    end = find_frames(edges, CORE_HZ).end
    assert end is not None
    lasted_ns = until_last_edge_ns - (int(end[-1] - end[0]) + 1) * edges.sample_ns
    wire = read_observed(edges, core_hz=CORE_HZ)
    assert wire.latencies_ns["STIM to ISR"].max == pytest.approx(lasted_ns)
    shown = ObservedManifest.model_construct(
        resolution_ns=edges.sample_ns,
        samplerate_hz=edges.samplerate_hz,
        longest={},
        widths_ns={},
        intervals_ns={},
        latencies_ns=wire.latencies_ns,
        calibration_ns={},
        duty={},
    )
    (row,) = [line for line in wire_table.lines(shown) if line.startswith("STIM to ISR")]
    assert row.endswith(f"≥ {lasted_ns / 1e3:.{decimals_of(edges.sample_ns)}f}")
    growing = Growing(tick_hz=CORE_HZ)
    growing.add(
        NewEdges(edges.sample, edges.word, edges.samplerate_hz, 0, edges.total_samples, edges.channels)
    )
    assert growing.latencies_ns()["STIM to ISR"].max == pytest.approx(lasted_ns)
