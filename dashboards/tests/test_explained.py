"""Bounds and explanations: what a run folder tells of them, and what damage does not break."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from base.files.errors import RunError
from dashboards.figures.ramp import ramp
from dashboards.loaded.quantities import bounds_sentence
from dashboards.loaded.runs import load_run
from dashboards.loaded.series import by_scenario
from dashboards.page.explanations import explanations
from dashboards.report import report_html, write_report
from dashboards.tests.as_plotly import as_plotly
from dashboards.tests.browser import Browser, chromium
from dashboards.tests.synthetic import Operation, write_run

BOUND = {
    "instructions": 700, "cycles": 1_000, "ns": 11_904.8, "region_decided": False, "why_not": None,
    "observed_cycles": 400, "ratio": 2.5,
}  # fmt: skip
NONE = {**dict.fromkeys(BOUND), "region_decided": False, "why_not": "nobody knows"}
HOSTILE = "<img src=x onerror=window.ran=1>"
EXPLAINED: dict[str, Any] = {
    "schema": 1,
    "quantity": "allocate",
    "key": "3",
    "value_ns": 3571.4,
    "maximum": {
        "value": 3571.4,
        "times": 1,
        "seq": 3,
        "kind": "A",
        "size": 16,
        "label": None,
        "depth": 4,
        "trial": None,
        "probes": 1,
        "live": 1,
        "bytes_in_use": 16,
        "start_sample": 950,
    },
    "allocator": "seglist",
    "scenario": "mem_frag",
    "verdict": "complete",
    "samplerate_hz": 84_000_000,
    "start_sample": 1_000,
    "end_sample": 1_300,
    "window": {"first_sample": 664, "end_sample": 1_636, "edges": [[664, 0], [1_000, 1], [1_300, 0]]},
    "replayed": True,
    "unknown": [],
    "cycles": 300,
    "instructions": 120,
    "moment": {"sample": 1_150, "cycle": 1_150},
    "stack": [{"address": 1, "place": f"{HOSTILE}+0x2", "source": "seglist.c:43"}],
    "functions": [{"name": HOSTILE, "executions": 12, "cycles": 250, "source": ""}],
    "dearest": [],
    "heap": {
        "region_bytes": 600,
        "pieces": [
            {"offset": 0, "bytes": 88, "what": "live"},
            {"offset": 88, "bytes": 24, "what": "free"},
            {"offset": 112, "bytes": 488, "what": "unknown"},
        ],
        "note": "read from somewhere",
    },
}


def written(folder: Path, bounds: object, explained: object | None = None) -> Path:
    operations = [Operation("A", 16, 1, 300 + depth, depth=depth) for depth in range(1, 30)]
    run = write_run(folder, "mem_frag", "seglist", operations, changes={"bounds": bounds})
    if explained is not None:
        (run / "explain").mkdir()
        (run / "explain" / "allocate.json").write_text(json.dumps(explained))
    return run


def test_a_bound_stands_beside_the_maximum_and_above_the_ramp(tmp_path: Path) -> None:
    run = load_run(written(tmp_path, {"allocate": BOUND, "free": NONE}))
    assert bounds_sentence(run) == (
        "Static bound (no interrupts): allocation ≤ 1,000 cycles, 2.5 × the worst undisturbed"
    )
    assert "bound 1,000, 2.5 ×" in report_html([run])
    chart = ramp(by_scenario([run])["mem_frag"])
    assert chart is not None
    lines = [list(trace.y) for trace in as_plotly(chart.figure).data if str(trace.name).endswith("bound")]
    assert lines == [[11.9048] * 2, [1_000.0] * 2]


def test_a_bound_that_grows_with_the_region_is_no_line(tmp_path: Path) -> None:
    run = load_run(written(tmp_path, {"allocate": {**BOUND, "region_decided": True}}))
    assert "≤ 1,000 cycles, grows with heap size," in bounds_sentence(run)
    chart = ramp(by_scenario([run])["mem_frag"])
    assert chart is not None
    assert not [trace for trace in as_plotly(chart.figure).data if str(trace.name).endswith("bound")]


@pytest.mark.parametrize("bounds", [None, [], {"allocate": 3}, {"allocate": {"cycles": "many", "ns": 1}}])
def test_bounds_that_are_none_are_refused(bounds: object, tmp_path: Path) -> None:
    with pytest.raises(RunError, match=r"run\.json:\d+: bounds"):
        load_run(written(tmp_path, bounds))


def test_a_run_without_bounds_has_none(tmp_path: Path) -> None:
    assert bounds_sentence(load_run(written(tmp_path, {}))) == ""


@pytest.mark.parametrize(
    "damaged",
    [
        [],
        {},
        EXPLAINED | {"schema": 3},
        EXPLAINED | {"heap": 1},
        EXPLAINED | {"cycles": "many"},
        EXPLAINED | {"more": "than there may be"},
        EXPLAINED | {"replayed": False},
    ],
)
def test_a_damaged_explanation_is_left_out(damaged: object, tmp_path: Path) -> None:
    run = load_run(written(tmp_path, {}, EXPLAINED))
    assert list(explanations(run)) == ["3"]
    (run.folder / "explain" / "allocate.json").write_text(json.dumps(damaged))
    assert explanations(run) == {}


@pytest.mark.skipif(chromium() is None, reason="needs Chromium: apt-get install chromium")
def test_a_click_shows_the_explanation(tmp_path: Path) -> None:
    run = written(tmp_path, {}, EXPLAINED)
    report = write_report([run], tmp_path / "report.html")
    executable = chromium()
    assert executable is not None
    with Browser(executable) as browser:
        browser.open(report, f"#/sample/{run.name}/3")
        browser.settle()
        panel = "document.querySelector('.instant')"
        shown = browser.evaluate(f"{panel}.textContent")
        assert "120 instructions in 300 cycles" in shown
        assert f"{HOSTILE}+0x2seglist.c:43" in shown
        assert f"25012 ×{HOSTILE}" in shown
        # 600 bytes in rows of 100: the live piece is in one, the free one in two, the rest in five.
        counted = [browser.evaluate(f"{panel}.querySelectorAll('rect.{w}').length") for w in ("live", "free")]
        assert counted == [1, 2]
        assert browser.evaluate(f"{panel}.querySelectorAll('rect.unknown').length") == 5
        assert browser.evaluate("window.ran === undefined") is True
        browser.go(f"#/sample/{run.name}/4")
        assert browser.evaluate(f"{panel}.querySelector('.explained')") is None
        assert browser.complaints == []
