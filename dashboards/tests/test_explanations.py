"""What a page gets of the explanations in a run folder, and how much of a forged one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from base.run_folder.tests.test_explanation import REPLAYED, TOLD
from dashboards.loaded.runs import load_run
from dashboards.page.explanations import explanations
from dashboards.tests.synthetic import Operation, write_run

BESIDE = {"kind": "F", "words": "free of 22 bytes", "label": None, "start_sample": 100, "end_sample": 200}
PLACED: dict[str, Any] = {
    "schema": 2,
    "start_ns": 10_714.3,
    "begins": "STIM falling",
    "ends": "ISR rising",
    "place": "The stimulus came outside of all operations.",
    "operation": None,
    "previous": BESIDE | {"seq": 7},
    "next": BESIDE | {"seq": 8},
}
KNOWN: dict[str, Any] = REPLAYED | PLACED | {
    "lines": [{"name": "main", "executions": 4, "cycles": 10, "source": "main.c:7"}],
    "parts": [
        {"what": "masked", "words": "interrupts masked by BASEPRI 0x50", "begin_cycle": 900, "cycles": 10,
         "place": "heap_port_lock+0x8", "source": "main.c:8"},
    ],
    "sources": {"main.c:7": "run();"},
}  # fmt: skip


def packed(folder: Path, content: dict[str, Any]) -> dict[str, Any]:
    run = write_run(folder, "mem_frag", "seglist", [Operation("A", 16, 1, 300)])
    (run / "explain").mkdir()
    (run / "explain" / "interrupt.json").write_text(json.dumps(content))
    ((explanation,),) = explanations(load_run(run)).values()
    return explanation


def test_a_page_is_led_to_the_instant_with_and_without_a_replay(tmp_path: Path) -> None:
    for name, content in (("told", TOLD | PLACED), ("known", KNOWN)):
        explanation = packed(tmp_path / name, content)
        assert explanation["words"] == "the longest interrupt latency"
        assert (explanation["start_sample"], explanation["start_ns"]) == (900, 10_714.3)
        assert (explanation["begins"], explanation["ends"]) == ("STIM falling", "ISR rising")
        assert (explanation["previous"]["seq"], explanation["next"]["seq"]) == (7, 8)
        assert explanation["operation"] is None
        assert ("pieces" in explanation) == (name == "known")


def test_a_source_line_comes_with_its_text_where_that_is_known(tmp_path: Path) -> None:
    explanation = packed(tmp_path, KNOWN)
    assert explanation["stack"] == [["main+0x4", "main.c:7", "run();"]]
    assert explanation["lines"] == [["main", 10, 4, "main.c:7", "run();"]]
    assert (explanation["parts"][0]["source"], explanation["parts"][0]["text"]) == ("main.c:8", "")


def test_a_forged_explanation_does_not_fill_the_page(tmp_path: Path) -> None:
    long = "x" * 50_000
    part, frame, total = KNOWN["parts"][0], KNOWN["stack"][0], KNOWN["lines"][0]
    forged = KNOWN | {
        "place": long,
        "begins": long,
        "parts": [part | {"words": long}] + [part] * 3_000,
        "stack": [frame | {"place": long}] + [frame] * 3_000,
        "lines": [total | {"name": long}] * 30,
        "sources": {"main.c:7": long},
        "heap": KNOWN["heap"] | {"note": long},
        "next": PLACED["next"] | {"words": long, "label": long, "kind": long},
    }
    assert len(json.dumps(packed(tmp_path, forged))) < 80_000
