"""Records by RTT against records by the serial line, and probes that go away."""

from __future__ import annotations

import os
import signal
import threading
import time
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from pyocd.probe.tcp_client_probe import TCPClientProbe

from base.paths import ROOT
from capture import conduct
from capture.acquisition.direct import Direct
from capture.acquisition.record_reader import RttReader
from capture.acquisition.sigrok import Sigrok
from capture.acquisition.source import RunRequest
from capture.conduct import RunResult, redecode
from capture.desk import debug_probe
from capture.desk.board import ProbeAddress
from firmware.build import boards
from firmware.build import image as firmware
from firmware.tests.symbols import symbol
from scenarios import catalogue
from scenarios.plan import Plan
from simulator.serve import Served
from tests.probed_board import elf_of
from tests.run_folders import manifest, operations

TARGET = boards.default().pyocd_target

WITNESSES = ("probes", "dwt_cycles", "wire_critical_samples")
# Deep enough that an interrupt hits only a few of all operations.
DEPTH = 64


def run_both(plan: Plan, allocator: str, runs: Path, art: bool = True) -> tuple[RunResult, RunResult]:
    """Runs the plan twice: with its records by the serial line, and by RTT."""
    image = firmware.build(allocator, art)
    by_uart = conduct.run(Direct(RunRequest(plan, image, runs=runs)))
    by_rtt = conduct.run(Sigrok(RunRequest(plan, image, runs=runs, records="rtt")))
    for result in (by_uart, by_rtt):
        assert (result.verdict, result.reasons) == ("complete", ())
    return by_uart, by_rtt


@pytest.mark.parametrize(
    ("allocator", "art"), [("tlsf", True), pytest.param("seglist", False, marks=pytest.mark.long)]
)
def test_what_no_interrupt_hit_takes_the_same_cycles(allocator: str, art: bool, tmp_path: Path) -> None:
    """With caches, only the measured operations compare.

    The set-up comes first, and finds the caches as the first records left them. Each way of sending
    records leaves them otherwise.
    """
    plan = catalogue.load("mem_frag", {"depth": DEPTH}).compile()
    by_uart, by_rtt = run_both(plan, allocator, tmp_path, art)
    assert (manifest(by_uart.folder)["records"], manifest(by_rtt.folder)["records"]) == ("uart", "rtt")
    both = operations(by_uart.folder).join(operations(by_rtt.folder), on="seq", suffix="_rtt")
    compared = both.filter(pl.col("measured")) if art else both
    untouched = compared.filter((pl.col("control_hits") == 0) & (pl.col("control_hits_rtt") == 0))
    assert untouched.height > compared.height / 2
    for witness in WITNESSES:
        assert untouched[witness].equals(untouched[f"{witness}_rtt"], check_names=False), witness


def test_without_interrupts_and_caches_every_operation_takes_the_same_cycles(tmp_path: Path) -> None:
    plan = catalogue.load("mem_frag", {"depth": DEPTH}, stimulus="none").compile()
    results = run_both(plan, "tlsf", tmp_path, art=False)
    by_uart, by_rtt = (operations(result.folder) for result in results)
    again = redecode(results[1].folder)
    assert (again.verdict, manifest(again.folder)["records"]) == ("complete", "rtt")
    assert by_uart.height > 3 * DEPTH
    assert by_uart.select(WITNESSES).equals(by_rtt.select(WITNESSES))


def test_a_reader_that_comes_late_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The board's time all but stands still while a busy host keeps the reader of its ring waiting.

    Three pauses, each longer than the board would take to have sent all its samples. The firmware
    has room in the ring all the time, so that no edge moves.
    """
    plan = catalogue.load("mem_frag", {"depth": 8}).compile()
    read, pauses = RttReader._receive, iter([1.0] * 3)

    def late(reader: RttReader) -> bytes:
        data = read(reader)
        if data:
            time.sleep(next(pauses, 0))
        return data

    def recorded() -> tuple[bytes, bytes]:
        result = conduct.run(Sigrok(RunRequest(plan, firmware.build("tlsf"), runs=tmp_path, records="rtt")))
        assert (result.verdict, result.reasons) == ("complete", ())
        edges, records = (result.folder / name for name in ("edges.parquet", "uart.log"))
        return edges.read_bytes(), records.read_bytes()

    punctual = recorded()
    monkeypatch.setattr(RttReader, "_receive", late)
    assert recorded() == punctual
    assert next(pauses, None) is None


def running(plan: Plan) -> Served:
    """A board that runs `plan` without waiting for a capture."""
    return Served(elf_of("tlsf"), image=plan.image, uart="tcp", probe=True, start="now")


def reader_of(board: Served) -> RttReader:
    return RttReader(ProbeAddress(f"remote:{board.probe}", TARGET), elf_of("tlsf"))


def test_a_board_that_stops_answering_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """pyOCD by itself would wait for its answer for ever.

    In a silence at some requests it stumbles over assertions of its own.
    """
    monkeypatch.setattr(debug_probe, "SILENCE_S", 0.5)
    plan = catalogue.load("mem_frag").compile().recorded_by("rtt")
    with running(plan) as board:
        with reader_of(board) as reader:
            reader.debugger.reset()
            while len(reader.data) < 1000:
                time.sleep(0.01)
            frozen = freeze_at("read_block32", board, monkeypatch)
            assert reader.wait(20)
            assert frozen.is_set()
            assert reader.problem is not None
            assert "answered nothing for 0.5 s" in reader.problem, reader.problem
        board.process.kill()


def freeze_at(request_name: str, board: Served, monkeypatch: pytest.MonkeyPatch) -> threading.Event:
    """Stops the board when pyOCD makes this request next; the event says that it did."""
    frozen = threading.Event()
    perform = TCPClientProbe._perform_request_without_raise

    def freezing(probe: TCPClientProbe, request: str, *arguments: Any) -> Any:
        if request == request_name:
            board.process.send_signal(signal.SIGSTOP)
            os.waitpid(board.process.pid, os.WUNTRACED)
            frozen.set()
        return perform(probe, request, *arguments)

    monkeypatch.setattr(TCPClientProbe, "_perform_request_without_raise", freezing)
    return frozen


def test_other_tools_find_the_ring() -> None:
    """pyOCD's own RTT searches SRAM for the control block, and hears the same records."""
    from pyocd.core.session import Session
    from pyocd.debug.rtt import RTTControlBlock
    from pyocd.probe.tcp_client_probe import TCPClientProbe

    plan = catalogue.load("mem_frag", {"depth": 4}).compile().recorded_by("rtt")
    options = {"connect_mode": "attach", "resume_on_disconnect": False, "target_override": TARGET}
    options |= {"project_dir": str(ROOT), "user_script": str(ROOT / "pyocd_user.py")}
    heard = bytearray()
    control_block, _ = symbol(elf_of("tlsf"), "_SEGGER_RTT")
    with running(plan) as board, Session(TCPClientProbe(board.probe), options=options) as session:
        patience = threading.Event()
        while session.target.read32(control_block) == 0:
            patience.wait(0.01)
        block = RTTControlBlock.from_target(session.target)
        block.start()
        while b"@END," not in heard:
            heard += block.up_channels[0].read()
        assert block.up_channels[0].name == "records"
    assert heard.startswith(b"@BOOT,")
