"""The terminal's table."""

from __future__ import annotations

import json
import statistics
from pathlib import Path

from dashboards.headline import headline
from dashboards.loaded.lanes import lanes
from dashboards.loaded.runs import LoadedRun, load_run
from dashboards.loaded.series import by_scenario
from dashboards.terminal import as_json, terminal_report
from dashboards.tests.synthetic import mem_frag, write_run


def _printed(runs: list[LoadedRun], full: bool = False) -> list[str]:
    return terminal_report(runs, full=full).splitlines()


def test_rows_are_quantities_with_their_numbers(runs: list[LoadedRun]) -> None:
    lines = [line.split() for line in _printed(runs, full=True)]
    frag = lines[lines.index(["mem_frag"]) : lines.index(["mem_stress"])]
    # Depths 1 to 256, each three times, have 4 to 259 probes.
    probes = [depth + 3 for depth in range(1, 257) for _ in range(3)]
    moments = ["4", f"{statistics.fmean(probes):.1f}", f"{statistics.stdev(probes):.1f}"]
    assert frag[2] == ["masked", "section", "of", "any", "operation", "(µs)"]
    assert ["seglist", "768", *moments, "131", "257", "259", "0"] in frag
    assert ["tlsf", "768", "2", "2", "0", "2", "2", "2", "0"] in frag
    # 3,426 cycles at 84 MHz.
    wire = frag.index(["critical", "section", "on", "the", "wire", "(µs)"])
    row = frag[wire + 2]
    assert row[-2:] == ["40.79", "0.02"]
    summary = next(run for run in runs if run.manifest.allocator == "tlsf").manifest.statistics
    latency = summary["interrupt_latency_ns"]
    values = [latency.min, latency.mean, latency.stdev, 452.4, latency.p99, latency.max, 23.9]
    assert ["tlsf", f"{latency.n:,}", *(f"{value / 1000:,.2f}" for value in values if value)] in frag


def test_it_gives_the_reasons(tmp_path: Path) -> None:
    reason = "The capture [bold]ended[/bold] 1,000 samples early; close other programs and run again."
    folder = write_run(
        tmp_path, "mem_frag", "a_rather_long_name_of_an_allocator", mem_frag("tlsf", 30), verdict="truncated",
        reasons=(reason,),
    )  # fmt: skip
    lines = _printed([load_run(folder)], full=True)
    text = " ".join(line.strip() for line in lines)
    assert "truncated" in text
    assert f"a_rather_long_name_of_an_allocator (truncated): {reason}" in text
    # 90 samples: no 99th percentile.
    probes = lines.index(next(line for line in lines if line.startswith("probes")))
    assert next(line for line in lines[probes:] if " 90 " in line).split()[-8:] == [
        *("90", "2", "2", "0"),
        *("2", "–", "2", "0"),
    ]


def test_two_runs_have_the_same_short_table_and_the_sentence_of_the_overview(runs: list[LoadedRun]) -> None:
    lines = _printed(runs)
    tlsf = next(run for run in runs if run.manifest.allocator == "tlsf").manifest.statistics
    seen = f"{(tlsf['interrupt_latency_ns'].max or 0) / 1000:.2f}"
    at = next(number for number, line in enumerate(lines) if line.strip() == "mem_frag")
    assert lines[at + 1].split() == [
        *("allocator", "wait", "seen", "section"),
        *("without", "allocate", "free"),
    ]
    # Sections of 3,426 and 454 cycles at 84 MHz, and an entry of 46.
    assert lines[at + 3].split() == ["tlsf", "5.95", seen, "5.40", "5.40", "5.40", "–"]
    assert [lines[at + 2].split()[number] for number in (0, 1, 3)] == ["seglist", "41.33", "40.79"]
    text = " ".join(" ".join(lines).split())
    for scenario, series in by_scenario(runs).items():
        for sentence in headline(scenario, lanes(series)):
            assert sentence in text


def test_a_program_gets_every_run_with_its_statistics(runs: list[LoadedRun]) -> None:
    document = json.loads(json.dumps(as_json(runs, Path("build/dashboard.html"))))
    assert document["dashboard"] == "build/dashboard.html"
    assert [document["folder"] for document in document["runs"]] == [str(run.folder) for run in runs]
    for row in document["runs"]:
        manifest = json.loads((Path(row["folder"]) / "run.json").read_text())
        assert row["verdict"] == manifest["verdict"] and row["reasons"] == manifest["reasons"]
        assert row["statistics"]["critical_ns"]["max"] == manifest["critical_ns"]["max"]
