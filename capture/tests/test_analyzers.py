"""The analyzer before a run: the demo device is asked in earnest, others by a stand-in."""

from __future__ import annotations

import stat
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest

from base.files.errors import CaptureError
from base.run_folder.edges import CHANNELS
from base.tests.sentences import is_sentence
from capture.acquisition.analyzers import check_analyzer, devices, listed
from capture.acquisition.observe import observe
from capture.acquisition.saleae import Device
from capture.desk.bench import AnalyzerResource, BoardResource, read_bench
from capture.joining.evidence import Evidence, decode
from capture.tests.logic2 import Logic2, serving
from capture.tests.socket_board import SocketBoard
from capture.tests.synthetic import CORE_HZ, SyntheticRun, small_plan
from capture.tests.test_observe import order_for
from capture.verdict.verdict import judge
from tests.tables import table

EIGHT = tuple(f"D{number}" for number in range(8))
SCAN = """\
The following devices were found:
fx2lafw:conn=1.12 - Saleae Logic with 8 channels: D0 D1 D2 D3 D4 D5 D6 D7
fx2lafw:conn=3.4 - sigrok FX2 LA (8ch) with 8 channels: D0 D1 D2 D3 D4 D5 D6 D7
dreamsourcelab-dslogic:conn=1.9 - DreamSourceLab DSLogic Plus [S/N: 1] with 3 channels: 0 1 2
beaglelogic - BeagleLogic 1.0 with 2 channels: P8_45 P8_46
fx2lafw - with 1 channel: D0
"""
NUCLEO = read_bench().board("nucleo")


def test_the_scan_is_read() -> None:
    assert listed(SCAN) == (
        Device("fx2lafw", "1.12", "Saleae Logic", EIGHT),
        Device("fx2lafw", "3.4", "sigrok FX2 LA (8ch)", EIGHT),
        Device("dreamsourcelab-dslogic", "1.9", "DreamSourceLab DSLogic Plus [S/N: 1]", ("0", "1", "2")),
        Device("beaglelogic", None, "BeagleLogic 1.0", ("P8_45", "P8_46")),
        Device("fx2lafw", None, "", ("D0",)),
    )
    assert listed("") == listed("No devices found.\n") == ()


def test_the_real_tool_is_read() -> None:
    """sigrok-cli's demo device, which is always there."""
    (demo,) = devices(NUCLEO.analyzer.model_copy(update={"driver": "demo"}))
    assert (demo.title, demo.inputs[:8]) == ("Demo device", EIGHT)
    with pytest.raises(CaptureError, match=r"--driver moon --scan fails \(Driver moon not found\)"):
        devices(NUCLEO.analyzer.model_copy(update={"driver": "moon"}))


def board(**analyzer: object) -> BoardResource:
    """The Nucleo of bench.toml with another analyzer, which a preset fills in."""
    values = analyzer if "preset" in analyzer else {"samplerate_hz": 1_000_000, **analyzer}
    return replace(NUCLEO, analyzer=AnalyzerResource.model_validate(values))


@pytest.mark.parametrize(("settings", "refused"), [({}, False), ({"moon": 1}, True)])
def test_what_the_driver_has_not_is_refused_before_a_board_is_loaded(
    settings: dict[str, object], refused: bool
) -> None:
    watched = board(driver="demo", settings=settings)
    if not refused:
        check_analyzer(watched, 1_000_000, 1.0)
        return
    with pytest.raises(CaptureError, match=r"^sigrok-cli cannot capture so with the analyzer demo .*moon"):
        check_analyzer(watched, 1_000_000, 1.0)


@table
def test_an_analyzer_that_will_not_do_is_refused(
    tmp_path: Path, lines: tuple[int, ...], values: dict[str, object], sentence: str
) -> None:
    """`lines` are those of SCAN that the tool prints."""
    tool = tmp_path / "other-sigrok"
    shown = "\n".join(SCAN.splitlines()[line] for line in lines)
    tool.write_text(f"#!/bin/sh\ncat <<'EOF'\n{shown}\nEOF\n", encoding="utf-8")
    tool.chmod(tool.stat().st_mode | stat.S_IXUSR)
    watched = board(**values, sigrok=str(tool))
    if not sentence:
        check_analyzer(watched, 1_000_000, 1.0)
        return
    with pytest.raises(CaptureError) as refusal:
        check_analyzer(watched, 1_000_000, 1.0)
    assert is_sentence(str(refusal.value), sentence), str(refusal.value)


# Captures by Logic 2's interface: a server of ours plays it, with a board's edges behind it.


@pytest.fixture(scope="module")
def run() -> SyntheticRun:
    return SyntheticRun(small_plan(depth=3))


def analyzer(at: str, **more: object) -> AnalyzerResource:
    values = {"driver": "saleae-logic2", "samplerate_hz": CORE_HZ, "connection": at, **more}
    return AnalyzerResource.model_validate(values)


def observed(run: SyntheticRun, logic2: Logic2, rate_hz: int = CORE_HZ, **more: object) -> Evidence:
    """A run whose records come by a socket, and whose edges by Logic 2."""
    with serving(logic2) as at, SocketBoard(run.uart()) as board, TemporaryDirectory() as folder:
        order = replace(order_for(run, 2.0), analyzer=analyzer(at, **more), samplerate_hz=rate_hz)
        seen = observe(board, order, board.progress, Path(folder))
    return decode(run.plan, seen.report, seen.edges, seen.serial_bytes)


def test_what_is_asked_is_what_bench_toml_says(run: SyntheticRun) -> None:
    """CRIT is on input 7 there, OP on input 6, and so on; nothing is held against the run."""
    edges = run.edges()
    bits = np.unpackbits(edges.word[:, None], axis=1, bitorder="little")
    turned = replace(edges, word=np.packbits(bits, axis=1)[:, 0], channels=tuple(reversed(CHANNELS)))
    logic2 = Logic2(turned)
    channels = {name: f"D{turned.channels.index(name)}" for name in CHANNELS}
    settings = {"device": "F4241", "digital_threshold_volts": 1.8, "buffer_size_megabytes": 512}
    evidence = observed(run, logic2, channels=channels, settings=settings)
    assert evidence.edges == edges
    assert judge(evidence) == ("complete", ())
    assert logic2.closed == 1, "no tab is left open in Logic 2"
    (request,) = logic2.asked
    device = request.logic_device_configuration
    assert list(device.logic_channels.digital_channels) == list(range(8))
    assert (request.device_id, device.digital_sample_rate) == ("F4241", CORE_HZ)
    assert device.digital_threshold_volts == 1.8
    configuration = request.capture_configuration
    assert configuration.buffer_size_megabytes == 512
    duration_s = configuration.timed_capture_mode.duration_seconds
    assert duration_s == pytest.approx(edges.total_samples / CORE_HZ, abs=0.02)


@table
def test_what_it_cannot_do_is_told_before_a_board_is_loaded(
    run: SyntheticRun, logic2: dict[str, tuple[str, ...]], sentence: str
) -> None:
    with serving(Logic2(run.edges(), **logic2)) as at:  # type: ignore[arg-type]
        made = analyzer(at)
        board = replace(read_bench().board("nucleo"), analyzer=made)
        with pytest.raises(CaptureError) as refusal:
            check_analyzer(board, made.samplerate_hz, 1.0)
    assert is_sentence(str(refusal.value), sentence), str(refusal.value)


def test_a_capture_that_logic_2_refuses_is_one_sentence(run: SyntheticRun) -> None:
    words = r"^Logic 2 cannot capture so \(25000000 is not a valid digital sample rate\): see that it runs "
    with pytest.raises(CaptureError, match=words):
        observed(run, Logic2(run.edges()), 25_000_000)
