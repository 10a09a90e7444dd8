"""The whole document, and the whole text, of two small runs whose difference is known.

In B operation 1 takes 40 cycles more, and operation 3 looks at four blocks more. One stimulus falls
into the section of operation 3, which begins 40 cycles later in B.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from analysis.compare.compared import Comparison, compare
from analysis.compare.document import as_json
from analysis.compare.tests.made import OPERATIONS, VIRTUAL, with_cycles, write
from analysis.compare.text import as_text
from tests.sentences import Sentences
from tests.tables import beside

CHANGED = [
    replace(operation, probes=6) if seq == 3 else operation
    for seq, operation in enumerate(with_cycles({1: 40}))
]
NEW = {"tools": {**VIRTUAL["tools"], "virtual_nucleo": "0.2.0"}, "locking": "primask"}


def ns(cycles: int) -> float:
    return cycles * 1e9 / 84e6


def compared(tmp_path: Path, exact: bool = True) -> Comparison:
    changes = NEW if exact else {"locking": "primask"}
    return compare(
        write(tmp_path / "a", exact=exact),
        write(tmp_path / "b", CHANGED, exact=exact, allocator="tlsf", changes=changes),
    )


WORST: dict[str, tuple[Any, ...]] = beside(__file__)["worst"]
"""The greatest value in A and in B, what is found, and the operation in B."""


def test_the_document_tells_all_that_differs(tmp_path: Path) -> None:
    document = json.loads(json.dumps(as_json(compared(tmp_path)), allow_nan=False))
    (pair,) = document["pairs"]
    assert document["status"] == pair["status"] == "worse"
    assert (document["schema"], document["confidence"], pair["way"]) == (1, 0.95, "exact")
    assert document["headline"] == pair["headline"]
    assert [pair[side]["configuration"] for side in "ab"] == ["seglist", "tlsf, primask"]
    assert [tuple(change.values()) for change in pair["settings"]] == [
        ("allocator", "seglist", "tlsf", False),
        ("locking", "basepri", "primask", False),
        ("virtual_nucleo", "0.1.0", "0.2.0", True),
    ]
    worst = {row["quantity"]: row for row in pair["worst"]}
    assert {
        key: (row["a"]["value"], row["b"]["value"], row["finding"], row["b"]["seq"])
        for key, row in worst.items()
    } == {
        key: (*(ns(value) if key.endswith("_ns") else value for value in values), finding, seq)
        for key, (*values, finding, seq) in ((key, (*row, None)[:4]) for key, row in WORST.items())
    }
    assert worst["dwt_cycles"]["percent"] == pytest.approx(100 * 40 / 599)
    # One of three is above three others, as in half of all orders. But it was met alike.
    assert {key for key, row in worst.items() if row["chance_p"] == 0.5} == {
        "section_ns", "critical_ns", "interrupt_latency_ns", "task_latency_ns", "dwt_cycles",
    }  # fmt: skip
    assert [key for key, row in worst.items() if row["moved"]] == ["probes"]
    operations = pair["operations"]
    assert [operations[name] for name in ("joined", "changed", "first", "met_otherwise")] == [5, 2, 1, 0]
    assert [
        (change["column"], change["first"]["seq"], change["increase"]["change"], change["total"])
        for change in operations["columns"]
    ] == [
        ("probes", 3, 4, 4),
        ("instructions", 1, 20, 20),
        ("dwt_cycles", 1, 40, 40),
        ("dwt_operation_cycles", 1, 40, 40),
        ("wire_critical_ns", 1, ns(640) - ns(600), ns(640) - ns(600)),
        ("wire_operation_ns", 1, ns(680) - ns(640), ns(680) - ns(640)),
    ]
    assert [tuple(kind.values()) for kind in operations["kinds"]] == [("A", 3, 2, 40), ("F", 2, 0, 0)]


def plain(text: str) -> list[str]:
    """The lines, and no matter how many columns stand between their parts."""
    return [" ".join(line.split()) for line in text.splitlines()]


def test_several_pairs_are_a_table_with_the_worst_first_and_what_got_worse(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, sentences: Sentences
) -> None:
    monkeypatch.chdir(tmp_path)
    for side in (Path("a"), Path("b")):
        write(side, allocator="tlsf")
        write(side, allocator="avl", changes={"parameters": {"depth": 8}})
        write(side, CHANGED if side.name == "b" else OPERATIONS, allocator="seglist", changes={"seed": 7})
        write(side, allocator="heap_4", changes={"parameters": {"depth": 8 if side.name == "a" else 9}})
    write(Path("b"), scenario="other")
    damaged = write(Path("b"), allocator="first_fit")
    (damaged / "run.json").write_text("{")
    sentences.hold("\n".join(plain(as_text(compare(Path("a"), Path("b"))))))
