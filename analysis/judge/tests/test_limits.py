"""The words of --limit and --allow."""

from __future__ import annotations

import pytest

from analysis.errors import GateError
from analysis.judge import limits
from analysis.judge.tests.made_programs import KINDS
from tests.sentences import Sentences
from tests.tables import table


@table
def test_a_limit_is_read(word: str, kind: str, function: str, value: float, in_ns: bool) -> None:
    kinds = (*KINDS, "main.c:12..main.c:14", "TIM3")
    (limit,) = limits.parse_all(limits.parse_words([word], kinds), kinds)
    assert (limit.kind, limit.function, limit.value, limit.unit == "ns") == (kind, function, value, in_ns)


def test_what_is_no_limit_is_refused_in_a_sentence(sentences: Sentences) -> None:
    for words in (
        *(["primask"], ["=5"], ["primask="], ["primask=-5"], ["primask=5s"], ["primsk=5"], ["primask=nan"]),
        *(["basepri 0x6O=5"], ["basepri 999=5"], ["primask=1e999us"]),
        ["primask=5", "primask=6"],
    ):
        with sentences.raised(GateError):
            limits.parse_words(words, KINDS)


@table
def test_a_limit_given_comes_before_the_same_in_another_spelling(name: str, bits: int) -> None:
    before = {"primask": "3", f"basepri {'0x60' if bits == 4 else '0x40'}": "100", "basepri 0x70": "5"}
    words = limits.override(before, {name: "5000"}, KINDS, bits)
    assert words == {"primask": "3", "basepri 0x70": "5", name: "5000"}


def test_what_is_read_off_the_wire_has_no_limit_in_cycles() -> None:
    kinds = ("allocate", "task")
    assert limits.parse_words(["allocate=9cycles"], kinds, timed=["task"]) == {"allocate": "9cycles"}
    with pytest.raises(GateError, match="A limit of task is a time"):
        limits.parse_words(["task=5cycles"], kinds, timed=["task"])


@pytest.mark.parametrize("text", ["", "5 %", "-5", "x", "5%%", "nan", "1e3"])
def test_what_is_no_allowance_is_none(text: str) -> None:
    assert limits.parse_allowance(text) is None
