"""What a page gets of the explanations in a run folder, and how much of a forged one."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from base.tests.test_explanation import REPLAYED, TOLD
from dashboards.loaded.runs import load_run
from dashboards.page.embedded import explanations
from dashboards.tests.synthetic import Operation, write_run

HOSTILE = "<img src=x onerror=window.ran=1>"
PLACED: dict[str, Any] = {"place": "The stimulus came before all operations."}
KNOWN: dict[str, Any] = REPLAYED | PLACED | {
    "lines": [{"name": "main", "executions": 4, "cycles": 10, "source": "main.c:7"}],
    "parts": [
        {"what": "masked", "words": "interrupts masked by BASEPRI 0x50", "begin_cycle": 900, "cycles": 10,
         "place": "heap_port_lock+0x8", "source": "main.c:8"},
    ],
    "sources": {"main.c:7": "run();"},
}  # fmt: skip
# Of an allocation: 300 cycles, and a heap of 600 bytes.
ALLOCATION: dict[str, Any] = REPLAYED | {
    "quantity": "allocate",
    "key": "3",
    "start_sample": 1_000,
    "end_sample": 1_300,
    "cycles": 300,
    "instructions": 120,
    "stack": [{"address": 1, "place": f"{HOSTILE}+0x2", "source": "seglist.c:43"}],
    "functions": [{"name": HOSTILE, "executions": 12, "cycles": 250, "source": ""}],
    "parts": [
        {"what": what, "words": HOSTILE, "begin_cycle": begin, "cycles": 150, "place": "", "source": ""}
        for what, begin in (("running", 7_000), ("exception", 7_150))
    ],
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
ANATOMY: dict[str, Any] = {
    "schema": 2,
    "quantity": "allocate",
    "sentence": f"9 × the loop at {HOSTILE} took most: 50 %, 150 of 300 cycles.",
    "cycles": 300,
    "loop": {"place": HOSTILE, "source": "", "passes": 9, "cycles": 150, "stretches": [[150, 150]]},
    "calls": [
        {"depth": 0, "name": "outer", "begin_cycle": 0, "cycles": 300, "own_cycles": 200, "source": "a.c:1"},
        {"depth": 1, "name": HOSTILE, "begin_cycle": 100, "cycles": 100, "own_cycles": 100, "source": ""},
    ],
    "search": {
        "region_address": 0x2000_0000,
        "asked_bytes": 16,
        "blocks": True,
        "visited": [{"offset": 88, "bytes": 24}, {"offset": 0, "bytes": 88}],
    },
    "sources": {"a.c:1": HOSTILE},
}


def explain(run: Path, **documents: object) -> None:
    """Writes each document to the run's folder, `_` in its name as `-`."""
    (run / "explain").mkdir(exist_ok=True)
    for name, document in documents.items():
        (run / "explain" / f"{name.replace('_', '-')}.json").write_text(json.dumps(document))


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return write_run(tmp_path, "mem_frag", "seglist", [Operation("A", 16, 1, 300)])


def packed(run: Path) -> dict[str, Any]:
    ((explanation,),) = explanations(load_run(run)).values()
    return explanation


@pytest.mark.parametrize(("content", "replayed"), [(TOLD | PLACED, False), (KNOWN, True)])
def test_a_page_is_led_to_the_instant_with_and_without_a_replay(
    run: Path, content: Mapping[str, Any], replayed: bool
) -> None:
    explain(run, interrupt=content)
    explanation = packed(run)
    assert explanation["words"] == "the longest interrupt latency"
    assert (explanation["start_sample"], explanation["start_ns"]) == (900, 10_714.3)
    assert explanation["operation"] is None
    assert ("heap" in explanation) == replayed


def test_a_forged_explanation_does_not_fill_the_page(run: Path) -> None:
    long = "x" * 50_000
    part, frame, total = KNOWN["parts"][0], KNOWN["stack"][0], KNOWN["lines"][0]
    forged = KNOWN | {
        "place": long,
        "parts": [part | {"words": long}] + [part] * 3_000,
        "stack": [frame | {"place": long}] + [frame] * 3_000,
        "lines": [total | {"name": long}] * 30,
        "sources": {"main.c:7": long},
        "heap": KNOWN["heap"] | {"note": long},
    }
    explain(run, interrupt=forged)
    assert len(json.dumps(packed(run))) < 80_000


def test_what_belongs_to_no_explanation_is_left_out(run: Path) -> None:
    explain(run, allocate=ALLOCATION, allocate_anatomy=ANATOMY)
    assert packed(run)["anatomy"]["sentence"] == ANATOMY["sentence"]
    explain(run, allocate_anatomy=ANATOMY | {"cycles": 299})
    assert "anatomy" not in packed(run)
    explain(run, allocate=ALLOCATION | {"cycles": "many"})
    assert explanations(load_run(run)) == {}
