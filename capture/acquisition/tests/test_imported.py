"""A run's capture, exported to other formats and imported again, gives the run's findings."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from base.files.errors import CaptureError
from base.run_folder.edges import EdgeList, read_parquet
from base.run_folder.observed import AskedEdges, ObservedManifest, read_observed_manifest
from base.run_folder.records import encode
from base.run_index.index import index
from capture.acquisition.imported import Beside, Imported, ObservedFile, of_plan, of_run
from capture.acquisition.source import Request
from capture.conduct import redecode, run
from capture.importing import formats
from capture.importing.formats import Import
from capture.importing.tests import writers
from capture.reading.observed import Questions
from capture.store import RunResult
from capture.tests.synthetic import SyntheticRun, small_plan
from capture.tests.test_redecode import store as store_made_up

RATE_HZ = 84_000_000
# What an import says otherwise than the run that it was taken of.
OF_THE_IMPORT = ("imported", "analyzer", "tools", "warnings")


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> RunResult:
    return store_made_up(SyntheticRun(small_plan(depth=3)), tmp_path_factory.mktemp("runs"))


def store(imported: Import, beside: Beside, runs: Path) -> RunResult:
    return run(Imported(imported, beside, Request(runs=runs)))


def manifest(folder: Path) -> dict[str, Any]:
    document: dict[str, Any] = json.loads((folder / "run.json").read_text(encoding="utf-8"))
    return document


def findings(folder: Path) -> dict[str, Any]:
    return {key: value for key, value in manifest(folder).items() if key not in OF_THE_IMPORT}


def by_name(path: Path) -> Import:
    return formats.read(path)


def by_number(path: Path) -> Import:
    return formats.read(path, writers.CHANNELS, RATE_HZ)


@pytest.mark.parametrize(
    ("write", "read", "kind", "rate_from"),
    [
        (lambda to, edges: writers.by_sigrok(to, edges, "sr"), by_name, "sigrok session", "file"),
        (lambda to, edges: writers.by_sigrok(to, edges, "vcd", "-O", "vcd"), by_name, "VCD", "file"),
        (writers.vcd, by_number, "VCD", "option"),
        (writers.logic_2_binary, by_number, "Saleae binary", "option"),
    ],
)
def test_an_import_has_the_edges_and_the_findings_of_the_run(
    stored: RunResult,
    tmp_path: Path,
    write: Callable[[Path, EdgeList], Path],
    read: Callable[[Path], Import],
    kind: str,
    rate_from: str,
) -> None:
    edges = read_parquet(stored.folder / "edges.parquet")
    imported = read(write(tmp_path, edges))
    assert imported.edges == edges
    again = store(imported, of_run(stored.folder), tmp_path / "runs")
    assert (again.verdict, again.reasons) == ("complete", ()) == (stored.verdict, stored.reasons)
    assert findings(again.folder) == findings(stored.folder)
    for table in ("operations.parquet", "interrupts.parquet", "uart.log", "operations.bin"):
        assert (again.folder / table).read_bytes() == (stored.folder / table).read_bytes()
    said = manifest(again.folder)
    assert said["analyzer"] == said["imported"]["format"] == kind
    assert said["imported"]["samplerate_from"] == rate_from
    assert redecode(again.folder) == again
    assert manifest(again.folder) == said


@pytest.mark.parametrize("write", [writers.logic_2_csv, writers.logic_1_csv])
def test_a_file_that_does_not_tell_its_end_gives_the_same_findings(
    stored: RunResult, tmp_path: Path, write: Callable[[Path, EdgeList], Path]
) -> None:
    edges = read_parquet(stored.folder / "edges.parquet")
    again = store(by_number(write(tmp_path, edges)), of_run(stored.folder), tmp_path / "runs")
    before, after = findings(stored.folder), findings(again.folder)
    assert after.pop("total_samples") == edges.sample[-1] + 1 < before.pop("total_samples")
    assert after.pop("tool_report")["asked_samples"] < before.pop("tool_report")["asked_samples"]
    for document in (before, after):
        document["files"].pop("edges.parquet")
    assert after == before
    columns = pl.read_parquet(stored.folder / "operations.parquet")
    assert pl.read_parquet(again.folder / "operations.parquet").equals(columns)


def test_plan_and_records_are_enough(stored: RunResult, tmp_path: Path) -> None:
    """Without the run's folder the firmware is known by its records alone."""
    plan = SyntheticRun(small_plan(depth=3)).plan
    account = of_plan(plan, "tlsf", stored.folder / "uart.log")
    again = store(formats.read(stored.folder / "capture.sr"), account, tmp_path)
    assert again.verdict == "complete"
    assert again.folder.name.endswith(f"-{plan.name}-tlsf-imported")
    said, before = manifest(again.folder), manifest(stored.folder)
    facts = {"allocator": "tlsf", "board": "nucleo-f401re"}
    assert said["asked"] == {**dict.fromkeys(before["asked"]), **facts}
    for key in ("critical_ns", "interrupt_latency_ns", "maxima", "counts", "clock"):
        assert said[key] == before[key]


@pytest.mark.parametrize(
    ("told", "taken"), [("nucleo-f446re", "nucleo-f446re"), ("a-users-own", "nucleo-f401re")]
)
def test_the_records_tell_of_the_board(told: str, taken: str, tmp_path: Path) -> None:
    log = tmp_path / "uart.log"
    log.write_bytes(
        encode(f"BOOT,7,tlsf,65536,180000000,00000705,V11.2.0,1,65520,basepri,none,bypass,04000000,{told}")
    )
    firmware = of_plan(SyntheticRun(small_plan(depth=3)).plan, "tlsf", log).account.asked
    assert firmware is not None and firmware.board == taken


def test_a_board_that_is_named_is_taken_and_held_against_the_records(
    stored: RunResult, tmp_path: Path
) -> None:
    plan = SyntheticRun(small_plan(depth=3)).plan
    account = of_plan(plan, "tlsf", stored.folder / "uart.log", board="nucleo-f411re")
    result = store(formats.read(stored.folder / "capture.sr"), account, tmp_path)
    assert manifest(result.folder)["asked"]["board"] == "nucleo-f411re"
    assert result.verdict == "inconclusive"
    assert any("nucleo-f411re" in reason for reason in result.reasons)


def test_without_records_the_run_is_truncated(stored: RunResult, tmp_path: Path) -> None:
    account = of_plan(SyntheticRun(small_plan(depth=3)).plan, "tlsf", log=None)
    result = store(formats.read(stored.folder / "capture.sr"), account, tmp_path)
    assert result.verdict == "truncated"
    assert any("stop without END" in reason for reason in result.reasons)


def test_a_samplerate_that_nobody_states_is_a_doubt(stored: RunResult, tmp_path: Path) -> None:
    edges = read_parquet(stored.folder / "edges.parquet")
    imported = formats.read(writers.vcd(tmp_path, edges), writers.CHANNELS)
    result = store(imported, of_run(stored.folder), tmp_path / "runs")
    assert result.verdict == "inconclusive"
    assert "import it again with --samplerate" in " ".join(result.reasons)


@pytest.mark.parametrize("write", [writers.logic_2_csv, writers.logic_1_csv, writers.logic_2_binary])
def test_the_samplerate_of_an_analyzer_is_asked_for(
    stored: RunResult, tmp_path: Path, write: Callable[[Path, EdgeList], Path]
) -> None:
    """Its edges are rounded to ns, which looks like a bad clip; so nothing is judged without it."""
    edges = read_parquet(stored.folder / "edges.parquet")
    imported = formats.read(write(tmp_path, edges), writers.CHANNELS)
    with pytest.raises(CaptureError, match=r"does not say at which samplerate .* --samplerate") as error:
        store(imported, of_run(stored.folder), tmp_path / "runs")
    assert "clip" not in str(error.value) and not (tmp_path / "runs").exists()


def test_a_cut_file_gives_a_truncated_run(stored: RunResult, tmp_path: Path) -> None:
    """Half of the capture: what is in it is judged, and the cut is the first reason."""
    path = writers.by_sigrok(tmp_path, read_parquet(stored.folder / "edges.parquet"), "csv", "-O", "csv")
    data = path.read_bytes()
    path.write_bytes(data[: len(data) // 2 + 3])
    result = store(formats.read(path), of_run(stored.folder), tmp_path / "runs")
    assert result.verdict == "truncated"
    assert "exported.csv was cut in the middle" in " ".join(result.reasons)
    assert manifest(result.folder)["total_samples"] < manifest(stored.folder)["total_samples"]


def test_an_imported_run_is_called_so(stored: RunResult, tmp_path: Path) -> None:
    """In the name of its folder, the run index, and what every page calls it."""
    result = store(formats.read(stored.folder / "capture.sr"), of_run(stored.folder), tmp_path / "runs")
    assert ".imported-" in result.folder.name
    (row,) = index(tmp_path / "runs").to_dicts()
    assert row["configuration"].endswith("imported from capture.sr")


def test_records_of_another_take_leave_out_what_was_counted_in_the_first(
    stored: RunResult, tmp_path: Path
) -> None:
    log = tmp_path / "other.log"
    log.write_bytes((stored.folder / "uart.log").read_bytes())
    account = of_run(stored.folder, log)
    assert account.counts is None and account.account.setting.memory is None
    assert account.serial_bytes == log.read_bytes()


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


def look(
    tmp_path: Path, questions: Questions, edges: AskedEdges = "auto", text: str = PULSED
) -> ObservedManifest:
    (tmp_path / "pulsed.csv").write_text(text, encoding="utf-8")
    file = formats.read(tmp_path / "pulsed.csv", None, 1_000_000)
    result = run(ObservedFile(file, questions, edges, Request(runs=tmp_path / "runs")))
    assert set(pl.read_parquet(result.folder / "spans.parquet").columns) == {"of", "start", "end", "ns"}
    return read_observed_manifest(result.folder / "run.json")


def test_a_pulsed_stimulus_is_told_from_its_leading_edge(tmp_path: Path) -> None:
    """From the rises of TRIG to the falls of nACK 5 and 9 µs; that at 2.5 ms answers nothing."""
    result = look(tmp_path, Questions(("!nACK",), (("TRIG", "!nACK"),)))
    latency = result.latencies_ns["TRIG to !nACK"]
    assert (latency.n, latency.min, latency.max) == (2, 5000, 9000)
    assert result.stimuli == {"TRIG to !nACK": "rising"} and result.unasked == {"TRIG to !nACK": 1}
    place = result.longest["TRIG to !nACK"]
    assert (place.start, place.end) == (2000, 2009)
    widths = result.widths_ns["!nACK"]
    assert (widths.n, widths.min, widths.max) == (3, 1000, 3000)
    assert result.duty["!nACK"] == pytest.approx(6 / 1495)
    # A pulse of one sample may hide shorter ones.
    assert result.verdict == "inconclusive" and "single sample" in " ".join(result.reasons)


def test_every_edge_counts_where_it_is_asked_for_and_what_waits_is_merged(tmp_path: Path) -> None:
    result = look(tmp_path, Questions((), (("TRIG", "!nACK"),)), "both")
    assert result.latencies_ns["TRIG to !nACK"].max == 9000 and result.merged == {"TRIG to !nACK": 2}
    falls = look(tmp_path, Questions((), (("TRIG", "!nACK"),)), "falling")
    assert falls.latencies_ns["TRIG to !nACK"].max == 7000


def test_a_sound_file_is_complete_and_a_toggled_stimulus_has_both_edges(tmp_path: Path) -> None:
    """Each of four edges is answered after 3 µs; a channel that nobody asks of may be still."""
    text = "Time [s],STIM,ISR,OP\n0.000000,0,0,0\n"
    for number in range(1, 5):
        at, level = number * 1000, number % 2
        text += f"0.00{at},{level},0,0\n0.00{at + 3},{level},1,0\n0.00{at + 5},{level},0,0\n"
    result = look(tmp_path, Questions((), (("STIM", "ISR"),)), text=text)
    assert (result.verdict, result.stimuli) == ("complete", {"STIM to ISR": "both"})
    assert (result.latencies_ns["STIM to ISR"].n, result.latencies_ns["STIM to ISR"].max) == (4, 3000)


def test_a_run_has_eight_channels(stored: RunResult, tmp_path: Path) -> None:
    imported = formats.read(stored.folder / "capture.sr")
    edges = imported.edges
    few = replace(
        imported,
        edges=EdgeList(edges.sample[:1], np.zeros(1, np.uint8), RATE_HZ, edges.total_samples, ("CRIT",)),
    )
    with pytest.raises(CaptureError, match="OP, STIM, ISR, TASK, CTRL, CISR, SYNC of the file are not named"):
        store(few, of_run(stored.folder), tmp_path)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "spoil",
    [
        lambda log: log.replace(b"\n", b"\r\n"),
        lambda log: log.replace(b"\n", b"\r"),
        lambda log: log.replace(b"\n", b"\r\r\n"),
        lambda log: b"".join(b"[12:00:01.250] " + line for line in log.splitlines(keepends=True)),
        lambda log: log.decode().encode("utf-16"),
        lambda log: b"\xef\xbb\xbf" + log,
    ],
)
def test_a_terminals_log_has_the_records_that_were_sent(
    stored: RunResult, tmp_path: Path, spoil: Callable[[bytes], bytes]
) -> None:
    sent = (stored.folder / "uart.log").read_bytes()
    (tmp_path / "terminal.log").write_bytes(spoil(sent))
    again = of_run(stored.folder, tmp_path / "terminal.log").serial_bytes
    assert again.removeprefix(b"\xef\xbb\xbf") == sent
    damaged = sent.replace(b"OP", b"O\r", 1)
    (tmp_path / "terminal.log").write_bytes(damaged)
    assert of_run(stored.folder, tmp_path / "terminal.log").serial_bytes == damaged


def test_a_log_that_is_not_there_is_one_sentence(stored: RunResult, tmp_path: Path) -> None:
    with pytest.raises(CaptureError, match=r"nowhere\.log cannot be read as a log of records"):
        of_run(stored.folder, tmp_path / "nowhere.log")
