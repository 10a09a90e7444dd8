"""Whole sentences of comparisons, of worst cases and pairs that are written by hand."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from analysis.compare import rows
from analysis.compare import sentences as words
from analysis.compare.compared import Comparison, compare
from analysis.compare.operations import Changed, Column, Moved, Operations
from analysis.compare.sentences import by, left_out, overall, remarks, where, worst_sentence
from analysis.compare.settings import Change, changes, differing, excuse_of, settings, short
from analysis.compare.tests.made import FIRMWARE, OPERATIONS, with_cycles, write
from analysis.compare.values import short as value
from analysis.compare.values import signed
from analysis.compare.worst import Extreme, Finding, Worst
from base.run_folder.manifest import Manifest, read_manifest
from base.run_folder.quantities import LATENCY, PROBES
from tests.sentences import Sentences


def extreme(value: float, seq: int | None = 1_311, kind: str | None = "A") -> Extreme:
    return Extreme(value, seq, kind, None, None, 1)


def worst(a: Extreme | None, b: Extreme | None, finding: Finding, quantity: Any = LATENCY) -> Worst:
    return Worst(quantity, a, b, 47.8, finding)


def test_a_worst_case_in_a_sentence(sentences: Sentences) -> None:
    for case in (
        worst(extreme(35_798.4), extreme(34_917.3), "better"),
        worst(extreme(1000.0), extreme(1000.0), "equal"),
        worst(extreme(1000.0, 2), extreme(1004.5, None), "within the budgets"),
        worst(extreme(1e6), extreme(1e6 + 500, 3, "O"), "chance"),
        worst(extreme(0), extreme(2), "worse", PROBES),
        worst(None, extreme(2), "not told", PROBES),
        worst(extreme(2), None, "not told", PROBES),
    ):
        sentences.hold("; ".join((worst_sentence(case), by(case), where(case))))


def test_numbers_have_their_signs_and_no_more_digits_than_mean_something() -> None:
    assert [value(number, "cycles") for number in (1234.4, -5.0)] == ["1,234", "\N{MINUS SIGN}5"]
    texts = [signed(number, "cycles") for number in (0, 3.0, -1234.0, 9.94, -9.94, 10.4, -10.6)]
    plain = [text.replace("\N{MINUS SIGN}", "-") for text in texts]
    assert plain == ["+0", "+3", "-1,234", "+9.9", "-9.9", "+10", "-11"]


MORE_PROBES = [replace(OPERATIONS[0], probes=4), *OPERATIONS[1:]]
"""The most probes are those of operation 1."""
OTHERS = {"image_crc32": "1" * 8}


@pytest.mark.parametrize(
    ("a", "b", "status"),
    [
        ({}, {}, "equal"),
        ({"exact": False}, {"exact": False}, "equal"),
        ({}, {"operations": MORE_PROBES}, "not worse"),
        ({"exact": False}, {"exact": False, "operations": MORE_PROBES}, "not worse"),
        ({}, {"operations": with_cycles({1: 9})}, "worse"),
        ({}, {"operations": with_cycles({1: -40})}, "not worse"),
        ({"exact": False}, {"exact": False, "operations": with_cycles({1: 99})}, "worse"),
        ({}, {"operations": with_cycles({1: 9}), "changes": {"seed": 7}}, "worse"),
        ({}, {"changes": OTHERS}, "not worse"),
        ({}, {"changes": {"samplerate_hz": 24_000_000}}, "equal"),
        ({}, {"operations": with_cycles({})[:2], "changes": OTHERS}, "not worse"),
    ],
)
def test_a_pair_in_a_sentence_and_what_must_be_known_beside_it(
    tmp_path: Path, a: dict[str, Any], b: dict[str, Any], status: str, sentences: Sentences
) -> None:
    comparison = compare(write(tmp_path / "a", **a), write(tmp_path / "b", **b))
    (pair,) = comparison.compared
    assert pair.status == status
    assert remarks(pair) == list(pair.notes)
    assert len(words.effects(pair)) == (pair.way == "budgets")
    for sentence in (overall(comparison), *pair.notes, *words.effects(pair)):
        sentences.hold(sentence)


def test_runs_that_cannot_be_believed_are_named_with_why(tmp_path: Path, sentences: Sentences) -> None:
    good, cut = (
        write(tmp_path / "a"),
        write(tmp_path / "b", verdict="truncated", reasons=("It was cut.", "Twice.")),
    )
    comparison = compare(good, cut)
    assert comparison.compared[0].doubts == (overall(comparison),)
    blind = compare(good, write(tmp_path / "c", exact=False, changes={"error_budget": {}}))
    assert comparison.status == blind.status == "cannot say"
    for sentence in (overall(comparison), words.described(comparison.compared[0].b.stored), overall(blind)):
        sentences.hold(sentence)


def test_runs_without_a_like_are_listed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, sentences: Sentences
) -> None:
    monkeypatch.chdir(tmp_path)
    for number, name in enumerate(("20240102", "20240103", "20240104")):
        run = write(Path("a") / str(number))
        run.rename(Path("a") / run.name.replace("20250102", name))
        (Path("a") / str(number)).rmdir()
    write(Path("b"), scenario="other")
    comparison = compare(Path("a"), Path("b"))
    assert comparison.status == "cannot say"
    pairing = replace(comparison.pairing, only_a=(), only_b=(), older={"a": 0, "b": 1})
    unpaired = replace(comparison, pairing=pairing, unreadable=("x: is damaged.",))
    for sentence in (overall(comparison), *left_out(comparison), *left_out(unpaired)):
        sentences.hold(sentence)


def test_pairs_of_one_scenario_and_counts_of_several(tmp_path: Path, sentences: Sentences) -> None:
    write(tmp_path / "a" / "runs", allocator="seglist")
    write(tmp_path / "b" / "runs", allocator="tlsf")
    comparison = compare(tmp_path / "a", tmp_path / "b")
    assert [pair.pair.by for pair in comparison.compared] == ["scenario"]
    sentences.hold(remarks(comparison.compared[0])[0])

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
SAME = Operations(5_000, 0, 0, 0, None, (), 0, (), ())


def test_the_operations_in_a_sentence(sentences: Sentences) -> None:
    for more in ({}, {"changed": 1_200, "first": 1_007, "met_otherwise": 1_003, "only_a": 1, "only_b": 2_000},
                 {"only_b": 1}):  # fmt: skip
        sentences.hold(rows.operations_sentence(replace(SAME, **more)))  # type: ignore[arg-type]
    sentences.hold(rows.sections_sentence(CHANGED))
    sentences.hold(rows.sections_sentence(replace(CHANGED, increase_met_alike=None, decrease_met_alike=None)))


BYTE = "The firmware is the same to the byte, so this is no change of the allocator"


def manifest(tmp_path: Path, **fields: Any) -> Manifest:
    return read_manifest(write(tmp_path, changes=fields) / "run.json")


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


def test_of_a_digest_the_first_digits_are_shown() -> None:
    assert short(None) == "(not told)" and short("ab" * 32) == "abababababab…"
    assert short("0123456789abcdef" * 4) == "0123456789ab…"
    for text in ("AB" * 32, "ab" * 31, "7"):
        assert short(text) == text


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
