"""Observation with tools that misbehave: a script stands in for
sigrok-cli, a socket for the board.
"""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from capture.acquisition.observe import Order, observe
from capture.acquisition.sigrok_cli import CaptureResult, SigrokCapture
from capture.desk.bench import AnalyzerResource
from capture.joining.evidence import Evidence, decode
from capture.tests.socket_board import SocketBoard, put_tool, samples_of
from capture.tests.synthetic import CORE_HZ, SyntheticRun, small_plan
from capture.verdict.verdict import judge
from tests.processes import wait_until
from tests.tables import table

SILENCE_S = 1.5
MANY_S = 600.0  # never reached: what is waited for in these tests comes


@pytest.fixture(scope="module")
def run() -> SyntheticRun:
    return SyntheticRun(small_plan(depth=3))


def order_for(run: SyntheticRun, silence_s: float = MANY_S) -> Order:
    return Order(
        elf=Path("fw.elf"),
        image=run.plan.image,
        analyzer=AnalyzerResource(driver="demo", samplerate_hz=CORE_HZ),
        connection=None,
        samplerate_hz=CORE_HZ,
        samples=run.edges().total_samples,
        silence_s=silence_s,
    )


def observed(run: SyntheticRun, uart: bytes, hangs_up: bool = False, silence_s: float = MANY_S) -> Evidence:
    order = order_for(run, silence_s)
    with SocketBoard(uart, hangs_up) as board, TemporaryDirectory() as folder:
        observation = observe(board, order, board.progress, Path(folder))
        assert board.loaded == (order.elf, order.image)
    return decode(run.plan, observation.report, observation.edges, observation.serial_bytes)


def test_a_board_that_waits_is_reset_once_samples_come(
    run: SyntheticRun, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What passes until then is captured too. A loader that needs longer than anything may be
    silent costs no record.
    """
    monkeypatch.setattr("capture.acquisition.observe.RESET_WITHIN_S", 0.01)
    early = bytes(CORE_HZ // 100)
    put_tool(tmp_path, monkeypatch, early + samples_of(run.edges()), "exit 0")
    with SocketBoard(run.uart(), waits=True, loader_s=1.5 * SILENCE_S) as board:

        def armed(_: SigrokCapture) -> int:
            if "asked for samples" not in board.steps:  # a capture that is over is asked again
                board.steps.append("asked for samples")
            return 1

        monkeypatch.setattr(SigrokCapture, "got_samples", property(armed))
        observation = observe(board, order_for(run, SILENCE_S), board.progress, tmp_path)
    assert board.steps == ["loading the board", "capturing", "asked for samples", "reset"]
    assert observation.report.losses == ()
    assert observation.report.asked_samples == observation.edges.total_samples
    assert observation.edges.total_samples == len(early) + run.edges().total_samples
    assert observation.serial_bytes == run.uart()
    whole = decode(run.plan, observation.report, observation.edges, observation.serial_bytes)
    assert judge(whole) == ("complete", ())


@table
def test_a_capture_that_breaks_off_keeps_what_came(
    run: SyntheticRun, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, then: str, words: str
) -> None:
    samples = samples_of(run.edges())
    cut = run.truths[10].start
    put_tool(tmp_path, monkeypatch, samples[:cut], then)
    wait = SigrokCapture.wait

    def wait_behind_the_samples(capture: SigrokCapture, *words: Any) -> CaptureResult:
        assert wait_until(lambda: capture.got_samples == cut or capture.over)
        return wait(capture, *words)

    monkeypatch.setattr(SigrokCapture, "wait", wait_behind_the_samples)
    evidence = observed(run, run.uart(), silence_s=SILENCE_S if "sleep" in then else MANY_S)
    verdict, reasons = judge(evidence)
    assert verdict == "truncated"
    assert any(words in reason for reason in reasons), reasons
    assert evidence.edges.total_samples == cut
    assert evidence.joined.operations["seq"].to_list() == list(range(10))


@pytest.mark.parametrize("hangs_up", [False, True])
def test_a_serial_line_that_is_cut_gets_a_sentence(
    run: SyntheticRun, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, hangs_up: bool
) -> None:
    put_tool(tmp_path, monkeypatch, samples_of(run.edges()), "exit 0")
    uart = run.uart()
    cut = uart.index(b"@OP,7,") + 9
    evidence = observed(run, uart[:cut], hangs_up)
    verdict, reasons = judge(evidence)
    assert verdict == "truncated"
    assert any("broke" in reason for reason in reasons) == hangs_up, reasons
    assert any("within the line b'@OP,7" in reason for reason in reasons), reasons
    assert evidence.joined.operations["seq"].to_list() == list(range(7))
    assert evidence.edges == run.edges()
