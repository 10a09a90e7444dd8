"""The report: self-contained, honest about verdicts, and proof against what files say."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from plotly.offline import get_plotlyjs

from capture.files.errors import RunError
from capture.files.whole import WriteError
from dashboards.headline import headline
from dashboards.loaded.runs import LoadedRun, find_runs
from dashboards.loaded.series import Series, by_scenario
from dashboards.report import write_report
from dashboards.tests.synthetic import mem_frag, mem_stress, write_run

HOSTILE = "</script><img src=x onerror=alert(1)>&amp;'\"{{}}%{x}"


@pytest.fixture(scope="session")
def report(runs_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> str:
    output = tmp_path_factory.mktemp("report") / "deeper" / "report.html"
    assert write_report(find_runs(runs_folder), output) == output
    assert [path.name for path in output.parent.iterdir()] == ["report.html"]
    return output.read_text(encoding="utf-8")


def _without_library(page: str) -> str:
    """The page less the plotting library, which names addresses that it never asks for."""
    library = get_plotlyjs()
    assert page.count(library) == 1
    return page.replace(library, "")


def test_nothing_is_fetched(report: str) -> None:
    page = _without_library(report)
    addresses = set(re.findall(r"\b[a-z]+://[^\s\"'<>)]+", page))
    assert all(address.startswith("http://www.w3.org/") for address in addresses)
    assert not re.search(r"<(link|iframe|object|embed|base|form)\b|\bsrc\s*=|@import|url\(", page)
    assert "default-src 'none'; script-src 'unsafe-inline'; " in unescape(page)


def test_it_is_small_enough_to_send(report: str) -> None:
    assert len(report.encode()) < 15_000_000


def test_the_same_runs_give_the_same_report(runs_folder: Path, report: str, tmp_path: Path) -> None:
    again = write_report(find_runs(runs_folder)[::-1], tmp_path / "again.html")
    assert again.read_text(encoding="utf-8") == report


def test_the_headline_is_computed(frag: list[Series]) -> None:
    spoken = headline("mem_frag", frag).replace("\u00a0", " ")
    # 3,426 and 454 cycles at 84 MHz.
    assert "was 40.79 ± 0.03 µs with seglist and 5.40 ± 0.03 µs with tlsf, a factor of 7.5." in spoken
    # The worst at depth 64, a quarter of the way from 1 to 256, has 350 + 12·64 + 4 = 1,122 cycles.
    assert "it grew from 13.36 µs to 40.79 µs with seglist and stayed at 5.40 µs with tlsf." in spoken
    assert spoken.endswith("waited at most 0.31 ± 0.03 µs with seglist and tlsf.")


def test_the_headline_has_the_budget(frag: list[Series]) -> None:
    assert re.search(r"was 40\.79 ± 0\.03 µs with seglist", headline("mem_frag", frag).replace("\u00a0", " "))


def test_of_many_allocators_the_headline_gives_the_extremes(frag: list[Series]) -> None:
    seglist, tlsf = frag
    many = [seglist, *(replace(tlsf, name=f"tlsf {number}") for number in range(4))]
    spoken = headline("mem_frag", many).replace("\u00a0", " ")
    assert (
        "was 40.79 ± 0.03 µs with seglist; of 5 allocators the least was 5.40 ± 0.03 µs with tlsf 0" in spoken
    )
    assert (
        "it grew by half or more with seglist and did not with tlsf 0, tlsf 1, tlsf 2 and tlsf 3." in spoken
    )


def test_the_table_shows_the_manifests_numbers(runs: list[LoadedRun], report: str) -> None:
    page = _without_library(report)
    for run in runs:
        for key in (
            "critical_ns",
            "interrupt_latency_hit_ns",
            "interrupt_latency_clear_ns",
            "control_latency_ns",
        ):
            summary = run.manifest.statistics[key]
            mean = f"{summary.mean:,.1f}<small>sd&nbsp;{summary.stdev:,.1f}</small>"
            cells = r"</td>\s*<td>".join((f"{summary.n:,}", f"{summary.min:,.1f}", mean))
            assert re.search(rf"<td>{cells}</td>\s*<td>{summary.median:,.1f}<", page)
            assert f">{summary.max:,.1f}</a>" in page


def test_a_maximum_links_to_its_waveform(report: str) -> None:
    link = "#select=20250102T030405Z-mem_frag-seglist-virtual:2302"
    assert f'<a href="{link}" title="show its waveform">40,785.7</a>' in report
    assert "2302" in _embedded(report)["runs"]["20250102T030405Z-mem_frag-seglist-virtual"]["windows"]


def test_every_maximum_of_the_table_has_its_waveform(report: str) -> None:
    runs = _embedded(report)["runs"]
    links = re.findall(r'href="#select=([^:"]+):([^"]+)"', _without_library(report))
    # Eight quantities of four runs, and three of the frees of mem_stress; mem_frag has none.
    assert len(links) == 4 * 8 + 2 * 3
    assert all(key.replace("%40", "@") in runs[run]["windows"] for run, key in links)


def test_embedded_windows_are_the_capture(runs: list[LoadedRun], report: str) -> None:
    run = next(run for run in runs if run.manifest.scenario == "mem_frag")
    embedded = _embedded(report)["runs"][run.id]
    edges = run.edges
    assert edges is not None
    level = dict(zip(edges.sample.tolist(), edges.word.tolist(), strict=True))
    for start, end, _, distances, words in list(embedded["windows"].values())[::50]:
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
    page = _without_library(write_report([folder], tmp_path / "report.html").read_text(encoding="utf-8"))
    assert "<img" not in page and "<b>" not in page
    assert page.count("<script") == page.count("</script>") == 3
    assert "&lt;/script&gt;&lt;img src=x onerror=alert(1)&gt;" in page


def test_a_run_that_is_not_complete_says_so_first(tmp_path: Path) -> None:
    reason = "The serial line was cut after 12 records; check the cable."
    folder = write_run(
        tmp_path, "mem_stress", "tlsf", mem_stress("tlsf", 50), verdict="truncated", reasons=(reason,)
    )
    page = _without_library(write_report([folder], tmp_path / "report.html").read_text(encoding="utf-8"))
    header = page[page.index("<header>") : page.index("</header>")]
    assert "1 run shown here is not complete" in header
    assert "µs with tlsf (truncated)" in header
    assert (
        page.count(f'<p class="badge">{folder.name} is truncated: {reason}</p>') == page.count("<figure>") > 0
    )
    assert "<details open>" in page


def test_a_run_without_any_table_still_gives_a_report(tmp_path: Path) -> None:
    folder = write_run(
        tmp_path, "mem_frag", "tlsf", mem_frag("tlsf", 4), verdict="truncated", reasons=("Cut.",)
    )
    for name in ("operations", "interrupts", "edges"):
        (folder / f"{name}.parquet").unlink()
    page = write_report([folder], tmp_path / "report.html").read_text(encoding="utf-8")
    assert "operations.parquet is missing" in page and "<figure>" not in page


def test_no_runs_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(RunError, match="There are no runs to report on"):
        write_report([], tmp_path / "report.html")


def test_an_output_that_cannot_be_written_is_a_sentence(runs_folder: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(WriteError, match="cannot be written"):
        write_report(find_runs(runs_folder)[:1], tmp_path / "file" / "report.html")


def test_allocators_keep_their_colours(runs: list[LoadedRun]) -> None:
    alone = by_scenario([run for run in runs if run.manifest.allocator == "tlsf"])
    together = by_scenario(runs)
    for scenario, series in alone.items():
        assert series[0].style == together[scenario][1].style
    styles = {one.style.colour for one in together["mem_frag"]}
    assert len(styles) == 2
    assert len({one.style.dash for one in together["mem_frag"]}) == 2


def _embedded(page: str) -> dict[str, Any]:
    match = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)
    assert match is not None
    data: dict[str, Any] = json.loads(match[1])
    return data
