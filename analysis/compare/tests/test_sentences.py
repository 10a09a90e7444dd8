"""Whole sentences of comparisons, of worst cases and pairs that are written by hand."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from analysis.compare import rows, sentences
from analysis.compare.compared import Comparison, compare
from analysis.compare.operations import Changed, Column, Moved, Operations
from analysis.compare.sentences import by, left_out, overall, remarks, where, worst_sentence
from analysis.compare.settings import Change, changes, differing, excuse_of, settings, short
from analysis.compare.tests.made import OPERATIONS, with_cycles, write
from analysis.compare.values import short as value
from analysis.compare.values import signed
from analysis.compare.worst import Extreme, Finding, Worst
from base.run_folder.manifest import Manifest, read_manifest
from base.run_folder.quantities import LATENCY, PROBES
from dashboards.tests.synthetic import Operation

MANY = "\N{MINUS SIGN}"


def extreme(value: float, seq: int | None = 1_311, kind: str | None = "A") -> Extreme:
    return Extreme(value, seq, kind, None, None, 1)


def worst(a: Extreme | None, b: Extreme | None, finding: Finding, quantity: Any = LATENCY) -> Worst:
    return Worst(quantity, a, b, 47.8, finding)


@pytest.mark.parametrize(
    ("one", "sentence", "change", "place"),
    [
        (worst(extreme(35_798.4), extreme(34_917.3), "better"),
         "worst interrupt latency: 35.80 → 34.92 µs (−0.88 µs, −2.5 %), operation 1,311",
         "−0.88 µs, −2.5 %", "operation 1,311"),
        (worst(extreme(1000.0), extreme(1000.0), "equal"),
         "worst interrupt latency: 1.00 µs in both, operation 1,311", "0.00 µs, +0 %", "operation 1,311"),
        (worst(extreme(1000.0, 2), extreme(1004.5, None), "within the budgets"),
         "worst interrupt latency: 1.00 → 1.00 µs (+0.004 µs, +0.5 %), between operations, in A operation 2: "
         "no difference beyond the budgets (± 0.05 µs)",
         "+0.004 µs, +0.5 %", "operation 2 → between operations"),
        (worst(extreme(1e6), extreme(1e6 + 500, 3, "O"), "chance"),
         "worst interrupt latency: 1,000.00 → 1,000.50 µs (+0.50 µs, +0.05 %), operation 3, refused, in A "
         "operation 1,311, which may be chance: stimuli fell otherwise",
         "+0.50 µs, +0.05 %", "operation 1,311 → 3, refused"),
        (worst(extreme(0), extreme(2), "worse", PROBES),
         "most probes of an allocation: 0 → 2 (+2), operation 1,311", "+2", "operation 1,311"),
        (worst(None, extreme(2), "not told", PROBES),
         "most probes of an allocation: not told by both", "+0", "–"),
        (worst(extreme(2), None, "not told", PROBES),
         "most probes of an allocation: not told by both", "+0", "–"),
    ],
)  # fmt: skip
def test_a_worst_case_in_a_sentence(one: Worst, sentence: str, change: str, place: str) -> None:
    assert (worst_sentence(one), by(one), where(one)) == (
        sentence.replace("−", MANY), change.replace("−", MANY), place,
    )  # fmt: skip


def test_numbers_have_their_signs_and_no_more_digits_than_mean_something() -> None:
    assert [value(number, "cycles") for number in (1234.4, -5.0)] == ["1,234", f"{MANY}5"]
    texts = [signed(number, "cycles") for number in (0, 3.0, -1234.0, 9.94, -9.94, 10.4, -10.6)]
    assert texts == ["+0", "+3", f"{MANY}1,234", "+9.9", f"{MANY}9.9", "+10", f"{MANY}11"]


MORE_PROBES = [replace(OPERATIONS[0], probes=4), *OPERATIONS[1:]]


@pytest.mark.parametrize(
    ("exact", "b", "sentence"),
    [
        (True, OPERATIONS, "equal to the cycle, 5 operations"),
        (False, OPERATIONS, "no difference beyond the budgets, 5 operations"),
        # The most probes are those of operation 1.
        (True, MORE_PROBES, "no worst case changed; 1 of 5 operations changed"),
        (False, MORE_PROBES, "no difference beyond the budgets in a worst case; 1 of 5 operations changed"),
    ],
)
def test_a_pair_in_a_sentence(tmp_path: Path, exact: bool, b: list[Operation], sentence: str) -> None:
    comparison = compare(write(tmp_path / "a", exact=exact), write(tmp_path / "b", b, exact=exact))
    assert overall(comparison) == sentence


OTHERS = (
    "The runs did not run the same operations, so no operation has its like in the other run: worst cases "
    "and distributions are compared, and no single operation."
)
SAME = "Firmware, operations and settings are the same"


@pytest.mark.parametrize(
    ("a", "b", "status", "notes"),
    [
        ({}, {}, "equal", []),
        ({}, {"operations": with_cycles({1: 9})}, "worse", [
            f"{SAME}, and a virtual board repeats itself: so the virtual board is another one, or what "
            "counts and decodes."
        ]),
        ({"exact": False}, {"exact": False, "operations": with_cycles({1: 99})}, "worse", [
            f"{SAME}: so the board or the bench differs, or chance does; `./lab twin` looks for a cause."
        ]),
        ({}, {"operations": with_cycles({1: 9}), "changes": {"seed": 7}}, "worse", []),
        ({}, {"changes": {"image_crc32": "1" * 8}}, "not worse", [OTHERS]),
        ({}, {"changes": {"samplerate_hz": 24_000_000}}, "equal", [
            "The runs were sampled at different rates, so the wire is compared within the error budgets."
        ]),
        ({}, {"operations": with_cycles({})[:2], "changes": {"image_crc32": "1" * 8}}, "not worse", [
            OTHERS,
            "Not compared, since run B has no sample of it: worst critical section of a free.",
            "Not compared, since run B has no sample of it: worst critical section of a free, by DWT.",
        ]),
    ],
)  # fmt: skip
def test_what_must_be_known_beside_the_figures(
    tmp_path: Path, a: dict[str, Any], b: dict[str, Any], status: str, notes: list[str]
) -> None:
    (comparison,) = compare(write(tmp_path / "a", **a), write(tmp_path / "b", **b)).compared
    assert (comparison.status, list(comparison.notes)) == (status, notes)
    assert remarks(comparison) == notes
    assert sentences.effects(comparison) == ([] if comparison.way == "exact" else [
        "Cliff's delta: the share of pairs in which B's sample is greater, less that in which A's is. Shift: "
        "the Hodges–Lehmann estimate of B less A. In brackets 95 % intervals."
    ])  # fmt: skip


def test_runs_that_cannot_be_believed_are_named_with_why(tmp_path: Path) -> None:
    good, cut = (
        write(tmp_path / "a"),
        write(tmp_path / "b", verdict="truncated", reasons=("It was cut.", "Twice.")),
    )
    comparison = compare(good, cut)
    assert overall(comparison) == f"{cut}: is truncated. It was cut. Twice."
    assert comparison.compared[0].doubts == (overall(comparison),)
    assert (
        sentences.described(comparison.compared[0].b.stored) == f"made, seglist, virtual: {cut} (truncated)"
    )
    blind = write(tmp_path / "c", exact=False, changes={"error_budget": {}})
    result = compare(good, blind)
    assert result.status == "cannot say"
    assert overall(result).startswith(
        "longest masked section of any operation: a run does not tell how wrong it may be; ./lab redecode it."
    )


def test_runs_without_a_like_are_listed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for number, name in enumerate(("20240102", "20240103", "20240104")):
        run = write(Path("a") / str(number))
        run.rename(Path("a") / run.name.replace("20250102", name))
        (Path("a") / str(number)).rmdir()
    write(Path("b"), scenario="other")
    comparison = compare(Path("a"), Path("b"))
    assert overall(comparison) == "No run of a has its like in b: there is nothing to compare."
    assert left_out(comparison) == [
        "Only in A: made, seglist, virtual: a/20240104T030405Z-made-seglist-virtual",
        "Only in B: other, seglist, virtual: b/20250102T030405Z-other-seglist-virtual",
        "Of A 2 older runs with the same options are not compared.",
    ]
    pairing = replace(comparison.pairing, only_a=(), only_b=(), older={"a": 0, "b": 1})
    unpaired = replace(comparison, pairing=pairing, unreadable=("x: is damaged.",))
    assert left_out(unpaired) == [
        "Of B 1 older run with the same options is not compared.",
        "Not compared: x: is damaged.",
    ]


def test_pairs_of_one_scenario_and_counts_of_several(tmp_path: Path) -> None:
    write(tmp_path / "a", allocator="seglist")
    write(tmp_path / "b", allocator="tlsf")
    comparison = compare(tmp_path / "a", tmp_path / "b")
    assert (
        remarks(comparison.compared[0])[0]
        == "Their options differ; each is the only run left of its scenario."
    )

    def counted(*states: str, unreadable: tuple[str, ...] = ()) -> str:
        compared: Any = [SimpleNamespace(status=state) for state in states]
        return overall(
            Comparison(comparison.a, comparison.b, comparison.pairing, tuple(compared), unreadable)
        )

    assert counted("equal", "equal") == "2 pairs of runs: 2 equal."
    assert counted("equal", "not worse", "cannot say", "worse", "equal") == (
        "5 pairs of runs: 1 worse, 1 cannot say, 1 not worse, 2 equal."
    )
    assert counted("worse", unreadable=("x", "y")) == "1 pair of runs: 1 worse; 2 runs could not be read."


MOVED = Moved(1_234, "A", 1_024, "depth 3", 2_933, 3_010)
FEWER = Moved(7, "K", 3, None, 90, 80)
CHANGED = Changed(Column("dwt_cycles", "x", "cycles"), 9, MOVED, MOVED, FEWER, 67.0, 5, MOVED, FEWER)
FOUND = Operations(5_000, 0, 0, 0, None, (), 0, (), ())


@pytest.mark.parametrize(
    ("found", "sentence"),
    [
        (FOUND, "Operations: the same 5,000 in both; 0 changed."),
        (
            replace(FOUND, changed=1_200, first=1_007, met_otherwise=1_003, only_a=1, only_b=2_000),
            "Operations: the same 5,000 in both; 1,200 changed, the first is 1,007; 1,003 of these were met "
            "by more or fewer interrupts than in A; 1 are only in A, 2,000 only in B.",
        ),
        (
            replace(FOUND, only_b=1),
            "Operations: the same 5,000 in both; 0 changed; 0 are only in A, 1 only in B.",
        ),
    ],
)
def test_the_operations_in_a_sentence(found: Operations, sentence: str) -> None:
    assert rows.operations_sentence(found) == sentence


def test_sections_that_as_many_interrupts_met_in_a_sentence() -> None:
    opening = "Critical sections met by as many interrupts in both: 5 changed"
    assert rows.sections_sentence(CHANGED) == (
        f"{opening}; most more: operation 1,234 (allocation of 1,024 bytes, depth 3), 2,933 → 3,010 cycles; "
        "most less: operation 7 (call), 90 → 80 cycles"
    )
    assert (
        rows.sections_sentence(replace(CHANGED, increase_met_alike=None, decrease_met_alike=None)) == opening
    )


BYTE = "The firmware is the same to the byte, so this is no change of the allocator"


def manifest(tmp_path: Path, **fields: Any) -> Manifest:
    return read_manifest(write(tmp_path, changes=fields) / "run.json")


FIRMWARE = {
    "elf_sha256": "ab" * 32,
    "kernel": "V11.2.0",
    "heap_bytes": 65_536,
    "core_hz": 84_000_000,
    "flash_acr": "00000702",
    "free_blocks_at_start": 1,
    "kernel_calls": False,
}


def test_every_setting_has_its_name(tmp_path: Path) -> None:
    assert settings(manifest(tmp_path, seed=7, parameters={"depth": 8}, knobs={"SLOTS": "8"})) == {
        "scenario": "made", "allocator": "seglist", "allocator's file sha256": None, "parameter depth": "8",
        "seed": "7", "stimulus": "periodic 5003, control 7919, parameter 0", "heap size": "65,536 bytes",
        "knob SLOTS": "8", "locking": "basepri", "FLASH_ACR": "00000702", "core clock": "84,000,000 Hz",
        "records": "uart", "board": "virtual", "board folder": "nucleo-f401re",
            "analyzer": "beaglelogic", "samplerate": "84,000,000 Hz",
        "imported file sha256": None, "kernel": "V11.2.0", "kernel's own calls": "not measured",
        "urgent task": "leaves the heap alone", "probes": "records",
        "firmware sha256": "ab" * 32, "virtual_nucleo": "0.1.0", "python": "3.11.7",
    }  # fmt: skip


def test_settings_that_differ_are_told_in_order_with_what_is_a_tool(tmp_path: Path) -> None:
    before = manifest(tmp_path / "a", tools={"virtual_nucleo": "0.1.0", "compiler": "12"})
    now = manifest(
        tmp_path / "b",
        firmware={**FIRMWARE, "kernel_calls": True},
        seed=7,
        tools={"virtual_nucleo": "0.1.0", "compiler": "13", "python": "3.12"},
    )
    assert changes(before, now) == (
        Change("seed", None, "7"),
        Change("kernel's own calls", "not measured", "measured"),
        Change("compiler", "12", "13"),
        Change("python", None, "3.12", tool=True),
    )
    assert [str(change) for change in changes(before, now)][:2] == [
        "seed (not told) → 7",
        "kernel's own calls not measured → measured",
    ]
    assert differing({"x": "1", "y": "2"}, {"z": "3", "x": "1"}, ("z",)) == (
        Change("y", "2", None),
        Change("z", None, "3", tool=True),
    )


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (None, "(not told)"),
        ("ab" * 32, "abababababab…"),
        ("AB" * 32, "AB" * 32),
        ("ab" * 31, "ab" * 31),
        ("7", "7"),
    ],
)
def test_of_a_digest_the_first_digits_are_shown(value: str | None, words: str) -> None:
    assert short(value) == words


@pytest.mark.parametrize(
    ("before", "now", "excuse"),
    [
        (("a", "12"), ("a", "13"), BYTE),
        (("a", "12"), ("b", "12"), ""),
        (("a", "12"), ("b", "13"),
         "The compiler changed, so this may be its work and is not put down to the allocator"),
    ],
)  # fmt: skip
def test_what_excuses_the_allocator(before: tuple[str, str], now: tuple[str, str], excuse: str) -> None:
    names = ("firmware sha256", "compiler")
    assert excuse_of(*(dict(zip(names, side, strict=True)) for side in (before, now))) == excuse
