"""A report for each medium: a snapshot of the text, and the others read by other parsers."""

from __future__ import annotations

import json
from dataclasses import replace
from xml.etree import ElementTree

import pytest
from markdown_it import MarkdownIt

from analysis.compare.settings import Change
from analysis.judge import render
from analysis.judge.checks import Check, Judgement, Report, State
from analysis.judge.programs import unjudged
from analysis.judge.tests.made_programs import baseline, measured, report, row
from tests.sentences import Sentences

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


def run(state: State) -> Judgement:
    return Judgement("a", (Check("cycles", state, "…"),), folders=("runs/a",))


@pytest.mark.parametrize(
    ("baseline", "runs", "status", "words"),
    [
        ("b.toml", [run("as good")], 0, "As good as the baseline. 1 as good."),
        ("b.toml", [run("better"), run("not judged")], 0,
         "As good as the baseline. Runs: 1 better, 1 as good."),
        ("b.toml", [run("as good"), run("worse"), run("cannot say")], 1,
         "Worse than the baseline. Runs: 1 worse, 1 cannot say, 1 as good."),
        ("b.toml", [run("cannot say"), run("as good")], 2, "Cannot say. Runs: 1 cannot say, 1 as good."),
        (None, [run("as good")] * 1_000, 0, "Within the limits. Runs: 1,000 as good."),
        (None, [run("cannot say")], 2, "Cannot say. 1 cannot say."),
        (None, [], 2, "Cannot say."),
    ],
)  # fmt: skip
def test_the_verdict_in_a_line(baseline: str | None, runs: list[Judgement], status: int, words: str) -> None:
    judged = Report("gate", baseline, tuple(runs))
    assert (judged.exit_status, judged.verdict) == (status, words)


def test_the_verdict_says_what_is_broken() -> None:
    assert report(FOUND, limits={"primask": "1"}).verdict == "Above a limit. 1 above."
    assert report(FOUND, limits={"primask": "120"}).verdict == "Within the limits. 1 within."
    wrong = report(replace(FOUND, wrong=(("lock: primask", "A run took 9 cycles."),)))
    assert (wrong.exit_status, wrong.verdict) == (1, "A run took longer than a bound. 1 refuted.")


def test_of_a_run_whatever_is_worse_counts_before_a_refusal() -> None:
    assert Judgement("a", (), "No baseline.").state == "cannot say"
    assert Judgement("a", (Check("limit free", "worse", "…"),), "No baseline.").state == "worse"


def test_the_document_has_all_of_the_report() -> None:
    document = json.loads(json.dumps(render.as_json(RUNS)))
    assert (document["exit_status"], document["verdict"]) == (RUNS.exit_status, RUNS.verdict)
    for subject, judgement in zip(document["subjects"], RUNS.subjects, strict=True):
        assert (subject["state"], subject["refusal"]) == (judgement.state, judgement.refusal)
        assert [Check(**{**row, "named": tuple(row["named"])}) for row in subject["checks"]] == [
            *judgement.checks
        ]
        assert [Change(**row) for row in subject["changes"]] == [*judgement.changes]
    (program,) = json.loads(json.dumps(render.as_json(PROGRAM)))["subjects"]
    (lock,) = [check for check in program["checks"] if check["name"] == "lock: primask"]
    assert (lock["before"], lock["now"]["cycles"], lock["finding"]) == (100, 120, "longer")


def tables(markdown: str) -> list[list[list[str]]]:
    """Of each table the cells of its rows, as another parser has them."""
    page = MarkdownIt("commonmark").enable("table").render(markdown)
    bodies = [part.partition("</tbody>")[0] for part in page.split("<tbody>")[1:]]
    return [
        [[cell.split(">", 1)[1].partition("\n")[0] for cell in line.replace("</td>", "").split("<td")[1:]]
         for line in body.split("<tr>")[1:]]
        for body in bodies
    ]  # fmt: skip


def test_a_page_has_checks_and_rows_and_details_as_code(sentences: Sentences) -> None:
    changes, longest = tables(render.as_markdown(PROGRAM))
    assert [line[1] for line in changes] == [
        "limit primask", "limit handler", "lock: primask", "a|b&lt;c&gt;: handler", "gone: handler",
    ]  # fmt: skip
    assert len(longest) == len(FOUND.rows)
    assert [line[0].split(" ", 1)[1] for table in tables(render.as_markdown(RUNS)) for line in table] == [
        check.state for subject in RUNS.subjects for check in subject.checks
    ]
    for judged in (RUNS, PROGRAM):
        sentences.hold(render.as_markdown(judged))


def test_a_table_has_the_longest_twenty() -> None:
    many = measured(*(row(f"f{number:02}", "primask", 100 + number) for number in range(25)))
    lines = render.as_markdown(unjudged(many)).splitlines()
    assert [line.split()[1] for line in lines[-20:]] == [f"f{number:02}:" for number in range(24, 4, -1)]


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
    assert cases(RUNS) == {
        (WORSE.name, "outcomes"): "system-out",
        (WORSE.name, "cycles"): "failure",
        (WORSE.name, "probes"): "skipped",
        (WORSE.name, "interrupt"): "system-out",
        ("c", "run"): "error",
        ("c", "limit free"): "error",
        ("d*", "outcomes"): "system-out",
    }
    (worse, *_) = ElementTree.fromstring(render.as_xml(RUNS))
    assert (worse.get("tests"), worse.get("failures"), worse.get("skipped")) == ("4", "1", "1")
    details = (worse[1][0].text or "").splitlines()
    assert details[:4] == ["3 take longer.", *WORSE.checks[1].named, "and 1,000 more"]
    assert details[-2:] == ["runs/a", "runs/b"]


def test_a_refusal_is_an_error() -> None:
    judged = report(measured(refusal="The run ended early."), limits={"primask": "5"})
    (suite,) = ElementTree.fromstring(render.as_xml(judged))
    assert (suite.get("errors"), suite[0][0].get("message")) == ("2", "The run ended early.")
    assert "The run ended early." in render.as_markdown(judged)
    assert render.as_text(judged).endswith("Cannot say. 1 unseen.")


def test_without_a_judgement_there_are_all_figures() -> None:
    judged = unjudged(FOUND)
    assert cases(judged) == {("fw.elf", row.name): "system-out" for row in FOUND.rows}
    assert render.as_markdown(judged).startswith("### masks of fw.elf: Not judged.\n")
    assert ["lock: primask", "120 cycles (7.50 µs)", "lock.c:1"] in tables(render.as_markdown(judged))[0]


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
