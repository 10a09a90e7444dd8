"""What is read of a capture without records, against waveforms that are drawn by hand."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from base.run_folder.edges import EdgeList
from base.run_folder.manifest import ToolReport
from base.run_folder.observed import (
    KIND,
    SCHEMA,
    Asked,
    AskedEdges,
    Keep,
    ObservedManifest,
    read_observed_manifest,
)
from capture.acquisition.imported import ObservedFile
from capture.acquisition.keeper import Keeper, Keeping
from capture.acquisition.live import Request
from capture.conduct import run
from capture.importing import formats
from capture.reading.observed import ObservedWire, Questions, of_windows, read_observed
from capture.summary.observed import Seen, judge
from capture.tests.waveform import Waveform, frame_edges
from tests.tables import table

HZ = 84_000_000
START_S, END_S = 0.0001, 0.003


def framed(begin: bool = True, end: bool = True, toggled: bool = True) -> EdgeList:
    """Sixteen empty sections of 4 samples, then two of 100 and 300; and the same behind the end."""
    start_frame = frame_edges(START_S, 840, HZ, HZ) if begin else []
    end_frame = frame_edges(END_S, 1260, HZ, HZ) if end else []
    first, last = frame_edges(START_S, 840, HZ, HZ)[-1], frame_edges(END_S, 1260, HZ, HZ)[-1]
    empty = [first + 300 * n for n in range(1, 17)] + [last + 300 * n for n in range(1, 17)]
    own = [(first + 10_000, 100), (first + 20_000, 300)]
    crit = [edge for at, width in [(1000, 50), *((at, 4) for at in empty), *own] for edge in (at, at + width)]
    sync = [first + 6_000, first + 50_000] if toggled else []
    toggles = {"CRIT": crit, "SYNC": [*start_frame, *sync, *end_frame]}
    return Waveform(400_000, HZ, toggles, ("CRIT", "SYNC")).edges()


def widths(observed: ObservedWire) -> list[int]:
    start, end = observed.spans["CRIT, width"]
    result: list[int] = (end - start).tolist()
    return result


def test_between_the_frames_are_the_program_and_its_calibration() -> None:
    observed = read_observed(framed())
    assert widths(observed) == [100, 300]
    assert observed.widths_ns["CRIT"].max == pytest.approx(300 / HZ * 1e9)
    assert observed.intervals_ns["CRIT"].max == pytest.approx(10_000 / HZ * 1e9)
    assert observed.calibration_ns["CRIT"].n == 32
    assert observed.calibration_ns["CRIT"].max == pytest.approx(4 / HZ * 1e9)
    assert observed.clock is not None and observed.clock.ratio == pytest.approx(1, abs=1e-5)


def test_without_frames_all_of_the_capture_is_the_program() -> None:
    for observed in (read_observed(framed(begin=False, end=False)), read_observed(framed(), framed=False)):
        assert len(widths(observed)) == 1 + 16 + 2 + 16
        assert observed.calibration_ns == {} and observed.clock is None


def test_one_frame_bounds_one_side() -> None:
    assert widths(read_observed(framed(end=False))) == [100, 300] + [4] * 16
    assert widths(read_observed(framed(begin=False))) == [50] + [4] * 16 + [100, 300]


# What a file tells by itself, against sums by hand.


QUESTIONS = Questions(("!nACK",), ("TRIG:!nACK",))
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


# The verdict of a run from the wire alone: each rule has its fault, and a healthy run none.


PINS = {"CRIT": "PA8", "STIM": "PA0", "ISR": "PA10", "SYNC": "PB4"}
REQUEST = Asked.model_validate(
    {
        "schema": SCHEMA,
        "kind": KIND,
        "board": "virtual",
        "analyzer": "beaglelogic",
        "pins": PINS,
        "stimulus_edges": "both",
        "program": {"elf": None, "elf_sha256": None},
        "tools": {},
    }
)


def report(edges: EdgeList, **fields: object) -> ToolReport:
    return ToolReport.model_validate({"asked_samples": edges.total_samples, **fields})


def both(edges: EdgeList, tools: ToolReport) -> tuple[Seen, Seen]:
    """The capture, whole, and of which windows were kept."""
    keeper = Keeper(Path("nowhere"), edges.samplerate_hz, edges.channels, tools.asked_samples, Keeping(2, 9))
    keeper.append(edges.sample, edges.word, edges.total_samples)
    keeper.close()
    whole, windows = read_observed(edges, framed=False), of_windows(keeper.kept)
    return Seen(tools, whole, REQUEST), Seen(tools, windows, REQUEST)


@table
def test_a_capture_and_its_windows_get_one_verdict(
    pulses: str, fields: dict[str, object], verdict: str, words: str | None
) -> None:
    wave = Waveform(900, channels=("CRIT", "STIM", "ISR"))
    for channel, begin, end in re.findall(r"(\w+) (\d+)-(\d+)", pulses):
        wave.pulse(channel, int(begin), int(end))
    for seen in both(wave.edges(), report(wave.edges(), **fields)):
        told(seen, verdict, words)


def told(seen: Seen, verdict: str, words: str | None) -> None:
    assert judge(seen)[0] == verdict
    assert len(judge(seen)[1]) == (words is not None)
    assert all(str(words) in reason for reason in judge(seen)[1])


@table
def test_a_pulse_that_the_end_cuts_off(channel: str, toggles: tuple[int, ...], words: str | None) -> None:
    edges = Waveform(1000, toggles={channel: [*toggles]}, channels=(channel,)).edges()
    for seen in both(edges, report(edges)):
        told(seen, "inconclusive" if words else "complete", words)


@table
def test_one_frame_is_a_part_of_a_run(of_frames: dict[str, bool], words: str | None) -> None:
    edges = framed(**of_frames)
    told(Seen(report(edges), read_observed(edges), REQUEST), "truncated" if words else "complete", words)
