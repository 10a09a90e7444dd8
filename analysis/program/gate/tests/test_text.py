"""A judgement as Markdown, JUnit, JSON and Bencher's metrics, read by other parsers."""

from __future__ import annotations

import json
from xml.etree import ElementTree

from markdown_it import MarkdownIt

from analysis.program.gate import text
from analysis.program.gate.judge import unjudged
from analysis.program.gate.tests.made import baseline, judged, measured, row

FOUND = measured(
    row("lock", "primask", 120),
    row("a|b<c>", "handler", 7),
    row("same", "handler", 5),
    row("m", "x", 1, open=True),
)
BEFORE = baseline(
    {("lock", "primask"): 100, ("same", "handler"): 5, ("gone", "handler"): 3, ("m", "x"): "open"}
)
TOLD = judged(FOUND, BEFORE, {"primask": "119", "handler": "7"})


def test_the_table_has_limits_and_what_changed() -> None:
    page = MarkdownIt("commonmark").enable("table").render(text.as_markdown(TOLD))
    changes, longest = page.split("<table>")[1:]
    rows = [part.partition("</tr>")[0] for part in changes.split("<tr>")[2:]]
    cells = [[cell.split(">", 1)[1] for cell in one.replace("</td>", "").split("<td")[1:]] for one in rows]
    assert [[cell.strip() for cell in one[:5]] for one in cells] == [
        ["✗ worse", "limit primask", "119", "120 cycles, 7.50 µs", "above"],
        ["✓ as good", "limit handler", "7", "7 cycles, 0.44 µs", "within"],
        ["✗ worse", "lock: primask", "100", "120 cycles, 7.50 µs", "+20 (+20.0%)"],
        ["✗ worse", "a|b&lt;c&gt;: handler", "", "7 cycles, 0.44 µs", "new"],
        ["? cannot say", "gone: handler", "3", "none", "vanished"],
    ]
    assert longest.count("<tr>") == 1 + len(FOUND.rows)
    assert "masks of fw.elf: Worse than the baseline." in page


def test_junit_has_a_case_a_limit_and_a_row() -> None:
    (suite,) = ElementTree.fromstring(text.as_xml(TOLD))
    told = {case.get("name"): case[0].tag for case in suite}
    assert told == {
        "limit primask": "failure",
        "limit handler": "system-out",
        "lock: primask": "failure",
        "a|b<c>: handler": "failure",
        "same: handler": "system-out",
        "gone: handler": "error",
        "m: x": "system-out",
    }


def test_json_has_the_change() -> None:
    told = json.loads(json.dumps(text.as_json(TOLD)))
    (lock,) = [one for one in told["checks"] if one["name"] == "lock: primask"]
    assert (lock["before_cycles"], lock["cycles"], lock["change_cycles"]) == (100, 120, 20)
    assert (told["exit_status"], told["refusal"]) == (1, None)


def test_a_refusal_is_an_error() -> None:
    told = judged(measured(refusal="The run ended early."), limits={"primask": "5"})
    (suite,) = ElementTree.fromstring(text.as_xml(told))
    assert (suite.get("errors"), suite[0][0].get("message")) == ("2", "The run ended early.")
    assert "The run ended early." in text.as_markdown(told)
    assert text.as_text(told).endswith("Cannot say. 1 unseen.")


def test_without_a_judgement_there_are_all_figures() -> None:
    told = unjudged(FOUND)
    (suite,) = ElementTree.fromstring(text.as_xml(told))
    assert [case.get("name") for case in suite] == [row.name for row in FOUND.rows]
    assert {case[0].tag for case in suite} == {"system-out"}
    assert text.as_markdown(told).startswith("### masks of fw.elf: Not judged.\n")
    assert "| lock: primask | 120 cycles, 7.50 µs | lock.c:1 |" in text.as_markdown(told)


def test_a_table_has_the_longest_twenty() -> None:
    many = measured(*(row(f"f{number:02}", "primask", 100 + number) for number in range(25)))
    lines = text.as_markdown(unjudged(many)).splitlines()
    assert [line.split()[1] for line in lines[-20:]] == [f"f{number:02}:" for number in range(24, 4, -1)]


def test_metrics_are_of_the_form_that_bencher_states() -> None:
    """Its JSON Schema: an object of objects of objects with a number `value`."""
    metrics = json.loads(text.as_bencher(FOUND))
    assert metrics["fw.elf lock primask"] == {"cycles": {"value": 120}}
    assert len(metrics) == 3  # what had not ended has no length
    for measures in metrics.values():
        assert set(measures) == {"cycles"}
        assert isinstance(measures["cycles"]["value"], int)


def test_the_verdict_says_what_is_broken() -> None:
    assert text.verdict(judged(FOUND, limits={"primask": "1"})) == "Above a limit. 1 above."
    assert text.verdict(judged(FOUND, limits={"primask": "120"})) == "Within the limits. 1 within."
