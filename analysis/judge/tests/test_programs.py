"""What is within, longer, new, vanished, and what cannot be said."""

from __future__ import annotations

from dataclasses import replace

import pytest

from analysis.judge.checks import Cycles
from analysis.judge.limits import Allowance, parse_all
from analysis.judge.programs import judge
from analysis.judge.rows import Row
from analysis.judge.tests.made_programs import KINDS, baseline, checks, judgement, measured, row
from analysis.judge.tests.made_programs import report as judged

LOCK = row("lock", "primask", 100)
TICK = row("tick", "handler", 63)
OPEN = row("main", "primask", 9000, open=True)
# 300 cycles at 84 MHz take 3.6 us, 100 at 16 MHz 6.25 us; the first are more cycles.
CLOCKS = row("lock", "primask", 300, ns=300 / 0.084), LOCK
LEVELS = row("f", "basepri 0x50", 70), row("f", "basepri 0x20", 30)
# It delays tasks, and no interrupt.
SCHEDULER = row("suspend", "scheduler", 271)
# Pended at each tenth cycle, a wait of 100 cycles may have been one of 109.
STEPPED = row("isr", "handler", 100, step=10)
UNKNOWN = row("lock", "primask", 40, why_not="A loop is not limited.")
OTHER = row("other", "primask", 200)
POLLING = replace(measured(LOCK), polls="The program hangs in clocks.")
ENDED = measured(LOCK, refusal="The run ended early.")


@pytest.mark.parametrize(
    ("rows", "limits", "status"),
    [
        ([LOCK], "primask=100", 0),
        ([LOCK], "primask=99", 1),
        ([LOCK], "primask=99.5", 1),
        ([LOCK], "primask=6250ns", 0),
        ([LOCK], "primask=6.24us", 1),
        ([LOCK], "any=99", 1),
        ([LOCK], "primask:lock=99", 1),
        ([LOCK], "primask:other=1 any=100", 2),
        ([LOCK], "handler=1 primask=99", 1),
        (CLOCKS, "primask=6us", 1),
        (CLOCKS, "primask=6.25us", 0),
        (LEVELS, "basepri:f=60", 1),
        ([row("lock", "primask", 185), SCHEDULER], "any=185", 0),
        ([row("lock", "primask", 185), SCHEDULER], "any=184", 1),
        ([SCHEDULER], "any=300", 2),
        # A gate that a program passes that never came so far would be none.
        ([], "primask=1", 2),
        ([OPEN], "primask=8999", 1),
        ([STEPPED], "any=99", 1),
        ([STEPPED], "any=100", 2),
        ([STEPPED], "any=108", 2),
        ([STEPPED], "any=109", 0),
        ([UNKNOWN], "any=50", 2),
        ([UNKNOWN], "any=39", 1),
        ([UNKNOWN, OTHER], "any=199", 1),
        ([UNKNOWN, OTHER], "any:other=200", 0),
    ],
)
def test_a_limit_is_the_most_that_is_allowed(rows: list[Row], limits: str, status: int) -> None:
    words = dict(word.rsplit("=", 1) for word in limits.split())
    assert judged(measured(*rows), limits=words).exit_status == status


def test_a_limit_names_all_that_are_above_it() -> None:
    rows = [row(f"f{number:02}", "primask", 100 + number) for number in range(13)]
    (check,) = checks(judged(measured(*rows), limits={"primask": "100"}))
    assert check.now == rows[12]
    assert [line.partition(":")[0] for line in check.named] == [f"f{n:02}" for n in range(11, 1, -1)]
    assert check.more[10:] == ["and 1 more"]


@pytest.mark.parametrize(
    ("limit", "bits", "status"),
    [
        *((f"priority {number}", 4, 1) for number in ("5", "0x50", "80", "0X50")),
        ("priority 6", 4, 2),
        ("priority", 4, 1),
        ("priority 1", 2, 1),
        ("basepri 5", 4, 1),
        ("priority 0xc0", 4, 1),
    ],
)
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


@pytest.mark.parametrize(
    ("before", "now", "status", "finding"),
    [
        (100, LOCK, 0, "as good, equal"),
        (100, row("lock", "primask", 101), 1, "worse, longer"),
        (100, row("lock", "primask", 99), 0, "better, shorter"),
        (100, row("lock", "primask", 101, open=True), 1, "worse, longer"),
        (100, row("lock", "primask", 7, open=True), 0, "as good, equal"),
        (100, None, 2, "cannot say, vanished"),
        (None, LOCK, 1, "worse, new"),
        ("open", row("lock", "primask", 9000, open=True), 0, "as good, equal"),
        ("open", LOCK, 0, "better, shorter"),
        (100, UNKNOWN, 1, "worse, lost"),
        ("none", UNKNOWN, 0, "as good, equal"),
        ("none", LOCK, 0, "better, shorter"),
        ("none", None, 2, "cannot say, vanished"),
        (None, UNKNOWN, 1, "worse, new"),
        (91, row("lock", "primask", 100, step=10), 0, "as good, longer"),
        (90, row("lock", "primask", 100, step=10), 1, "worse, longer"),
    ],
)
def test_a_length_is_held_to_that_before(
    before: Cycles | None, now: Row | None, status: int, finding: str
) -> None:
    lengths: dict[tuple[str, str], Cycles] = {} if before is None else {("lock", "primask"): before}
    subject = measured(TICK, *([now] if now else []))
    report = judged(subject, baseline({("tick", "handler"): 63, **lengths}))
    assert report.exit_status == status
    others = {check.name: f"{check.state}, {check.finding}" for check in report.checks}
    assert others == {"tick: handler": "as good, equal", "lock: primask": finding}


@pytest.mark.parametrize(
    ("allow", "now", "status", "finding"),
    [
        *(("5%", 105, 0, "longer"), ("5%", 106, 1, "longer"), ("5", 105, 0, "longer")),
        *(("5 cycles", 106, 1, "longer"), ("0", 101, 1, "longer"), ("0.5%", 101, 1, "longer")),
        # Of nothing that was seen nobody can say that it is good.
        *(("5%,vanished", None, 2, "vanished"), ("5%,vanished", 106, 1, "longer")),
        ("1000", UNKNOWN, 1, "lost"),
    ],
)
def test_what_is_allowed_is_no_failure(allow: str, now: Row | int | None, status: int, finding: str) -> None:
    rows = [] if now is None else [row("lock", "primask", now) if isinstance(now, int) else now]
    report = judged(measured(*rows), baseline(LOCKED), allow=allow)
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


@pytest.mark.parametrize(
    ("limit", "there"),
    [
        ("primask:lokc", " Of primask there is: lock."),
        ("primask:zzz", " Of primask there is: lock, other."),
        ("basepri 0x60", " Of basepri there is: basepri 0x50, basepri 0x20."),
        ("handler:tick", ""),
    ],
)
def test_a_limit_of_what_is_not_there_says_what_is(limit: str, there: str) -> None:
    (check,) = checks(judged(measured(LOCK, OTHER, *LEVELS), limits={limit: "9"}))
    assert check.finding == "unseen" and check.sentence.partition(".")[2] == there


def test_a_program_that_polls_for_ever_passes_only_if_that_is_allowed() -> None:
    for limits, before in (({"any": "100"}, None), ({}, baseline(LOCKED))):
        assert judged(POLLING, before, limits).exit_status == 2
        assert judged(POLLING, before, limits, allow="polling").exit_status == 0


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
