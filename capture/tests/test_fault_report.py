"""What is told of a core that has faulted: bits of PM0214 by hand, and programs that do fault."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from capture.desk.bench import read_bench
from capture.desk.board import ProbeAddress
from capture.desk.debug_probe import ProbeSession
from capture.desk.fault_report import FaultRegisters, decode, post_mortem, report
from capture.desk.open_board import VirtualBoard
from capture.tests.faulting import compiled
from firmware.build import boards
from firmware.tests.symbols import symbol
from simulator.serve import Served
from tests.processes import wait_until
from tests.tables import table

TARGET = boards.default().pyocd_target


def address_of(elf: Path, name: str) -> str:
    return f"0x{symbol(elf, name)[0]:08x}"


@contextmanager
def attached(elf: Path, name: str = boards.DEFAULT) -> Iterator[tuple[ProbeSession, str]]:
    """A debugger that was there before the board ran; the first report behind its program's end.
    Without a debugger a lock-up ends the simulation; and each look changes what comes behind it.
    """
    on = boards.board(name)
    with Served(elf, uart="tcp", probe=True, options=("--chip", on.virtual_chip)) as board:
        session = ProbeSession(ProbeAddress(f"remote:{board.probe}", on.pyocd_target))
        try:
            with session.halted():
                pass  # from reset, it runs on behind this
            resting, seen = address_of(elf, "resting"), ""

            def ended() -> bool:
                nonlocal seen
                seen = report(session, elf)
                return "not faulted" not in seen or resting in seen

            assert wait_until(ended)
            yield session, seen
        finally:
            session.close()


READ = "an access to 0x60000040 that nothing answers (BFAR), taken at "


def test_a_jump_to_where_nothing_is_tells_where(tmp_path: Path) -> None:
    elf = compiled(tmp_path, "JUMP_NOWHERE")
    with attached(elf) as (_, said):
        pass
    assert re.fullmatch(
        r"The firmware hard-faulted: an instruction fetch from where nothing answers, taken at 0x60000040\.",
        said,
    ), said


@table
def test_a_program_that_faults_is_told_with_its_instruction(
    tmp_path: Path, ending: str, words: str, behind: str
) -> None:
    elf = compiled(tmp_path, ending)
    with attached(elf) as (_, said):
        pass
    assert said.startswith(f"The firmware {words}"), said
    assert address_of(elf, "faulting") in said
    assert re.search(r" \(\w+, capture/tests/faulting\.c:\d+\)", said), said
    assert said.endswith(f"{behind}.")


@pytest.mark.parametrize("ending", ["READ_NOWHERE", "IN_HANDLER"])
def test_a_cortex_m0_that_faults_is_told_by_ipsr_and_its_frame(tmp_path: Path, ending: str) -> None:
    """It has no CFSR and no HFSR (PM0215)."""
    elf = compiled(tmp_path, ending, "cortex-m0", 16 << 10)
    with attached(elf, "nucleo-f072rb") as (_, said):
        pass
    why = "for a reason that no fault register of this core tells, taken at "
    assert said.startswith(f"The firmware hard-faulted: {why}{address_of(elf, 'faulting')}"), said
    assert said.endswith(", in the handler of exception 11.") == (ending == "IN_HANDLER")


def test_a_program_that_hangs_is_told_where_and_goes_on(tmp_path: Path) -> None:
    elf = compiled(tmp_path, "HANG")
    with attached(elf) as (session, first):
        for said in (first, report(session, elf)):
            assert said.startswith("The firmware has not faulted: it was at ")
            assert address_of(elf, "resting") in said
        with session.halted() as dhcsr:
            assert not dhcsr & 1 << 17, "it was left running"


def test_a_virtual_board_with_a_probe_is_asked_as_a_nucleo_is(tmp_path: Path) -> None:
    elf = compiled(tmp_path, "READ_NOWHERE")
    resource = read_bench().board("virtual")
    with VirtualBoard(resource, probed=True) as board:
        connections = board.load(elf, b"no operations")
        assert connections.probe is not None
        (held,) = board.post_mortem(elf)
        assert "not faulted" in held
        (said,) = board.post_mortem(elf)  # the first look let it run from reset
        assert READ in said
        (missing,) = post_mortem(ProbeAddress("0123", TARGET), elf)
        assert missing.startswith("The board's fault registers could not be read: No debug probes 0123 ")
    with VirtualBoard(resource) as unprobed:
        unprobed.load(elf, b"no operations")
        assert unprobed.post_mortem(elf) == ()


HARD_FAULT = FaultRegisters(pc=0x0800_0200, exception=3, dhcsr=0, hfsr=1 << 30)


@table
def test_each_bit_has_its_words(bits: tuple[int, ...], words: str) -> None:
    cfsr = sum(1 << bit for bit in bits)
    faults = HARD_FAULT._replace(cfsr=cfsr, mmfar=0x2000_0020, bfar=0x4000_0000)
    assert decode(faults, hex) == f"The firmware hard-faulted: {words}."
