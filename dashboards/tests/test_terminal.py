"""The terminal's table."""

from __future__ import annotations

import io
import statistics
from pathlib import Path

from rich.console import Console

from dashboards.loaded.runs import LoadedRun, load_run
from dashboards.tables.details import details
from dashboards.terminal import terminal_report
from dashboards.tests.synthetic import mem_frag, write_run


def _printed(runs: list[LoadedRun]) -> list[str]:
    console = Console(file=io.StringIO(), width=100, color_system=None)
    console.print(terminal_report(runs))
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue().splitlines()


def test_rows_are_quantities_with_their_numbers(runs: list[LoadedRun]) -> None:
    lines = [line.split() for line in _printed(runs)]
    frag = lines[lines.index(["mem_frag"]) : lines.index(["mem_stress"])]
    assert ["verdict", "seglist", "complete"] in frag
    # Depths 1 to 256, each three times, have 4 to 259 probes.
    probes = [depth + 3 for depth in range(1, 257) for _ in range(3)]
    moments = ["4", f"{statistics.fmean(probes):.1f}", f"{statistics.stdev(probes):.1f}"]
    assert ["probes", "of", "an", "allocation", "seglist", "768", *moments, "131", "257", "259", "0"] in frag
    assert ["tlsf", "768", "2", "2", "0", "2", "2", "2", "0"] in frag
    # 3,426 cycles at 84 MHz.
    row = next(line for line in frag if line[:4] == ["critical", "section", "on", "the"])
    assert row[-2:] == ["40,785.7", "23.9"]
    summary = next(run for run in runs if run.manifest.allocator == "tlsf").manifest.statistics
    latency = summary["interrupt_latency_ns"]
    told = [latency.min, latency.mean, latency.stdev, 452.4, latency.p99, latency.max, 23.9]
    assert ["tlsf", f"{latency.n:,}", *(f"{value:,.1f}" for value in told)] in frag


def test_it_fits_100_columns_and_gives_the_reasons(tmp_path: Path) -> None:
    reason = "The capture [bold]ended[/bold] 1,000 samples early; close other programs and run again."
    folder = write_run(
        tmp_path, "mem_frag", "a_rather_long_name_of_an_allocator", mem_frag("tlsf", 30), verdict="truncated",
        reasons=(reason,),
    )  # fmt: skip
    lines = _printed([load_run(folder)])
    assert max(len(line) for line in lines) <= 100
    text = " ".join(line.strip() for line in lines)
    assert "truncated" in text
    assert f"a_rather_long_name_of_an_allocator (truncated): {reason}" in text
    # 90 samples: no 99th percentile.
    assert next(line for line in lines if line.startswith("probes")).split()[-8:] == [
        *("90", "2", "2", "0"),
        *("2", "–", "2", "0"),
    ]


def test_a_recording_that_was_replayed_is_told_once(tmp_path: Path) -> None:
    parameters = {"trace": "own.csv", "trace_sha256": "ab" * 32, "scale": 3, "divide": 2}
    folders = [
        write_run(tmp_path, "recorded", name, mem_frag("tlsf", 30), changes={"parameters": parameters})
        for name in ("tlsf", "seglist")
    ]
    text = " ".join(" ".join(_printed([load_run(folder) for folder in folders])).split())
    words = f"those of the trace own.csv (SHA-256 {'ab' * 32}), with one block in 3 and sizes divided by 2."
    assert text.count(words) == 1
    assert all(words in details(load_run(folder)).sentences[0] for folder in folders)
