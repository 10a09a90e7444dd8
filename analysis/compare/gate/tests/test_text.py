"""What the gate says, whole: for a terminal, a program, a pull request and a CI server."""

from __future__ import annotations

from typing import Any

import pytest

from analysis.compare.gate.outcome import Check, Judged, Report
from analysis.compare.gate.text import as_json, as_markdown, as_text, as_xml, verdict
from analysis.compare.settings import Change
from analysis.judged import State

DIGESTS = ("ab" * 32, "cd" * 32)
WORSE = Judged(
    ("runs/a", "runs/b"),
    "made on seglist, board virtual",
    (
        Check("outcomes", "as good", "All 5 operations end as before."),
        Check("cycles", "worse", "3 take longer.",
              ("operation 1: 5 → 6 cycles", "operation 2: 5 → 7 cycles"), 1_002),
        Check("probes", "not judged", "Probes are not counted in both."),
        Check("interrupt", "better", "It is shorter."),
    ),
    changes=(Change("firmware sha256", *DIGESTS), Change("compiler", "12", None)),
    notes=("Update it.",),
)  # fmt: skip
REFUSED = Judged(
    ("runs/c",), "c", (Check("limit free", "cannot say", "No <budget>."),), "runs/c: is truncated | so."
)
GOOD = Judged(("runs/d",), "d*", (Check("outcomes", "as good", "All end\nas `before`."),))
REPORT = Report("b.toml", (WORSE, REFUSED, GOOD), ("No run was given for 1 entry.",))

TEXT = """\
made on seglist, board virtual: worse
  runs/a
  runs/b
  ✓ outcomes: All 5 operations end as before.
  ✗ cycles: 3 take longer.
      operation 1: 5 → 6 cycles
      operation 2: 5 → 7 cycles
      and 1,000 more
  · probes: Probes are not counted in both.
  + interrupt: It is shorter.
  The compiler changed from 12 to (not told).
  The firmware sha256 changed from abababababab… to cdcdcdcdcdcd….
  Update it.

c: cannot say
  runs/c
  ? runs/c: is truncated | so.
  ? limit free: No <budget>.

d*: as good
  runs/d
  ✓ outcomes: All end
as `before`.

No run was given for 1 entry.
Worse. Runs: 1 worse, 1 cannot say, 1 as good."""


def test_the_text_tells_each_run_and_the_verdict_last() -> None:
    assert as_text(REPORT) == TEXT


def run(state: State) -> Judged:
    return Judged(("runs/a",), "a", (Check("cycles", state, "…"),))


@pytest.mark.parametrize(
    ("baseline", "runs", "status", "words"),
    [
        ("b.toml", [run("as good")], 0, "As good as the baseline. Runs: 1 as good."),
        ("b.toml", [run("better"), run("not judged")], 0,
         "As good as the baseline. Runs: 1 better, 1 as good."),
        ("b.toml", [run("as good"), run("worse"), run("cannot say")], 1,
         "Worse. Runs: 1 worse, 1 cannot say, 1 as good."),
        ("b.toml", [run("cannot say"), run("as good")], 2, "Cannot say. Runs: 1 cannot say, 1 as good."),
        (None, [run("as good")] * 1_000, 0, "Within the limits. Runs: 1,000 as good."),
        (None, [run("worse")], 1, "Worse. Runs: 1 worse."),
        (None, [run("cannot say")], 2, "Cannot say. Runs: 1 cannot say."),
        (None, [], 2, "Cannot say. Runs: ."),
    ],
)  # fmt: skip
def test_the_verdict_in_a_line(baseline: str | None, runs: list[Judged], status: int, words: str) -> None:
    report = Report(baseline, tuple(runs))
    assert (report.exit_status, verdict(report)) == (status, words)
    assert as_text(report).splitlines()[-1] == words


def test_of_a_run_whatever_is_worse_counts_before_a_refusal() -> None:
    refused = Judged(("a",), "a", (), "No baseline.")
    assert (refused.exit_status, refused.state) == (2, "cannot say")
    worse = Judged(("a",), "a", (Check("limit free", "worse", "…"),), "No baseline.")
    assert (worse.exit_status, worse.state) == (1, "worse")


def test_the_document_tells_all_of_the_report() -> None:
    nothing: dict[str, Any] = {"named": (), "changed": 0}
    assert as_json(REPORT) == {
        "schema": 1,
        "exit_status": 1,
        "baseline": "b.toml",
        "runs": [
            {
                "folders": ["runs/a", "runs/b"], "name": "made on seglist, board virtual", "state": "worse",
                "refusal": None,
                "checks": [
                    {"quantity": "outcomes", "state": "as good",
                     "sentence": "All 5 operations end as before.", **nothing},
                    {"quantity": "cycles", "state": "worse", "sentence": "3 take longer.",
                     "named": ("operation 1: 5 → 6 cycles", "operation 2: 5 → 7 cycles"), "changed": 1_002},
                    {"quantity": "probes", "state": "not judged",
                     "sentence": "Probes are not counted in both.", **nothing},
                    {"quantity": "interrupt", "state": "better", "sentence": "It is shorter.", **nothing},
                ],
                "changes": [
                    {"setting": "firmware sha256", "before": DIGESTS[0], "now": DIGESTS[1]},
                    {"setting": "compiler", "before": "12", "now": None},
                ],
                "notes": ["Update it."], "placements": [],
            },
            {
                "folders": ["runs/c"], "name": "c", "state": "cannot say",
                "refusal": "runs/c: is truncated | so.",
                "checks": [
                    {"quantity": "limit free", "state": "cannot say", "sentence": "No <budget>.", **nothing}
                ],
                "changes": [], "notes": [], "placements": [],
            },
            {
                "folders": ["runs/d"], "name": "d*", "state": "as good", "refusal": None,
                "checks": [
                    {"quantity": "outcomes", "state": "as good",
                     "sentence": "All end\nas `before`.", **nothing}
                ],
                "changes": [], "notes": [], "placements": [],
            },
        ],
        "notes": ["No run was given for 1 entry."],
    }  # fmt: skip


MARKDOWN = r"""### Tailscope: Worse. Runs: 1 worse, 1 cannot say, 1 as good.

| run | quantity | | what |
|---|---|---|---|
| made on seglist, board virtual | outcomes | as good | All 5 operations end as before. |
| made on seglist, board virtual | cycles | worse | 3 take longer. |
| made on seglist, board virtual | probes | not judged | Probes are not counted in both. |
| made on seglist, board virtual | interrupt | better | It is shorter. |
| c | run | cannot say | runs/c: is truncated \| so. |
| c | limit free | cannot say | No &lt;budget&gt;. |
| d\* | outcomes | as good | All end as \`before\`. |

**made on seglist, board virtual**

    operation 1: 5 → 6 cycles
    operation 2: 5 → 7 cycles
    and 1,000 more
    The compiler changed from 12 to (not told).
    The firmware sha256 changed from abababababab… to cdcdcdcdcdcd….
    Update it.

No run was given for 1 entry.
"""


def test_the_page_for_a_pull_request_tells_all_of_the_report() -> None:
    assert as_markdown(REPORT) == MARKDOWN
    assert as_markdown(Report("b", (GOOD,))).endswith(
        "| d\\* | outcomes | as good | All end as \\`before\\`. |\n"
    )


XML = """\
<?xml version='1.0' encoding='utf-8'?>
<testsuites name="tailscope gate">
  <testsuite name="made on seglist, board virtual" tests="4" failures="1" errors="0" skipped="1">
    <testcase classname="made on seglist, board virtual" name="outcomes">
      <system-out>All 5 operations end as before.</system-out>
    </testcase>
    <testcase classname="made on seglist, board virtual" name="cycles">
      <failure message="3 take longer." type="worse">3 take longer.
operation 1: 5 → 6 cycles
operation 2: 5 → 7 cycles
1,002 changed in all
Update it.
runs/a, runs/b</failure>
    </testcase>
    <testcase classname="made on seglist, board virtual" name="probes">
      <skipped message="Probes are not counted in both." />
    </testcase>
    <testcase classname="made on seglist, board virtual" name="interrupt">
      <system-out>It is shorter.</system-out>
    </testcase>
  </testsuite>
  <testsuite name="c" tests="2" failures="0" errors="2" skipped="0">
    <testcase classname="c" name="run">
      <error message="runs/c: is truncated | so." type="cannot say">runs/c: is truncated | so.
runs/c</error>
    </testcase>
    <testcase classname="c" name="limit free">
      <error message="No &lt;budget&gt;." type="cannot say">No &lt;budget&gt;.
runs/c</error>
    </testcase>
  </testsuite>
  <testsuite name="d*" tests="1" failures="0" errors="0" skipped="0">
    <testcase classname="d*" name="outcomes">
      <system-out>All end
as `before`.</system-out>
    </testcase>
  </testsuite>
</testsuites>
"""


def test_the_file_for_a_ci_server_tells_all_of_the_report() -> None:
    assert as_xml(REPORT).decode() == XML
    odd = as_xml(
        Report(None, (Judged(("a",), "a\x1b\ud800", (Check("b\x00", "as good", "c\ufffe"),)),))
    ).decode()
    assert 'name="a??"' in odd and 'name="b?"' in odd and ">c?<" in odd
