"""What is within, longer, new, vanished, and what cannot be said."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from analysis.judge.limits import Allowance, parse_all
from analysis.judge.programs import judge, unjudged
from analysis.judge.rows import Cycles, Row
from analysis.judge.tests.made_programs import KINDS, baseline, checks, judgement, measured, row
from analysis.judge.tests.made_programs import report as judged
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
