"""What is within, longer, new, vanished, and what cannot be said."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from analysis.errors import GateError
from analysis.judge import limits as given_limits
from analysis.judge.limits import Allowance, parse_all
from analysis.judge.programs import judge, unjudged
from analysis.judge.rows import Cycles, Row
from analysis.judge.tests.made_programs import KINDS, baseline, checks, judgement, measured, row
from analysis.judge.tests.made_programs import report as judged
from tests.sentences import Sentences
from tests.tables import beside, table

ROWS = {name: row(**cells) for name, cells in beside(__file__)["rows"].items()}
LOCK, TICK, UNKNOWN, OTHER = (ROWS[name] for name in ("lock", "tick", "unknown", "other"))
LEVELS = ROWS["high"], ROWS["low"]
POLLING = replace(measured(LOCK), polls="The program hangs in clocks.")
ENDED = measured(LOCK, refusal="The run ended early.")


@table
def test_a_limit_is_the_most_that_is_allowed(rows: tuple[str, ...], limits: str, status: int) -> None:
    words = dict(word.rsplit("=", 1) for word in limits.split())
    assert judged(measured(*(ROWS[name] for name in rows)), limits=words).exit_status == status


def test_a_limit_names_all_that_are_above_it() -> None:
    rows = [row(f"f{number:02}", "primask", 100 + number) for number in range(13)]
    (check,) = checks(judged(measured(*rows), limits={"primask": "100"}))
    assert check.now == rows[12]
    assert [line.partition(":")[0] for line in check.named] == [f"f{n:02}" for n in range(11, 1, -1)]
    assert check.more[10:] == ["and 1 more"]


@table
def test_a_priority_is_named_as_people_write_it(limit: str, bits: int, status: int) -> None:
    """5 of an NVIC with 4 bits is the byte 0x50, and 1 of one with 2 bits is 0x40."""
    together = (
        row("f", "priority 0x50", 70),
        row("f", "priority 0x40", 70),
        replace(row("f", "priority 0xc0", 90), named_only=True),
    )
    subject = replace(measured(row("f", "basepri 0x50", 70)), together=together)
    limits = parse_all({limit: "69"}, (*KINDS, "priority"), bits)
    assert judge(subject, limits, None, Allowance()).exit_status == status


LOCKED: dict[tuple[str, str], Cycles] = {("lock", "primask"): 100}


def of_lock(now: dict[str, Any] | None) -> list[Row]:
    return [row("lock", "primask", **now)] if now else []


@table
def test_a_length_is_held_to_that_before(
    before: Cycles | None, now: dict[str, Any] | None, status: int, finding: str
) -> None:
    lengths: dict[tuple[str, str], Cycles] = {} if before is None else {("lock", "primask"): before}
    subject = measured(TICK, *of_lock(now))
    report = judged(subject, baseline({("tick", "handler"): 63, **lengths}))
    assert report.exit_status == status
    others = {check.name: f"{check.state}, {check.finding}" for check in report.checks}
    assert others == {"tick: handler": "as good, equal", "lock: primask": finding}


@table
def test_what_is_allowed_is_no_failure(
    allow: str, status: int, finding: str, now: dict[str, Any] | None
) -> None:
    report = judged(measured(*of_lock(now)), baseline(LOCKED), allow=allow)
    assert (report.exit_status, report.checks[0].finding) == (status, finding)


def test_of_what_is_new_a_share_is_nothing() -> None:
    assert judged(measured(LOCK), baseline({}), allow="900%").exit_status == 1
    assert judged(measured(LOCK), baseline({}), allow="100").exit_status == 0


def test_an_allowance_is_none_of_a_limit_but_of_what_vanished() -> None:
    assert judged(measured(LOCK), baseline(LOCKED), {"primask": "99"}, allow="50%").exit_status == 1
    report = judged(measured(LOCK), limits={"primask": "100", "handler": "1"}, allow="vanished")
    assert (report.exit_status, report.checks[1].state) == (0, "not judged")
    report = judged(measured(LOCK), limits={"handler": "1"}, allow="vanished")
    assert (report.exit_status, report.checks[0].state) == (2, "not judged")


@table
def test_a_limit_of_what_is_not_there_says_what_is(limit: str, there: str) -> None:
    (check,) = checks(judged(measured(LOCK, OTHER, *LEVELS), limits={limit: "9"}))
    assert check.finding == "unseen" and check.sentence.partition(".")[2] == there


def test_a_program_that_polls_for_ever_passes_only_if_that_is_allowed() -> None:
    for limits, before in (({"any": "100"}, None), ({}, baseline(LOCKED))):
        assert judged(POLLING, before, limits).exit_status == 2
        assert judged(POLLING, before, limits, allow="polling").exit_status == 0
    assert [unjudged(subject).exit_status for subject in (POLLING, ENDED, measured(LOCK))] == [2, 2, 0]


def test_a_run_that_ended_early_is_worse_or_nobody_can_say() -> None:
    """What it did not reach may have vanished, or not."""
    assert judged(ENDED, limits={"primask": "100"}).exit_status == 2
    assert judged(ENDED, limits={"primask": "99"}).exit_status == 1
    assert judged(ENDED, baseline({**LOCKED, ("tick", "handler"): 63})).exit_status == 2
    report = judged(ENDED, baseline({("lock", "primask"): 90, ("tick", "handler"): 63}))
    assert (report.exit_status, [check.finding for check in report.checks]) == (1, ["longer"])


def test_other_settings_are_not_compared() -> None:
    report = judged(measured(LOCK, until="10ms"), baseline(LOCKED))
    assert (report.exit_status, report.checks) == (2, [])
    assert "until 5ms → 10ms" in judgement(report).refusal


def test_the_greatest_of_a_kind_is_the_one_that_nobody_knows() -> None:
    (longest,) = measured(UNKNOWN, LOCK).rows
    assert longest.why_not


@table
def test_a_limit_is_read(word: str, kind: str, function: str, value: float, in_ns: bool) -> None:
    kinds = (*KINDS, "main.c:12..main.c:14", "TIM3")
    (limit,) = given_limits.parse_all(given_limits.parse_words([word], kinds), kinds)
    assert (limit.kind, limit.function, limit.value, limit.unit == "ns") == (kind, function, value, in_ns)


def test_what_is_no_limit_is_refused_in_a_sentence(sentences: Sentences) -> None:
    for words in (
        *(["primask"], ["=5"], ["primask="], ["primask=-5"], ["primask=5s"], ["primsk=5"], ["primask=nan"]),
        *(["basepri 0x6O=5"], ["basepri 999=5"], ["primask=1e999us"]),
        ["primask=5", "primask=6"],
    ):
        with sentences.raised(GateError):
            given_limits.parse_words(words, KINDS)


@table
def test_a_limit_given_comes_before_the_same_in_another_spelling(name: str, bits: int) -> None:
    before = {"primask": "3", f"basepri {'0x60' if bits == 4 else '0x40'}": "100", "basepri 0x70": "5"}
    words = given_limits.override(before, {name: "5000"}, KINDS, bits)
    assert words == {"primask": "3", "basepri 0x70": "5", name: "5000"}


def test_what_is_read_off_the_wire_has_no_limit_in_cycles() -> None:
    kinds = ("allocate", "task")
    assert given_limits.parse_words(["allocate=9cycles"], kinds, timed=["task"]) == {"allocate": "9cycles"}
    with pytest.raises(GateError, match="A limit of task is a time"):
        given_limits.parse_words(["task=5cycles"], kinds, timed=["task"])


@pytest.mark.parametrize("text", ["", "5 %", "-5", "x", "5%%", "nan", "1e3"])
def test_what_is_no_allowance_is_none(text: str) -> None:
    assert given_limits.parse_allowance(text) is None
