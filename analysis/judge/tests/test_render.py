"""A report for each medium: a snapshot of the text, and the others read by other parsers."""

from __future__ import annotations

import json
from dataclasses import replace
from xml.etree import ElementTree

from markdown_it import MarkdownIt

from analysis.compare.settings import Change
from analysis.judge import render
from analysis.judge.programs import unjudged
from analysis.judge.rows import Check, Judgement, Report, State
from analysis.judge.tests.made_programs import baseline, measured, report, row
from tests.sentences import Sentences
from tests.tables import table

DIGESTS = ("ab" * 32, "cd" * 32)
WORSE = Judgement(
    "made on seglist, board virtual",
    (
        Check("outcomes", "as good", "All 5 operations end as before."),
        Check("cycles", "worse", "3 take longer.",
              ("operation 1: 5 → 6 cycles", "operation 2: 5 → 7 cycles"), 1_002),
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
    for judged in (RUNS, PROGRAM):
        sentences.hold(render.as_text(judged))


@table
def test_the_verdict_in_a_line(runs: dict[State, int], status: int, words: str, baseline: str | None) -> None:
    states = [state for state, count in runs.items() for _ in range(count)]
    judged = Report(
        "gate", baseline, tuple(Judgement("a", (Check("cycles", state, "…"),)) for state in states)
    )
    assert (judged.exit_status, judged.verdict) == (status, words)


def test_a_page_has_checks_and_rows_and_details_as_code(sentences: Sentences) -> None:
    """Read by another parser, too: what names are made of does not break a table."""
    for judged in (RUNS, PROGRAM):
        sentences.hold(render.as_markdown(judged))
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
    unbounded = unjudged(measured(row("lock", "primask", 9, why_not="A loop."), row("a", "handler", 7)))
    assert cases(unbounded) == {("fw.elf", "lock: primask"): "error", ("fw.elf", "a: handler"): "system-out"}
    refuted = unjudged(replace(FOUND, wrong=(("lock: primask", "A run took 9 cycles."),)))
    assert cases(refuted) == {("fw.elf", "lock: primask"): "failure"}


def test_metrics_are_of_the_form_that_bencher_states() -> None:
    """Its JSON Schema: an object of objects of objects with a number `value`."""
    metrics = json.loads(render.as_bencher(FOUND))
    assert metrics["fw.elf lock primask"] == {"cycles": {"value": 120}}
    assert len(metrics) == 3  # what had not ended has no length
    for measures in metrics.values():
        assert set(measures) == {"cycles"}
        assert isinstance(measures["cycles"]["value"], int)
