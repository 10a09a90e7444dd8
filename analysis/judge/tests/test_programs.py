"""What is within, longer, new, vanished, and what cannot be said."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any
from xml.etree import ElementTree

import pytest
from markdown_it import MarkdownIt

from analysis.compare.settings import Change
from analysis.errors import GateError
from analysis.judge import limits as given_limits
from analysis.judge import render
from analysis.judge.limits import Allowance, parse, read_words
from analysis.judge.programs import judge
from analysis.judge.rows import Check, Cycles, Judgement, Report, Row, State
from analysis.judge.tests.made_programs import KINDS, baseline, checks, judgement, measured, report, row
from analysis.judge.tests.made_programs import report as judged
from tests.sentences import Sentences
from tests.tables import beside, table

ROWS = {name: row(**cells) for name, cells in beside(__file__)["rows"].items()}
LOCK, TICK, UNKNOWN = (ROWS[name] for name in ("lock", "tick", "unknown"))
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
    assert [line.partition(":")[0] for line in check.more[:10]] == [f"f{n:02}" for n in range(11, 1, -1)]
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
    limits = parse({limit: "69"}, (*KINDS, "priority"), bits)
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


def test_a_program_that_polls_for_ever_passes_only_if_that_is_allowed() -> None:
    for limits, before in (({"any": "100"}, None), ({}, baseline(LOCKED))):
        assert judged(POLLING, before, limits).exit_status == 2
        assert judged(POLLING, before, limits, allow="polling").exit_status == 0
    assert [
        judge(subject, (), None, Allowance()).exit_status for subject in (POLLING, ENDED, measured(LOCK))
    ] == [2, 2, 0]


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
    (limit,) = parse(read_words([word], kinds), kinds)
    assert (limit.kind, limit.function, limit.value, limit.unit == "ns") == (kind, function, value, in_ns)


def test_what_is_no_limit_is_refused_in_a_sentence(sentences: Sentences) -> None:
    for words in (
        *(["primask"], ["=5"], ["primask="], ["primask=-5"], ["primask=5min"], ["primsk=5"], ["primask=nan"]),
        *(["basepri 0x6O=5"], ["basepri 999=5"], ["primask=1e999us"]),
        ["primask=5", "primask=6"],
    ):
        with sentences.raised(GateError):
            parse(read_words(words, KINDS), KINDS)


@table
def test_a_limit_given_comes_before_the_same_in_another_spelling(name: str, bits: int) -> None:
    before = {"primask": "3", f"basepri {'0x60' if bits == 4 else '0x40'}": "100", "basepri 0x70": "5"}
    limits = parse({**before, name: "5000"}, KINDS, bits)
    texts = {limit.kind: limit.text for limit in limits}
    assert sorted(texts.values()) == ["3", "5", "5000"]


def test_what_is_read_off_the_wire_has_no_limit_in_cycles() -> None:
    kinds = ("allocate", "task")
    assert parse({"allocate": "9cycles"}, kinds, timed=["task"])
    with pytest.raises(GateError, match="A limit of task is a time"):
        parse({"task": "5cycles"}, kinds, timed=["task"])


@pytest.mark.parametrize("text", ["", "5 %", "-5", "x", "5%%", "nan", "1e3"])
def test_what_is_no_allowance_is_none(text: str) -> None:
    assert given_limits.parse_allowance(text) is None


# A report for each medium: a snapshot of the text, and the others read by other parsers.


DIGESTS = ("ab" * 32, "cd" * 32)
WORSE = Judgement(
    "made on seglist, board virtual",
    (
        Check("outcomes", "as good", "All 5 operations end as before."),
        Check("cycles", "worse", "3 take longer.",
              ("operation 1: 5 → 6 cycles", *["operation 2: 5 → 7 cycles"] * 1_009)),
        Check("probes", "not judged", "Probes are not counted in both."),
        Check("interrupt", "better", "It is shorter."),
    ),
    folders=("runs/a", "runs/b"),
    changes=(Change("firmware sha256", *DIGESTS), Change("compiler", "12", None)),
    notes=("Update it.",),
)  # fmt: skip
REFUSED = Judgement(
    "c", (Check("limit free", "cannot say", "No <budget>."),), "runs/c: is truncated | so.", ("runs/c",)
)
GOOD = Judgement("d*", (Check("outcomes", "as good", "All end\nas `before`."),), folders=("runs/d",))
RUNS = Report("gate", "b.toml", (WORSE, REFUSED, GOOD), ("No run was given for 1 entry.",))

FOUND = measured(
    row("lock", "primask", 120),
    row("a|b<c>", "handler", 7),
    row("same", "handler", 5),
    row("m", "x", 1, open=True),
)
BEFORE = baseline(
    {("lock", "primask"): 100, ("same", "handler"): 5, ("gone", "handler"): 3, ("m", "x"): "open"}
)
PROGRAM = report(FOUND, BEFORE, {"primask": "119", "handler": "7"})


def test_the_text_has_each_subject_and_the_verdict_last(sentences: Sentences) -> None:
    for each in (RUNS, PROGRAM):
        sentences.hold(render.as_text(each))


@table
def test_the_verdict_in_a_line(runs: dict[State, int], status: int, words: str, baseline: str | None) -> None:
    states = [state for state, count in runs.items() for _ in range(count)]
    judged = Report(
        "gate", baseline, tuple(Judgement("a", (Check("cycles", state, "…"),)) for state in states)
    )
    assert (judged.exit_status, judged.verdict) == (status, words)


def test_a_page_has_checks_and_rows_and_details_as_code(sentences: Sentences) -> None:
    """Read by another parser, too: what names are made of does not break a table."""
    for each in (RUNS, PROGRAM):
        sentences.hold(render.as_markdown(each))
    page = MarkdownIt("commonmark").enable("table").render(render.as_markdown(PROGRAM))
    assert (page.count("<tbody>"), page.count("<tr>")) == (2, 2 + 5 + len(FOUND.rows))


def cases(judged: Report) -> dict[tuple[str | None, str | None], str]:
    suites = ElementTree.fromstring(render.as_xml(judged))
    return {(suite.get("name"), case.get("name")): case[0].tag for suite in suites for case in suite}


def test_junit_has_a_suite_a_subject_and_a_case_a_check() -> None:
    assert cases(PROGRAM) == {
        ("fw.elf", "limit primask"): "failure",
        ("fw.elf", "limit handler"): "system-out",
        ("fw.elf", "lock: primask"): "failure",
        ("fw.elf", "a|b<c>: handler"): "failure",
        ("fw.elf", "same: handler"): "system-out",
        ("fw.elf", "gone: handler"): "error",
        ("fw.elf", "m: x"): "system-out",
    }
    (worse, *_) = ElementTree.fromstring(render.as_xml(RUNS))
    assert (worse.get("tests"), worse.get("failures"), worse.get("skipped")) == ("4", "1", "1")


def test_without_a_judgement_what_has_no_bound_or_refutes_one_is_not_green() -> None:
    unbounded = judge(
        measured(row("lock", "primask", 9, why_not="A loop."), row("a", "handler", 7)), (), None, Allowance()
    )
    assert cases(unbounded) == {("fw.elf", "lock: primask"): "error", ("fw.elf", "a: handler"): "system-out"}
    refuted = report(replace(FOUND, wrong=(("lock: primask", "A run took 9 cycles."),)))
    assert cases(refuted) == {("fw.elf", "lock: primask"): "failure"}


def test_metrics_are_of_the_form_that_bencher_states() -> None:
    """Its JSON Schema: an object of objects of objects with a number `value`."""
    metrics = json.loads(render.as_bencher(FOUND))
    assert metrics["fw.elf lock primask"] == {"cycles": {"value": 120}}
    assert len(metrics) == 3  # what had not ended has no length
    for measures in metrics.values():
        assert set(measures) == {"cycles"}
        assert isinstance(measures["cycles"]["value"], int)
