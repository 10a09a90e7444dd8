"""What is within, longer, new, vanished, and what cannot be said."""

from __future__ import annotations

from dataclasses import replace

import pytest

from analysis.judge.checks import Cycles, Report
from analysis.judge.limits import Allowance, parse_all
from analysis.judge.programs import judge
from analysis.judge.rows import Row
from analysis.judge.tests.made_programs import KINDS, baseline, checks, judgement, measured, row
from analysis.judge.tests.made_programs import report as judged

LOCK = row("lock", "primask", 100)


def findings(report: Report) -> dict[str, tuple[str, str]]:
    return {check.name: (check.state, check.finding) for check in report.checks}


@pytest.mark.parametrize(
    ("limit", "status"),
    [
        ({"primask": "100"}, 0),
        ({"primask": "99"}, 1),
        ({"primask": "99.5"}, 1),
        ({"primask": "6250ns"}, 0),
        ({"primask": "6.24us"}, 1),
        ({"any": "99"}, 1),
        ({"primask:lock": "99"}, 1),
        ({"primask:other": "1", "any": "100"}, 2),
        ({"handler": "1", "primask": "100"}, 2),
        ({"handler": "1", "primask": "99"}, 1),
    ],
)
def test_a_limit_is_the_most_that_is_allowed(limit: dict[str, str], status: int) -> None:
    assert judged(measured(LOCK), limits=limit).exit_status == status


def test_a_limit_in_time_sees_what_took_longest_at_a_slow_clock() -> None:
    """300 cycles at 84 MHz take 3.6 us, 100 at 16 MHz 6.25 us; the first are more cycles."""
    rows = row("lock", "primask", 300, ns=300 / 0.084), row("lock", "primask", 100)
    assert judged(measured(*rows), limits={"primask": "6us"}).exit_status == 1
    assert judged(measured(*rows), limits={"primask": "6.25us"}).exit_status == 0


def test_a_limit_names_all_that_are_above_it() -> None:
    rows = [row(f"f{number:02}", "primask", 100 + number) for number in range(13)]
    (check,) = checks(judged(measured(*rows), limits={"primask": "100"}))
    assert check.now == rows[12]
    assert [line.partition(":")[0] for line in check.named] == [f"f{n:02}" for n in range(11, 1, -1)]
    assert check.more[10:] == ["and 1 more"]


def test_a_level_is_held_by_its_kind_too() -> None:
    rows = row("f", "basepri 0x50", 70), row("f", "basepri 0x20", 30)
    report = judged(measured(*rows), limits={"basepri 0x20": "30", "basepri": "60"})
    assert [check.state for check in report.checks] == ["as good", "worse"]


def test_limits_of_nothing_that_was_seen_say_nothing() -> None:
    """A gate that a program passes that never came so far would be none."""
    report = judged(measured(), limits={"primask": "1"})
    assert (report.exit_status, report.checks[0].state) == (2, "cannot say")
    report = judged(measured(LOCK), limits={"primask": "100", "handler": "1"}, allow="vanished")
    assert (report.exit_status, report.checks[1].state) == (0, "not judged")


def test_a_program_that_polls_for_ever_passes_only_if_that_is_allowed() -> None:
    polling = replace(measured(LOCK), polls="The program hangs in clocks.")
    for limits, before in (({"any": "100"}, None), ({}, baseline({("lock", "primask"): 100}))):
        assert judged(polling, before, limits).exit_status == 2
        assert judged(polling, before, limits, allow="polling").exit_status == 0


def test_a_locked_scheduler_is_none_of_any() -> None:
    """It delays tasks, and no interrupt."""
    rows = row("lock", "primask", 185), row("suspend", "scheduler", 271)
    assert judged(measured(*rows), limits={"any": "185"}).exit_status == 0
    assert judged(measured(*rows), limits={"any": "184"}).exit_status == 1
    assert judged(measured(rows[1]), limits={"any": "300"}).exit_status == 2


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


def test_a_priority_that_no_interrupt_has_is_held_by_its_own_name_only() -> None:
    unused = replace(row("f", "priority 0xc0", 90), named_only=True)
    subject = replace(measured(), together=(row("f", "priority 0x50", 70), unused))
    assert judge(subject, parse_all({"priority": "70"}, ("priority",)), None, Allowance()).exit_status == 0
    assert judge(subject, parse_all({"priority 12": "70"}, ("priority",)), None, Allowance()).exit_status == 1


BEFORE: dict[tuple[str, str], Cycles] = {("lock", "primask"): 100, ("tick", "handler"): 63}


@pytest.mark.parametrize(
    ("now", "status", "finding"),
    [
        ([row("lock", "primask", 100)], 0, ("as good", "equal")),
        ([row("lock", "primask", 101)], 1, ("worse", "longer")),
        ([row("lock", "primask", 99)], 0, ("better", "shorter")),
        ([row("lock", "primask", 101, open=True)], 1, ("worse", "longer")),
        ([row("lock", "primask", 7, open=True)], 0, ("as good", "equal")),
        ([], 2, ("cannot say", "vanished")),
    ],
)
def test_a_length_is_held_to_that_before(now: list[Row], status: int, finding: tuple[str, str]) -> None:
    report = judged(measured(row("tick", "handler", 63), *now), baseline(BEFORE))
    assert report.exit_status == status
    assert findings(report) == {"tick: handler": ("as good", "equal"), "lock: primask": finding}


def test_what_is_new_is_worse() -> None:
    report = judged(measured(LOCK), baseline({}))
    assert (report.exit_status, findings(report)) == (1, {"lock: primask": ("worse", "new")})


def test_what_vanished_passes_if_that_is_allowed() -> None:
    before = baseline({("lock", "primask"): 100, ("tick", "handler"): 63})
    report = judged(measured(LOCK), before, allow="5%,vanished")
    assert (report.exit_status, findings(report)["tick: handler"]) == (0, ("not judged", "vanished"))
    assert judged(measured(row("lock", "primask", 106)), before, allow="5%,vanished").exit_status == 1


@pytest.mark.parametrize(
    ("allow", "cycles", "status"),
    [("5%", 105, 0), ("5%", 106, 1), ("5", 105, 0), ("5 cycles", 106, 1), ("0", 101, 1), ("0.5%", 101, 1)],
)
def test_what_is_allowed_is_no_failure(allow: str, cycles: int, status: int) -> None:
    now = measured(row("lock", "primask", cycles))
    report = judged(now, baseline({("lock", "primask"): 100}), allow=allow)
    assert (report.exit_status, report.checks[0].finding) == (status, "longer")
    assert f"100 → {cycles} cycles" in report.checks[0].sentence


def test_of_what_is_new_a_share_is_nothing() -> None:
    assert judged(measured(LOCK), baseline({}), allow="900%").exit_status == 1
    assert judged(measured(LOCK), baseline({}), allow="100").exit_status == 0


def test_an_allowance_is_none_of_a_limit() -> None:
    report = judged(measured(LOCK), baseline(BEFORE), {"primask": "99"}, allow="50%")
    assert report.exit_status == 1


def test_what_never_ends_may_go_on_so() -> None:
    before = baseline({("main", "primask"): "open"})
    assert judged(measured(row("main", "primask", 9000, open=True)), before).exit_status == 0
    assert findings(judged(measured(row("main", "primask", 9000)), before)) == {
        "main: primask": ("better", "shorter")
    }


def test_what_never_ends_breaks_a_limit_once_it_is_longer() -> None:
    subject = measured(row("main", "primask", 9000, open=True))
    assert judged(subject, limits={"primask": "8999"}).exit_status == 1
    assert "at least 9,000 cycles" in judged(subject, limits={"primask": "8999"}).checks[0].sentence


def test_between_two_pends_nobody_knows() -> None:
    """Pended at each tenth cycle, a wait of 100 cycles may have been one of 109."""
    subject = measured(row("isr", "handler", 100, step=10))
    status = {
        limit: judged(subject, limits={"any": limit}).exit_status for limit in ("99", "100", "108", "109")
    }
    assert status == {"99": 1, "100": 2, "108": 2, "109": 0}
    before = {cycles: baseline({("isr", "handler"): cycles}) for cycles in (91, 90)}
    assert judged(subject, before[91]).exit_status == 0
    assert judged(subject, before[90]).exit_status == 1


def test_a_run_that_ended_early_is_worse_or_nobody_can_say() -> None:
    """What it did not reach may have vanished, or not."""
    ended = measured(LOCK, refusal="The run ended early.")
    assert judged(ended, limits={"primask": "100"}).exit_status == 2
    assert judged(ended, limits={"primask": "99"}).exit_status == 1
    assert judged(ended, baseline(BEFORE)).exit_status == 2
    report = judged(ended, baseline({("lock", "primask"): 90, ("tick", "handler"): 63}))
    assert (report.exit_status, findings(report)) == (1, {"lock: primask": ("worse", "longer")})


def test_other_settings_are_not_compared() -> None:
    report = judged(measured(LOCK, until="10ms"), baseline(BEFORE))
    assert (report.exit_status, report.checks) == (2, [])
    assert "until 5ms → 10ms" in judgement(report).refusal


def test_another_version_is_named_where_cycles_differ() -> None:
    other = judged(measured(LOCK), baseline({("lock", "primask"): 90}, version="0"))
    assert [(change.a, change.b) for change in judgement(other).changes] == [("0", "1")]
    same = judged(measured(LOCK), baseline({("lock", "primask"): 100}, version="0"))
    assert not judgement(same).changes


UNKNOWN = row("lock", "primask", 40, why_not="A loop is not limited.")


def test_what_lost_its_bound_is_worse_and_no_amount_excuses_it() -> None:
    before = baseline({("lock", "primask"): 100})
    report = judged(measured(UNKNOWN), before, allow="1000")
    assert findings(report) == {"lock: primask": ("worse", "lost")}
    assert "It had a bound of 100 cycles" in report.checks[0].sentence
    assert "A loop is not limited." in report.checks[0].sentence


def test_what_has_no_bound_is_as_good_as_before_only_if_it_had_none() -> None:
    none = baseline({("lock", "primask"): "none"})
    assert findings(judged(measured(UNKNOWN), none)) == {"lock: primask": ("as good", "equal")}
    assert findings(judged(measured(LOCK), none)) == {"lock: primask": ("better", "shorter")}
    assert findings(judged(measured(), none)) == {"lock: primask": ("cannot say", "vanished")}
    assert findings(judged(measured(UNKNOWN), baseline({}))) == {"lock: primask": ("worse", "new")}


def test_the_greatest_of_a_kind_is_the_one_that_nobody_knows() -> None:
    (longest,) = measured(UNKNOWN, LOCK).rows
    assert longest.why_not


def test_a_limit_cannot_be_said_to_hold_what_has_no_bound() -> None:
    other = row("other", "primask", 200)
    assert judged(measured(UNKNOWN), limits={"any": "50"}).exit_status == 2
    assert judged(measured(UNKNOWN), limits={"any": "39"}).exit_status == 1
    assert judged(measured(UNKNOWN, other), limits={"any": "199"}).exit_status == 1
    assert judged(measured(UNKNOWN, other), limits={"any:other": "200"}).exit_status == 0
