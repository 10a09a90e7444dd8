"""Captures by Logic 2's interface: a server of ours plays it, with a board's edges behind it."""

from __future__ import annotations

import signal
import threading
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from base.files.errors import CaptureError
from base.files.tests.sentences import is_sentence
from base.processes import signals
from base.run_folder.edges import CHANNELS
from capture.acquisition.observe import Order, observe
from capture.acquisition.saleae import SaleaeCapture, check_saleae, devices, versions
from capture.acquisition.sigrok_cli import CaptureResult
from capture.acquisition.sigrok_options import check_analyzer
from capture.acquisition.tests.logic2 import DEVICE, MEMORY, Logic2, serving
from capture.acquisition.tests.socket_board import SocketBoard
from capture.checks.ask import ask
from capture.desk.bench import AnalyzerResource, read_bench
from capture.joining.evidence import Evidence, decode
from capture.tests.synthetic import CORE_HZ, SyntheticRun, small_plan
from capture.verdict.verdict import judge


@pytest.fixture(scope="module")
def run() -> SyntheticRun:
    return SyntheticRun(small_plan(depth=3))


def analyzer(at: str, **more: object) -> AnalyzerResource:
    values = {"driver": "saleae-logic2", "samplerate_hz": CORE_HZ, "connection": at, **more}
    return AnalyzerResource.model_validate(values)


def captured(logic2: Logic2, samples: int, taken: tuple[str, ...] = CHANNELS) -> CaptureResult:
    with serving(logic2) as at, SaleaeCapture(analyzer(at), CORE_HZ, samples, taken) as capture:
        capture.start()
        return capture.wait(0.0)


def observed(run: SyntheticRun, logic2: Logic2, **more: object) -> Evidence:
    """A run whose records come by a socket, and whose edges by Logic 2."""
    edges = run.edges()
    with serving(logic2) as at, SocketBoard(run.uart()) as board, TemporaryDirectory() as folder:
        order = Order(
            elf=Path("fw.elf"),
            image=run.plan.image,
            analyzer=analyzer(at, **more),
            samplerate_hz=CORE_HZ,
            duration_s=edges.total_samples / CORE_HZ,
            silence_s=2.0,
        )
        seen = observe(board, order, board.progress, Path(folder))
    return decode(run.plan, seen.report, seen.edges, seen.serial_bytes)


def test_a_whole_run_is_as_by_sigrok(run: SyntheticRun) -> None:
    """Its edges are the board's, and nothing is held against it."""
    logic2 = Logic2(run.edges())
    evidence = observed(run, logic2)
    assert evidence.edges == run.edges()
    assert judge(evidence) == ("complete", ())
    assert logic2.closed == 1, "no tab is left open in Logic 2"


def test_what_is_asked_is_what_bench_toml_says(run: SyntheticRun) -> None:
    """CRIT is on input 7 there, OP on input 6, and so on."""
    edges = run.edges()
    turned = replace(edges, channels=tuple(reversed(CHANNELS)))
    assert turned.channels[0] == "SYNC"
    logic2 = Logic2(turned)
    channels = {name: f"D{turned.channels.index(name)}" for name in CHANNELS}
    settings = {"device": "F4241", "digital_threshold_volts": 1.8, "buffer_size_megabytes": 512}
    evidence = observed(run, logic2, channels=channels, settings=settings)
    for name in CHANNELS:
        assert evidence.edges.transitions(name).sample.tolist() == turned.transitions(name).sample.tolist()
    (request,) = logic2.asked
    device = request.logic_device_configuration
    assert list(device.logic_channels.digital_channels) == list(range(8))
    assert (request.device_id, device.digital_sample_rate) == ("F4241", CORE_HZ)
    assert device.digital_threshold_volts == 1.8
    configuration = request.capture_configuration
    assert configuration.buffer_size_megabytes == 512
    duration_s = configuration.timed_capture_mode.duration_seconds
    assert duration_s == pytest.approx(edges.total_samples / CORE_HZ, abs=0.02)


def test_only_the_channels_that_are_taken_are_kept(run: SyntheticRun) -> None:
    edges = run.edges()
    result = captured(Logic2(edges), edges.total_samples, ("CRIT", "ISR"))
    assert result.edges.channels == ("CRIT", "ISR") and result.problems == ()
    assert result.edges.transitions("ISR").sample.tolist() == edges.transitions("ISR").sample.tolist()


@pytest.mark.long
@pytest.mark.parametrize(
    ("fault", "sentence"),
    [
        (
            (DEVICE, "ReadTimeout"),
            "Logic 2 ended the capture with a fault of the device (ReadTimeout): samples are lost; give it a "
            "USB port of its own, or a lower samplerate, and capture again.",
        ),
        (
            (MEMORY, "buffer limit"),
            "Logic 2 ended the capture, since its buffer was full (buffer limit): set buffer_size_megabytes "
            "in bench.toml, and capture again.",
        ),
    ],
)
def test_losses_are_told_in_a_sentence(run: SyntheticRun, fault: tuple[int, str], sentence: str) -> None:
    evidence = observed(run, Logic2(run.edges(), fault=fault))
    verdict, reasons = judge(evidence)
    assert verdict == "truncated"
    assert sentence in reasons and any("0 of" in reason for reason in reasons), reasons
    assert evidence.edges.total_samples == 0


def test_a_signal_stops_it_and_what_came_is_kept(run: SyntheticRun) -> None:
    edges = run.edges()
    logic2 = Logic2(edges, lasts=True)
    with (
        serving(logic2) as at,
        SaleaeCapture(analyzer(at), CORE_HZ, edges.total_samples, CHANNELS) as capture,
        pytest.raises(signals.Stopped),
        signals.orderly(),
    ):
        capture.start()
        threading.Timer(0.2, lambda: signal.raise_signal(signal.SIGTERM)).start()
        result = capture.wait(0.0)
        assert result.interrupted and logic2.stopped.is_set()
        assert result.edges == edges


@pytest.mark.parametrize(
    ("logic2", "values", "sentence"),
    [
        ({}, {}, ""),
        ({"devices": ()}, {}, "Logic 2 sees no analyzer: plug it in, and run again."),
        (
            {},
            {"settings": {"device": "F9"}},
            "Logic 2 sees no analyzer 'F9', which bench.toml names as device; it sees F4241 (Saleae Logic "
            "Pro 8).",
        ),
        (
            {"devices": ("A", "B")},
            {},
            "Logic 2 sees 2 analyzers (A (Saleae Logic Pro 8), B (Saleae Logic Pro 8)): write one *",
        ),
        ({"devices": ("A", "B")}, {"settings": {"device": "B"}}, ""),
        (
            {},
            {"samplerate_hz": 25_000_000},
            "Logic 2 cannot capture so (25000000 is not a valid digital sample rate); mend bench.toml, or "
            "the samplerate.",
        ),
    ],
)
def test_what_it_cannot_do_is_told_before_a_board_is_loaded(
    run: SyntheticRun, logic2: dict[str, tuple[str, ...]], values: dict[str, object], sentence: str
) -> None:
    with serving(Logic2(run.edges(), **logic2)) as at:  # type: ignore[arg-type]
        made = analyzer(at, **values)
        board = replace(read_bench().board("nucleo"), analyzer=made)
        if not sentence:
            check_analyzer(board, made.samplerate_hz, 1.0)
            return
        with pytest.raises(CaptureError) as refusal:
            check_analyzer(board, made.samplerate_hz, 1.0)
    assert is_sentence(str(refusal.value), sentence), str(refusal.value)


def test_a_logic_2_that_does_not_run_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("capture.acquisition.saleae.CONNECT_WITHIN_S", 0.1)
    with pytest.raises(CaptureError) as refusal:
        check_saleae(analyzer("127.0.0.1:1"), CORE_HZ)
    assert str(refusal.value) == (
        "Logic 2 is not to be reached (it does not answer): start it, turn on its automation server in its "
        "preferences, and run again."
    )


def test_the_doctor_asks_logic_2(run: SyntheticRun) -> None:
    with serving(Logic2(run.edges())) as at:
        board = replace(read_bench().board("nucleo"), analyzer=analyzer(at))
        facts = ask(board)
        assert [one.connection for one in facts.chosen] == ["F4241"]
        assert devices(board.analyzer)[0].title == "Saleae Logic Pro 8"
        assert versions(board.analyzer)["logic_2"] == "2.4.14"


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"sigrok": "/bin/true"}, "means nothing to the driver saleae-logic2"),
        ({"settings": {"voltage_threshold": 1.6}}, "cannot be 'voltage_threshold'"),
        ({"settings": {"buffer_size_megabytes": "big"}}, "cannot be 'big'"),
        ({"connection": "somewhere"}, "must be HOST:PORT"),
        ({"channels": {name: f"X{at}" for at, name in enumerate(CHANNELS)}}, "must be 0 to 15 of a Saleae"),
    ],
)
def test_what_logic_2_does_not_take_is_refused(values: dict[str, object], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        analyzer("127.0.0.1:10430", **values)
