"""A run's capture, exported to other formats and imported again, gives the run's findings."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from base.files.errors import CaptureError
from base.run_folder.edges import read_parquet
from capture.acquisition.imported import Beside, Imported, of_plan, of_run
from capture.acquisition.live import Request
from capture.conduct import RunResult, redecode, run
from capture.importing import formats
from capture.importing.formats import Import
from capture.tests import writers
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


def test_an_import_has_the_findings_of_the_run(stored: RunResult, tmp_path: Path) -> None:
    """That the edges are the same, whatever the format, is test_formats'."""
    edges = read_parquet(stored.folder / "edges.parquet")
    imported = formats.read(writers.vcd(tmp_path, edges), writers.CHANNELS, RATE_HZ)
    again = store(imported, of_run(stored.folder), tmp_path / "runs")
    assert (again.verdict, again.reasons) == ("complete", ()) == (stored.verdict, stored.reasons)
    assert findings(again.folder) == findings(stored.folder)
    for table in ("operations.parquet", "interrupts.parquet", "uart.log", "operations.bin"):
        assert (again.folder / table).read_bytes() == (stored.folder / table).read_bytes()
    said = manifest(again.folder)
    assert said["analyzer"] == said["imported"]["format"] == "VCD"
    assert said["imported"]["samplerate_from"] == "option"
    assert redecode(again.folder) == again
    assert manifest(again.folder) == said


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


def test_the_samplerate_of_an_analyzer_is_asked_for(stored: RunResult, tmp_path: Path) -> None:
    """Its edges are rounded to ns, which looks like a bad clip; so nothing is judged without it."""
    edges = read_parquet(stored.folder / "edges.parquet")
    imported = formats.read(writers.logic_2_csv(tmp_path, edges), writers.CHANNELS)
    with pytest.raises(CaptureError, match=r"does not say at which samplerate .* --samplerate") as error:
        store(imported, of_run(stored.folder), tmp_path / "runs")
    assert "clip" not in str(error.value) and not (tmp_path / "runs").exists()


@pytest.mark.parametrize(
    "spoil",
    [
        lambda log: log.replace(b"\n", b"\r\n"),
        lambda log: b"".join(b"[12:00:01.250] " + line for line in log.splitlines(keepends=True)),
        lambda log: log.decode().encode("utf-16"),
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
