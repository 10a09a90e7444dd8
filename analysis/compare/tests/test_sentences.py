"""Whole sentences of comparisons, of worst cases and pairs that are written by hand."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from analysis.compare import sentences as words
from analysis.compare.compared import compare
from analysis.compare.sentences import overall, remarks
from analysis.compare.tests.made import with_cycles, write
from analysis.compare.values import short as value
from analysis.compare.values import signed
from analysis.compare.worst import Extreme, Finding, Worst
from base.run_folder.manifest import Manifest, read_manifest
from base.run_folder.quantities import LATENCY
from tests.sentences import Sentences
from tests.tables import table


def worst(a: Extreme | None, b: Extreme | None, finding: Finding, quantity: Any = LATENCY) -> Worst:
    return Worst(quantity, a, b, 47.8, finding)


def test_numbers_have_their_signs_and_no_more_digits_than_mean_something() -> None:
    assert [value(number, "cycles") for number in (1234.4, -5.0)] == ["1,234", "\N{MINUS SIGN}5"]
    texts = [signed(number, "cycles") for number in (0, 3.0, -1234.0, 9.94, -9.94, 10.4, -10.6)]
    plain = [text.replace("\N{MINUS SIGN}", "-") for text in texts]
    assert plain == ["+0", "+3", "-1,234", "+9.9", "-9.9", "+10", "-11"]


@table
def test_a_pair_in_a_sentence_and_what_must_be_known_beside_it(
    tmp_path: Path,
    exact: bool,
    probes: int,
    cycles: int,
    b: dict[str, Any],
    status: str,
    n: int | None,
    sentences: Sentences,
) -> None:
    first, *rest = with_cycles({1: cycles})
    operations = [replace(first, probes=first.probes + probes), *rest]
    comparison = compare(
        write(tmp_path / "a", exact=exact), write(tmp_path / "b", operations[:n], exact=exact, changes=b)
    )
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


def manifest(tmp_path: Path, **fields: object) -> Manifest:
    return read_manifest(write(tmp_path, changes=fields) / "run.json")
