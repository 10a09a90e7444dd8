"""The whole document, and the whole text, of two small runs whose difference is known.

In B operation 1 takes 40 cycles more, and operation 3 looks at four blocks more. One stimulus falls
into the section of operation 3, which begins 40 cycles later in B.
"""

from __future__ import annotations

import json
import statistics
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from analysis.compare.compared import Comparison, compare
from analysis.compare.document import as_json
from analysis.compare.tests.made import OPERATIONS, VIRTUAL, with_cycles, write
from analysis.compare.text import as_text
from base.metrology.tests.few import summary
from base.run_folder.quantities import QUANTITIES

CHANGED = [
    replace(operation, probes=6) if seq == 3 else operation
    for seq, operation in enumerate(with_cycles({1: 40}))
]
NEW = {"tools": {**VIRTUAL["tools"], "virtual_nucleo": "0.2.0"}, "locking": "primask"}
HEADLINE = (
    "longest masked section of any operation: 7.14 → 7.62 µs (+0.48 µs, +6.7 %), operation 1; "
    "2 of 5 operations changed"
)


def ns(cycles: int) -> float:
    return cycles * 1e9 / 84e6


def compared(tmp_path: Path, exact: bool = True) -> Comparison:
    changes = NEW if exact else {"locking": "primask"}
    return compare(
        write(tmp_path / "a", exact=exact),
        write(tmp_path / "b", CHANGED, exact=exact, allocator="tlsf", changes=changes),
    )


def run(folder: Path, allocator: str, configuration: str) -> dict[str, Any]:
    columns = {
        "folder": str(folder / f"20250102T030405Z-made-{allocator}-virtual"),
        "scenario": "made",
        "board": "virtual",
    }
    return {
        **columns,
        "allocator": allocator,
        "configuration": configuration,
        "verdict": "complete",
        "operations": 5,
    }


def extreme(
    value: float, seq: int | None, kind: str | None, size: int | None, times: int = 1
) -> dict[str, Any]:
    place = {"seq": seq, "kind": kind, "size": size, "label": None, "times": times}
    return {**place, "value": value, "at_least": ""}


def worst(
    key: str, unit: str, a: dict[str, Any], b: dict[str, Any], finding: str, sentence: str
) -> dict[str, Any]:
    change = b["value"] - a["value"]
    return {
        "quantity": key, "unit": unit, "a": a, "b": b, "change": change,
        "percent": pytest.approx(100 * change / a["value"]), "budget": 0.0, "chance_p": None,
        "moved": False, "finding": finding, "sentence": sentence,
    }  # fmt: skip


WORST = [
    {
        # One of five is above five others, as in half of all orders.
        **worst(
            "section_ns", "ns", extreme(ns(600), 1, "A", 200), extreme(ns(640), 1, "A", 200), "worse",
            HEADLINE.partition(";")[0],
        ),
        "chance_p": 0.5,
    },
    {
        **worst(
            "critical_ns", "ns", extreme(ns(600), 1, "A", 200), extreme(ns(640), 1, "A", 200), "worse",
            HEADLINE.partition(";")[0].replace("longest masked section of any operation",
                                               "worst critical section of an allocation"),
        ),
        # One of three is above three others, as in half of all orders. But it was met alike.
        "chance_p": 0.5,
    },
    worst(
        "free_critical_ns", "ns", extreme(ns(210), 4, "F", 200), extreme(ns(210), 4, "F", 200), "equal",
        "worst critical section of a free: 2.50 µs in both, operation 4",
    ),
    {
        # 34 and 74 cycles of the section are left, and the entry takes 46.
        **worst(
            "interrupt_latency_ns", "ns", extreme(ns(80), 3, "A", 64), extreme(ns(120), 3, "A", 64), "chance",
            "worst interrupt latency: 0.95 → 1.43 µs (+0.48 µs, +50.0 %), operation 3, which may be chance: "
            "stimuli fell otherwise",
        ),
        "chance_p": 0.5,
    },
    {
        **worst(
            "task_latency_ns", "ns", extreme(ns(380), 3, "A", 64), extreme(ns(420), 3, "A", 64), "chance",
            "worst task latency: 4.52 → 5.00 µs (+0.48 µs, +10.5 %), operation 3, which may be chance: "
            "stimuli fell otherwise",
        ),
        "chance_p": 0.5,
    },
    worst(
        "control_latency_ns", "ns",
        extreme(ns(26), None, None, None, 3), extreme(ns(26), None, None, None, 3),
        "equal", "worst control interrupt latency: 0.31 µs in both, between operations",
    ),
    {
        **worst(
            "dwt_cycles", "cycles", extreme(599, 1, "A", 200), extreme(639, 1, "A", 200), "worse",
            "worst critical section of an allocation, by DWT: 599 → 639 cycles (+40 cycles, +6.7 %), "
            "operation 1",
        ),
        "chance_p": 0.5,
    },
    worst(
        "free_dwt_cycles", "cycles", extreme(210, 4, "F", 200), extreme(210, 4, "F", 200), "equal",
        "worst critical section of a free, by DWT: 210 cycles in both, operation 4",
    ),
    {
        **worst(
            "probes", "", extreme(5, 1, "A", 200), extreme(6, 3, "A", 64), "worse",
            "most probes of an allocation: 5 → 6 (+1, +20.0 %), operation 3, in A operation 1",
        ),
        "moved": True,
    },
]  # fmt: skip


def column(name: str, unit: str, seq: int, size: int, a: float, b: float) -> dict[str, Any]:
    moved = {"seq": seq, "kind": "A", "size": size, "label": None, "a": a, "b": b, "change": b - a}
    return {
        "column": name, "unit": unit, "changed": 1, "total": b - a, "first": moved, "increase": moved,
        "decrease": None, "met_alike": {"changed": 1, "increase": moved, "decrease": None},
    }  # fmt: skip


_SECTIONS = tuple(tuple(map(ns, (*cycles, 190, 210))) for cycles in ((400, 600, 350), (400, 640, 350)))
SAMPLES = {
    "section_ns": _SECTIONS,
    "uninterrupted_section_ns": _SECTIONS,
    "probes": ((3, 5, 2), (3, 5, 6)),
    "instructions": ((200, 300, 175), (200, 320, 175)),
    "dwt_cycles": ((400, 599, 351), (400, 639, 351)),
    "critical_ns": tuple(tuple(map(ns, cycles)) for cycles in ((400, 600, 350), (400, 640, 350))),
    "free_instructions": ((95, 105),) * 2,
    "free_dwt_cycles": ((190, 210),) * 2,
    "free_critical_ns": ((ns(190), ns(210)),) * 2,
    "interrupt_latency_ns": tuple((*[ns(38)] * 4, ns(hit)) for hit in (80, 120)),
    "interrupt_latency_hit_ns": ((ns(80),), (ns(120),)),
    "interrupt_latency_clear_ns": ((ns(38),) * 4,) * 2,
    "control_latency_ns": ((ns(26),) * 3,) * 2,
    "task_latency_ns": tuple((*[ns(338)] * 4, ns(hit)) for hit in (380, 420)),
}
SAMPLES |= {f"served_{key}": SAMPLES[key] for key in ("probes", "instructions", "dwt_cycles", "critical_ns")}


def unit_of(key: str) -> str:
    return next((unit for unit in ("ns", "cycles") if key.endswith(f"_{unit}")), "")


def test_the_document_tells_all_that_differs(tmp_path: Path) -> None:
    a, b = run(tmp_path / "a", "seglist", "seglist"), run(tmp_path / "b", "tlsf", "tlsf, primask")
    document = as_json(compared(tmp_path))
    assert json.loads(json.dumps(document, allow_nan=False)) == {
        "schema": 1,
        "a": a["folder"],
        "b": b["folder"],
        "status": "worse",
        "headline": HEADLINE,
        "confidence": 0.95,
        "only_a": [],
        "only_b": [],
        "older_a": 0,
        "older_b": 0,
        "unreadable": [],
        "left_out": [],
        "pairs": [
            {
                "a": a,
                "b": b,
                "paired_by": "given",
                "way": "exact",
                "status": "worse",
                "headline": HEADLINE,
                "doubts": [],
                "notes": [],
                "placements": [],
                "settings": [
                    {"name": name, "a": before, "b": now, "tool": tool}
                    for name, before, now, tool in (
                        ("allocator", "seglist", "tlsf", False),
                        ("locking", "basepri", "primask", False),
                        ("virtual_nucleo", "0.1.0", "0.2.0", True),
                    )
                ],
                "worst": [{**row, "change": pytest.approx(row["change"])} for row in WORST],
                "operations": {
                    "joined": 5,
                    "only_a": 0,
                    "only_b": 0,
                    "changed": 2,
                    "first": 1,
                    "other_outcome": [],
                    "met_otherwise": 0,
                    "columns": [
                        column("probes", "", 3, 64, 2, 6),
                        column("instructions", "", 1, 200, 300, 320),
                        column("dwt_cycles", "cycles", 1, 200, 599, 639),
                        column("dwt_operation_cycles", "cycles", 1, 200, 640, 680),
                        column("wire_critical_ns", "ns", 1, 200, ns(600), ns(640)),
                        column("wire_operation_ns", "ns", 1, 200, ns(640), ns(680)),
                    ],
                    "kinds": [
                        {"kind": "A", "n": 3, "changed": 2, "dwt_cycles": 40},
                        {"kind": "F", "n": 2, "changed": 0, "dwt_cycles": 0},
                    ],
                },
                "distributions": [
                    {
                        "quantity": key,
                        "unit": unit_of(key),
                        **{side: summary(*values) for side, values in zip("ab", SAMPLES[key], strict=True)},
                        "budget": 0.0,
                        "delta": None,
                        "shift": None,
                        "delta_interval": None,
                        "shift_interval": None,
                        "no_interval": None,
                        "undecided": 0,
                        "beyond": False,
                    }
                    for key in (quantity.key for quantity in QUANTITIES)
                    if key in SAMPLES
                ],
            }
        ],
    }


def test_on_a_board_the_effects_are_those_of_all_pairs(tmp_path: Path) -> None:
    """Beside every pair of samples; the budget of both runs together is 47.8 ns."""
    (pair,) = as_json(compared(tmp_path, exact=False))["pairs"]
    assert pair["way"] == "budgets"
    effects = {effect["quantity"]: effect for effect in pair["distributions"]}
    assert set(effects) == set(SAMPLES)
    for key, (ours, theirs) in SAMPLES.items():
        one, pairs = effects[key], list(product(theirs, ours))
        if len(ours) < 2:
            assert one["delta"] is one["shift"] is one["delta_interval"] is one["shift_interval"] is None
            continue
        assert one["delta"] == pytest.approx(statistics.fmean((b > a) - (b < a) for b, a in pairs))
        assert one["shift"] == pytest.approx(statistics.median(b - a for b, a in pairs))
        assert one["no_interval"] is None
        for effect in ("delta", "shift"):
            low, high = one[f"{effect}_interval"]
            assert low <= one[effect] <= high
        assert one["budget"] == pytest.approx({"ns": 47.8, "cycles": 47.8 * 0.084, "": 0}[unit_of(key)])
        assert not one["beyond"]


TEXT = """\
longest masked section of any operation: 7.14 → 7.62 µs (+0.48 µs, +6.7 %), \
operation 1; 2 of 5 operations changed

A: made, seglist, virtual: {a}
B: made, tlsf, primask, virtual: {b}

setting         A        B
allocator       seglist  tlsf
locking         basepri  primask
virtual_nucleo  0.1.0    0.2.0

worst case                                  A      B        change  budget  finding      where
longest masked section of any operation  7.14  7.62  +0.48 µs, +6.7 %  none  worse   operation 1
(µs)
worst critical section of an allocation  7.14  7.62  +0.48 µs, +6.7 %  none  worse   operation 1
(µs)
worst critical section of a free (µs)       2.50  2.50         –      none  equal         operation 4
worst interrupt latency (µs)           0.95  1.43  +0.48 µs, +50.0 %  none  chance may do that  operation 3
worst task latency (µs)              4.52  5.00  +0.48 µs, +10.5 %  none  chance may do that  operation 3
worst control interrupt latency (µs)         0.31   0.31         –      none  equal         between operations
worst critical section of an allocation,      599    639  +40 cycles, +6.7 %  none  worse   operation 1
by DWT (cycles)
worst critical section of a free, by DWT      210    210         –      none  equal         operation 4
(cycles)
most probes of an allocation                    5      6  +1, +20.0 %   none  worse         operation 1 → 3

Operations: the same 5 in both; 2 changed, the first is 1.
by operation                            changed  first  largest increase  largest decrease    sum
probes                                        1      3           +4 at 3                 –    +4
instructions of the critical section          1      1          +20 at 1                 –   +20
critical section by DWT (cycles)              1      1          +40 at 1                 –   +40
whole operation by DWT (cycles)               1      1          +40 at 1                 –   +40
critical section on the wire (µs)             1      1         +0.48 at 1                 –  +0.48
whole operation on the wire (µs)              1      1         +0.48 at 1                 –  +0.48
Critical sections met by as many interrupts in both: 1 changed; most more: operation 1 \
(allocation of 200 bytes), 599 →
639 cycles

outcome in A  operations  changed  cycles of all their critical sections
allocation             3        2                                    +40
free                   2        0                                     +0

all samples, A → B                                   n         median  p99            max
masked section of any operation (µs)                 5            4.17    –  7.14 → 7.62
masked section that no interrupt ran in (µs)         5            4.17    –  7.14 → 7.62
probes of an allocation                              3          3 → 5    –          5 → 6
instructions of a critical section                   3            200    –      300 → 320
critical section by DWT (cycles)                     3            400    –      599 → 639
critical section on the wire (µs)                    3          4.76    –  7.14 → 7.62
instructions of a free                               2             95    –            105
critical section of a free, by DWT (cycles)          2            190    –            210
critical section of a free, on the wire (µs)         2          2.26    –          2.50
interrupt latency (µs)                               5            0.45    –    0.95 → 1.43
interrupt latency, critical section hit (µs)         1    0.95 → 1.43    –    0.95 → 1.43
interrupt latency, outside critical sections (µs)    4            0.45    –           0.45
control interrupt latency (µs)                       3            0.31    –            0.31
task latency (µs)                                    5          4.02    –  4.52 → 5.00"""


def plain(text: str) -> list[str]:
    """The lines, and no matter how many columns stand between their parts."""
    return [" ".join(line.split()) for line in text.splitlines()]


def test_the_text_tells_all_that_differs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write(Path("a"))
    write(Path("b"), CHANGED, allocator="tlsf", changes=NEW)
    a, b = (next(Path(side).iterdir()) for side in "ab")
    assert plain(as_text(compare(a, b))) == plain(TEXT.format(a=a, b=b))


def test_a_table_is_aligned_and_as_wide_as_the_terminal(tmp_path: Path) -> None:
    lines = as_text(compared(tmp_path)).splitlines()
    first = next(at for at, line in enumerate(lines) if line.startswith("by operation"))
    assert lines[first : first + 2] == [
        "by operation                          changed  first  largest increase  largest decrease    sum",
        "probes                                      1      3           +4 at 3                 –     +4",
    ]
    assert max(map(len, lines)) <= 120


def test_several_pairs_are_a_table_with_the_worst_first_and_what_got_worse(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
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
    comparison = compare(Path("a"), Path("b"))
    lines = plain(as_text(comparison))
    (unread,) = comparison.unreadable
    assert unread.startswith(
        "b/20250102T030405Z-made-first_fit-virtual/run.json:1: the file is not valid JSON"
    )
    assert " ".join(lines[-2:]) == f"Not compared: {unread}"
    assert lines[:-2] == plain(f"""\
4 pairs of runs: 1 worse, 3 equal; 1 run could not be read.

status scenario configuration what
worse made seglist {HEADLINE.partition(" 1;")[0]}
1; 2 of 5 operations changed
equal made avl equal to the cycle, 5 operations
equal made heap_4 equal to the cycle, 5 operations
equal made tlsf equal to the cycle, 5 operations

made, seglist: b/20250102T030405Z-made-seglist-virtual
longest masked section of any operation: 7.14 → 7.62 µs (+0.48 µs, +6.7 %), operation 1
worst critical section of an allocation: 7.14 → 7.62 µs (+0.48 µs, +6.7 %), operation 1
worst critical section of an allocation, by DWT: 599 → 639 cycles (+40 cycles, +6.7 %), operation 1
most probes of an allocation: 5 → 6 (+1, +20.0 %), operation 3, in A operation 1

Only in B: other, seglist, virtual: b/20250102T030405Z-other-seglist-virtual""")
