"""Bounds and explanations: what a run folder tells of them, and what damage does not break."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from base.files.errors import RunError
from dashboards.figures.ramp import ramp
from dashboards.loaded.quantities import bounds_sentence
from dashboards.loaded.runs import load_run
from dashboards.loaded.series import by_scenario
from dashboards.page.explanations import explanations
from dashboards.report import report_html
from dashboards.tests.as_plotly import as_plotly
from dashboards.tests.browser import Browser
from dashboards.tests.synthetic import Operation, write_run

BOUND = {
    "instructions": 700, "cycles": 1_000, "ns": 11_904.8, "region_decided": False, "why_not": None,
    "observed_cycles": 400, "ratio": 2.5,
}  # fmt: skip
NONE = {**dict.fromkeys(BOUND), "region_decided": False, "why_not": "nobody knows"}
HOSTILE = "<img src=x onerror=window.ran=1>"
EXPLAINED: dict[str, Any] = {
    "schema": 2,
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
    "start_ns": 11_904.8,
    "begins": "CRIT rising",
    "ends": "CRIT falling",
    "place": "",
    "operation": None,
    "previous": None,
    "next": None,
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
    with pytest.raises(RunError, match=r"run\.json: bounds"):
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


def test_a_click_shows_the_explanation(tmp_path: Path, at_sample: Callable[[Path, str], Browser]) -> None:
    run = written(tmp_path, {}, EXPLAINED)
    browser = at_sample(run, "3")
    panel = "document.querySelector('.instant')"
    shown = browser.evaluate(f"{panel}.textContent")
    assert "120 instructions in 300 cycles" in shown
    assert browser.evaluate(f"{panel}.querySelector('details').open") is False
    assert browser.evaluate(f"{panel}.querySelector('.why, .strip')") is None
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


def test_paper_gets_the_sample_that_is_shown_light(
    tmp_path: Path, at_sample: Callable[[Path, str], Browser]
) -> None:
    run = written(tmp_path, {}, EXPLAINED)
    browser = at_sample(run, "3")
    browser.page.emulate_media(color_scheme="dark")
    paper = "document.querySelector('.wave')._fullLayout.paper_bgcolor"
    for key in ("4", "3"):
        browser.go(f"#/sample/{run.name}/{key}")
        assert browser.evaluate(paper) == "#14191e"
        browser.evaluate("window.dispatchEvent(new Event('beforeprint'))")
        assert browser.evaluate(paper) == "#ffffff"
        browser.evaluate("window.dispatchEvent(new Event('afterprint'))")
        assert browser.evaluate(paper) == "#14191e"
    assert browser.complaints == []


MADE_OF: dict[str, Any] = {
    "schema": 1,
    "quantity": "allocate",
    "sentence": f"9 passes of the loop at {HOSTILE} took 50 %: 150 of 300 cycles.",
    "cycles": 300,
    "loop": {"place": HOSTILE, "source": "", "passes": 9, "cycles": 150},
    "bands": [
        {"what": "rest", "words": "before the loop", "begin_cycle": 0, "cycles": 150},
        {"what": "loop", "words": "the loop", "begin_cycle": 150, "cycles": 150},
    ],
    "calls": [
        {"depth": 0, "name": "outer", "begin_cycle": 0, "cycles": 300, "own_cycles": 200, "source": "a.c:1"},
        {"depth": 1, "name": HOSTILE, "begin_cycle": 100, "cycles": 100, "own_cycles": 100, "source": ""},
    ],
    "search": {
        "region_address": 0x2000_0000,
        "asked_bytes": 16,
        "blocks": True,
        "visited": [{"offset": 88, "bytes": 24}, {"offset": 0, "bytes": 88}],
        "served": {"offset": 88, "bytes": 24},
    },
    "sources": {"a.c:1": HOSTILE},
}


def anatomised(folder: Path, changes: dict[str, Any] | None = None) -> Path:
    run = written(folder, {}, EXPLAINED)
    (run / "explain" / "allocate-anatomy.json").write_text(json.dumps(MADE_OF | (changes or {})))
    return run


def test_an_anatomy_belongs_to_its_explanation(tmp_path: Path) -> None:
    run = anatomised(tmp_path)
    (packed,) = explanations(load_run(run))["3"]
    assert packed["anatomy"]["sentence"] == MADE_OF["sentence"]
    (run / "explain" / "allocate-anatomy.json").write_text(json.dumps(MADE_OF | {"cycles": 299}))
    (packed,) = explanations(load_run(run))["3"]
    assert "anatomy" not in packed


PLACES = """(() => {
  const plot = document.querySelector(".wave"), { xaxis, _size } = plot._fullLayout;
  const left = plot.getBoundingClientRect().left + xaxis._offset;
  const told = (one) => { const box = one.getBoundingClientRect(); return [box.left, box.right]
    .map((at) => xaxis.p2d(at - left)); };
  return [...document.querySelectorAll(".strip .band, .strip .call")].map((one) =>
    one.hidden ? null : [...told(one), one.title]);
})()"""


def test_what_the_time_went_to_lies_below_the_waveform_also_zoomed(
    tmp_path: Path, at_sample: Callable[[Path, str], Browser]
) -> None:
    """Sample 1,000 to 1,300 at 84 MS/s; the waveform begins its time at operation 3, at 1,080."""
    run = anatomised(tmp_path)
    browser = at_sample(run, "3")
    zero = browser.evaluate(
        "(async () => { const { runs } = JSON.parse(document.getElementById('data').textContent);"
        f"const run = await tailscope.unpack.json(runs['{run.name}']);"
        "return run.samples['3'].window[2]; })()"
    )
    text = browser.evaluate("document.querySelector('.instant .why').textContent")
    assert text == MADE_OF["sentence"]

    def cycle(number: int) -> float:
        return (1_000 + number - float(zero)) / 84

    pixel_us = browser.evaluate("(({xaxis}) => xaxis.p2d(1) - xaxis.p2d(0))("
                                "document.querySelector('.wave')._fullLayout)")  # fmt: skip
    places = browser.evaluate(PLACES)
    for (left, right, _), (begin, end) in zip(
        places, [(0, 150), (150, 300), (0, 300), (100, 200)], strict=True
    ):
        assert left == pytest.approx(cycle(begin), abs=pixel_us)
        assert right == pytest.approx(cycle(end), abs=1.5 * pixel_us)
    assert places[2][2] == (f"outer: 300 cycles, 100 %; 200 its own\nmost of it at a.c:1: {HOSTILE}")
    # Zoomed to cycles 160 to 180: the first band is out of sight, the loop fills the view.
    browser.evaluate(
        f"Plotly.relayout(document.querySelector('.wave'), {{'xaxis.range': [{cycle(160)}, {cycle(180)}]}})"
    )
    browser.wait("() => document.querySelectorAll('.strip [hidden]').length === 1")
    _, loop, outer, _ = browser.evaluate(PLACES)
    assert loop[0] == outer[0] == pytest.approx(cycle(160), abs=0.01)
    assert loop[1] == pytest.approx(cycle(180), abs=0.01)
    assert browser.evaluate("window.ran === undefined") is True
    assert browser.complaints == []


def test_the_heap_shows_what_was_visited_in_order_and_what_was_served(
    tmp_path: Path, at_sample: Callable[[Path, str], Browser]
) -> None:
    run = anatomised(tmp_path)
    browser = at_sample(run, "3")
    looks = "[...document.querySelectorAll('.search circle title')].map((one) => one.textContent)"
    assert browser.evaluate(looks) == [
        "block 1 of 2 of 24 bytes at 0x20000058",
        "block 2 of 2 of 88 bytes at 0x20000000",
    ]
    down = browser.evaluate(
        "[...document.querySelectorAll('.search circle')].map((one) => one.cy.baseVal.value)"
    )
    assert down == sorted(down)
    request = (
        "[...document.querySelectorAll('.search .asked, .search .served')]"
        ".map((one) => one.width.baseVal.value)"
    )
    served, visited = browser.evaluate(request)
    assert visited == pytest.approx(served * 16 / 24, abs=1)
    text = browser.evaluate("document.querySelector('.heap').textContent")
    assert "The search visited 2 blocks, from 0x20000058 to 0x20000000." in text
    assert "The request of 16 bytes was served from a block of 24 bytes at 0x20000058." in text
    # The key has the colours of the map, in either theme.
    for theme in ("light", "dark"):
        browser.evaluate(f"document.documentElement.dataset.theme = '{theme}'")
        for what in ("live", "free", "unknown"):
            colours = browser.evaluate(
                f"[getComputedStyle(document.querySelector('.keys .{what}')).backgroundColor,"
                f" getComputedStyle(document.querySelector('.explained rect.{what}:not(.visited)"
                f", .search rect.{what}')).fill]"
            )
            assert colours[0] == colours[1]
    assert browser.complaints == []
