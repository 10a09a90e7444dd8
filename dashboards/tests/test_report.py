"""The report: self-contained, honest about verdicts, and proof against what files say."""

from __future__ import annotations

import re
from dataclasses import replace
from html import unescape
from pathlib import Path
from urllib.parse import unquote

import pytest

from dashboards.answer import answer, standings, under_limits
from dashboards.blocks import Fact
from dashboards.headline import facts, headline, holders
from dashboards.loaded.lanes import lanes
from dashboards.loaded.runs import LoadedRun, find_runs, load_run
from dashboards.loaded.series import Series, by_scenario
from dashboards.pages.catalogue import belief
from dashboards.report import write_report
from dashboards.tests.packed import all_text, runs_of, unpacked, without_packed
from dashboards.tests.synthetic import mem_frag, mem_stress, write_run

HOSTILE = "</script><img src=x onerror=alert(1)>&amp;'\"{{}}%{x}"


@pytest.fixture(scope="session")
def report(runs_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> str:
    output = tmp_path_factory.mktemp("report") / "deeper" / "report.html"
    assert write_report(find_runs(runs_folder), output) == output
    assert [path.name for path in output.parent.iterdir()] == ["report.html"]
    return output.read_text(encoding="utf-8")


def test_the_same_runs_give_the_same_report(tmp_path: Path) -> None:
    runs = [write_run(tmp_path, "mem_frag", name, mem_frag(name, 4)) for name in ("seglist", "tlsf")]
    pages = [write_report(folders, tmp_path / "page.html").read_bytes() for folders in (runs, runs[::-1])]
    assert pages[0] == pages[1]


def test_nothing_is_fetched(report: str) -> None:
    page = all_text(report)
    addresses = set(re.findall(r"\b[a-z]+://[^\s\"'<>)]+", page))
    assert all(address.startswith("http://www.w3.org/") for address in addresses)
    assert not re.search(r"<(link|iframe|object|embed|base|form)\b|\bsrc\s*=|@import|url\(", page)
    assert "default-src 'none'; script-src 'unsafe-inline'; " in unescape(page)


def test_the_headline_is_computed(frag: list[Series]) -> None:
    """The longest sections are 3,426 and 454 cycles at 84 MHz, and the entry is 46 cycles."""
    seen = {series.name: float(str(series.run.answered["isr_latency_ns"].max())) / 1e3 for series in frag}
    assert headline("mem_frag", lanes(frag)) == (
        "seglist can keep an interrupt waiting for 41.33 µs, 6.9 times as long as tlsf (5.95 µs). The wait "
        "grows with each block that was freed before.",
    )
    assert tuple(holders(lanes(frag))) == (
        f"seglist: masked 40.79 µs; the longest wait seen is {seen['seglist']:,.2f} µs.",
        f"tlsf: masked 5.40 µs; the longest wait seen is {seen['tlsf']:,.2f} µs.",
    )
    alone = headline("mem_frag", lanes(frag[1:]))[0]
    assert alone.startswith("tlsf can keep an interrupt waiting for 5.95 µs")


def test_beside_the_answer_stands_growth(frag: list[Series]) -> None:
    # At depth 1 the longest of three trials has 350 + 12 + 4 = 366 cycles; the deepest has 3,426.
    assert facts(lanes(frag))[0] == (
        "Fragmented against fresh: seglist's section grew from 4.36 µs to 40.79 µs; 1 of 2 grew by half or "
        "more, 1 stayed flat."
    )


def test_of_many_allocators_the_headline_gives_the_extremes(frag: list[Series]) -> None:
    seglist, tlsf = frag
    many = [seglist, *(_heap(tlsf, 65_536 + number) for number in range(4))]
    spoken = headline("mem_frag", lanes(many))[0]
    assert spoken.startswith(
        "seglist can keep an interrupt waiting for 41.33 µs, 6.9 times as long as tlsf 3 (5.95 µs, the best "
    )
    assert facts(lanes(many))[0].endswith("; 1 of 5 grew by half or more, 4 stayed flat.")


def _heap(series: Series, heap_bytes: int) -> Series:
    """The run as if on another heap, so that it is no repeat."""
    firmware = series.run.manifest.firmware.model_copy(update={"heap_bytes": heap_bytes})
    manifest = series.run.manifest.model_copy(update={"firmware": firmware})
    return replace(series, name=f"tlsf {heap_bytes - 65_536}", run=replace(series.run, manifest=manifest))


def test_which_allocator_stays_within_a_limit(frag: list[Series], stress: list[Series]) -> None:
    """By hand: the worst of both, 3,426 and 454 cycles, and the entry of 46, at 84 MHz."""
    among = standings({"mem_frag": lanes(frag), "mem_stress": lanes(stress)})
    assert [round(standing.waiter.possible_ns * 84 / 1e3) for standing in among.ranked] == [500, 3_472]
    by_limit = under_limits(among)
    assert by_limit is not None
    # A wait that is as long as the limit less its error may be longer.
    budgets = [standing.waiter.wait.budget_ns or 0 for standing in among.ranked]
    assert [start for start, _ in by_limit.steps] == pytest.approx(
        [0, 500e3 / 84 + budgets[0], 3_472e3 / 84 + budgets[1]]
    )
    assert [words.partition(":")[0] for _, words in by_limit.steps[1:]] == [
        "1 of 2 stay within it",
        "2 of 2 stay within it",
    ]
    # Who did not run in every scenario is not ranked.
    assert standings({"mem_frag": lanes(frag), "mem_stress": lanes(stress[:1])}).left_out == ("tlsf",)


def test_every_page_says_whether_to_believe_it(runs: list[LoadedRun], report: str) -> None:
    assert re.search(r'<p class="belief green">\s*<a href="#/matrix">4 of 4 complete</a> · ', report)
    doubtful = [
        replace(run, manifest=run.manifest.model_copy(update={"verdict": "truncated"})) for run in runs[:1]
    ]
    (scenario,) = by_scenario([*doubtful, *runs[1:2]]).values()
    evidence = belief(scenario)
    assert evidence is not None
    assert (evidence.level, evidence.facts[0]) == ("red", Fact("1 of 2 not complete", "run", runs[0].id))


def test_the_first_table_has_a_row_a_run_the_worst_first(frag: list[Series]) -> None:
    (group,) = answer("mem_frag", frag, lanes(frag)).groups
    assert [line.name for line in group.lines] == ["seglist", "tlsf"]
    cells = [line.cells[0] for line in group.lines]
    assert [cell.value for cell in cells] == pytest.approx([3_472e3 / 84, 500e3 / 84])
    assert [cell.share_percent for cell in cells] == pytest.approx([100, 100 * 500 / 3_472])
    seglist, tlsf = (line.cells[1].line for line in group.lines)
    assert min(y for _, y in seglist) == 0 and max(y for _, y in tlsf) - min(y for _, y in tlsf) < 5


def test_every_maximum_of_a_table_has_its_waveform(report: str) -> None:
    runs = runs_of(report)
    links = {
        (run, unquote(key)) for run, key in re.findall(r'href="#/sample/([^/"]+)/([^"]+)"', all_text(report))
    }
    assert len(links) > 4 * 4
    assert all(key in runs[run]["samples"] for run, key in links)


def test_embedded_windows_are_the_capture(runs: list[LoadedRun], report: str) -> None:
    run = next(run for run in runs if run.manifest.scenario == "mem_frag")
    samples = runs_of(report)[run.id]["samples"]
    edges = run.edges
    assert edges is not None
    level = dict(zip(edges.sample.tolist(), edges.word.tolist(), strict=True))
    for start, end, _, distances, words in [sample["window"] for sample in list(samples.values())[::50]]:
        samples = [start + sum(distances[: i + 1]) for i in range(len(distances))]
        inside = [sample for sample in sorted(level) if start < sample < end]
        assert samples[1:] == inside
        assert words[1:] == [level[sample] for sample in inside]
        assert words[0] == level[max(sample for sample in level if sample <= start)]


def test_what_files_say_is_text(tmp_path: Path) -> None:
    operations = mem_frag("tlsf", depths=5)
    names = dict.fromkeys(("scenario", "allocator", "board", "analyzer"), HOSTILE)
    changes = names | {"warnings": [HOSTILE], "parameters": {HOSTILE: HOSTILE}}
    folder = write_run(
        tmp_path, "x", "y", operations, verdict="inconclusive", reasons=(HOSTILE,), changes=changes
    )
    folder = folder.rename(tmp_path / "<b>&'\"")
    report = write_report([folder], tmp_path / "report.html").read_text(encoding="utf-8")
    page = without_packed(report)
    # What is packed is letters only, and what of it is HTML is escaped as the page is.
    (run,) = runs_of(report).values()
    for text in (page, run["html"], *(sample["facts"] for sample in run["samples"].values())):
        assert "<img" not in text and "<b>" not in text
    assert page.count("<script") == page.count("</script>") == 2  # data, scripts
    assert "&lt;/script&gt;&lt;img src=x onerror=alert(1)&gt;" in page


def test_a_run_that_is_not_complete_says_so_first(tmp_path: Path) -> None:
    reason = "The serial line was cut after 12 records; check the cable."
    folder = write_run(
        tmp_path, "mem_stress", "tlsf", mem_stress("tlsf", 50), verdict="truncated", reasons=(reason,)
    )
    report = write_report([folder], tmp_path / "report.html").read_text(encoding="utf-8")
    overview = report[report.index('data-page="overview" hidden') :]
    doubt, answer_ = "Not complete, of the runs shown here: 1.", "tlsf (truncated) can keep an interrupt"
    assert overview.index(doubt) < overview.index(answer_)
    badge = f'<p class="badge">{folder.name} is truncated: {reason}</p>'
    assert report.count(badge) == report.count("<figure") > 0
    assert "tlsf (truncated)" in unpacked(report)["run-0"] and reason in unpacked(report)["run-0"]


@pytest.mark.parametrize(
    ("runs", "names"),
    [
        ([("virtual", 1), ("virtual", 2)], ["tlsf (seed 1)", "tlsf (seed 2)"]),
        ([("virtual", 1), ("nucleo", 1)], ["tlsf (nucleo)", "tlsf (virtual)"]),
    ],
)
def test_runs_are_named_by_what_they_differ_in(
    tmp_path: Path, runs: list[tuple[str, int]], names: list[str]
) -> None:
    operations = mem_stress("tlsf", 60)
    folders = [
        write_run(tmp_path / str(seed), "mem_stress", "tlsf", operations, board=board, changes={"seed": seed})
        for board, seed in runs
    ]
    series = by_scenario([load_run(folder) for folder in folders])["mem_stress"]
    assert sorted(member.name for member in series) == names


def test_a_warning_is_quoted_unless_the_budgets_have_it(runs: list[LoadedRun]) -> None:
    def warned(*warnings: str) -> list[Series]:
        changed = runs[0].manifest.model_copy(update={"warnings": list(warnings)})
        return by_scenario([replace(runs[0], manifest=changed)])[changed.scenario]

    known = "3 interrupts: the budgets of interrupt_latency_hit_ns have both ends."
    evidence, doubtful = belief(warned(known)), belief(warned(known, "The clock drifts."))
    assert evidence is not None and doubtful is not None
    assert (evidence.level, doubtful.level) == ("green", "amber")
    assert Fact("1 × a warning, such as: The clock drifts.", "run", runs[0].id) in doubtful.facts
