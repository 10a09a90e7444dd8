"""What a file tells by itself, against sums by hand."""

from pathlib import Path

import pytest

from base.run_folder.observed import AskedEdges, Keep, ObservedManifest, read_observed_manifest
from capture.acquisition.imported import ObservedFile
from capture.acquisition.source import Request
from capture.conduct import run
from capture.importing import formats
from capture.reading.observed import Questions
from tests.tables import table

QUESTIONS = Questions(("!nACK",), (("TRIG", "!nACK"),))
PULSED = """Time [s],TRIG,nACK
0.000000,0,1
0.001000,1,1
0.001002,0,1
0.001005,0,0
0.001008,0,1
0.002000,1,1
0.002002,0,1
0.002009,0,0
0.002012,0,1
0.002500,0,0
0.002501,0,1
"""


def look(tmp_path: Path, edges: AskedEdges = "auto", keep: Keep | None = None) -> ObservedManifest:
    (tmp_path / "pulsed.csv").write_text(PULSED, encoding="utf-8")
    file = formats.read(tmp_path / "pulsed.csv", None, 1_000_000)
    result = run(ObservedFile(file, QUESTIONS, edges, Request(runs=tmp_path / f"runs-{edges}"), keep))
    assert (result.folder / "edges.parquet").exists() == (keep is None)
    return read_observed_manifest(result.folder / "run.json")


def test_a_pulsed_stimulus_is_told_from_its_leading_edge(tmp_path: Path) -> None:
    """From the rises of TRIG to the falls of nACK 5 and 9 µs; that at 2.5 ms answers nothing."""
    result = look(tmp_path)
    latency, widths = result.latencies_ns["TRIG to !nACK"], result.widths_ns["!nACK"]
    assert (latency.n, latency.min, latency.max) == (2, 5000, 9000)
    assert result.stimuli == {"TRIG to !nACK": "rising"} and result.unasked == {"TRIG to !nACK": 1}
    place = result.longest["TRIG to !nACK"]
    assert (place.start, place.end) == (2000, 2009)
    assert (widths.n, widths.min, widths.max) == (3, 1000, 3000)
    assert result.duty["!nACK"] == pytest.approx(6 / 1495)
    # A pulse of one sample may hide shorter ones.
    assert result.verdict == "inconclusive" and "single sample" in " ".join(result.reasons)


@table
def test_the_edges_that_are_asked_for_count(
    tmp_path: Path, edges: AskedEdges, longest_ns: float, merged: int
) -> None:
    result = look(tmp_path, edges)
    assert result.latencies_ns["TRIG to !nACK"].max == longest_ns
    assert result.merged == {"TRIG to !nACK": merged}


def test_windows_that_are_kept_are_counted_as_the_whole(tmp_path: Path) -> None:
    """The longest pulse and the longest latency."""
    result, whole = look(tmp_path, "rising", Keep(worst=1, around_s=3e-6)), look(tmp_path, "both")
    assert result.widths_ns == whole.widths_ns and result.kept
    places = {place.of: (place.start, place.end) for place in result.kept.windows}
    assert places["TRIG to !nACK"] == (2000, 2009) and places["!nACK"] == (1005, 1008)
