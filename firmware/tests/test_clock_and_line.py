"""What the image asks of the board's clock and serial line, on boards that have it or have not."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path

import pytest
from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection

from base.run_folder.records import Boot, EndRecord, FailRecord
from capture.acquisition.duration import longest_s
from firmware.build import boards, region
from firmware.build import image as firmware
from scenarios import catalogue
from scenarios.operations import DEFAULT_BAUD
from scenarios.plan import Plan
from simulator import run as simulator
from simulator.program import UserProgram
from simulator.run import Run

FRAME_BITS = 10
BOARDS = [
    pytest.param(name, marks=() if name in ("nucleo-f401re", "nucleo-f103rb") else pytest.mark.long)
    for name in boards.names()
]
"""The default and the one whose HSI makes less; the rest is long."""


def short(baud: int = DEFAULT_BAUD, clock: str = "bypass") -> Plan:
    return catalogue.load("mem_frag", {"depth": 4}).compile().recorded_by("uart", baud, clock)


def started(name: str, clock: str, *at_osc_in: str) -> Run:
    """A short run of a board whose image asks for `clock`."""
    board = boards.board(name)
    placed = catalogue.load("mem_frag", {"depth": 4}).compile(region.place(board))
    plan = (placed if board.has_control else placed.without_control()).recorded_by(
        "uart", DEFAULT_BAUD, clock
    )
    user = UserProgram(
        firmware.build("tlsf", board=name).elf, ("--strict", "--chip", board.virtual_chip, *at_osc_in)
    )
    return simulator.run(user, until="300ms", image=plan.image, edges=True)


@pytest.mark.parametrize("name", BOARDS)
@pytest.mark.parametrize(
    ("source", "at_osc_in", "core_from"),
    [
        ("bypass", (), "bypass"),  # of an L476, with its solder bridges closed
        ("bypass", ("--hse", "none"), "internal"),
        ("crystal", ("--hse", "8MHz"), "crystal"),
        ("crystal", ("--hse", "none"), "internal"),
        ("internal", (), "internal"),
    ],
)
def test_a_core_has_its_rate_from_what_is_there(
    name: str, source: str, at_osc_in: tuple[str, ...], core_from: str
) -> None:
    """Without its HSE none fails, and BOOT says so. The PLL of an F103 halves its HSI."""
    run = started(name, source, *at_osc_in)
    boot = run.records.first(Boot)
    less = core_from == "internal" and name == "nucleo-f103rb"
    core_hz = 64_000_000 if less else boards.board(name).core_hz
    assert boot is not None and (boot.clock, boot.core_hz) == (core_from, core_hz)
    assert run.records.first(FailRecord) is None and run.records.first(EndRecord) is not None
    assert run.records.damaged == ()


@pytest.mark.parametrize("name", BOARDS)
def test_a_board_waits_for_its_hse_as_long_as_the_page_says(name: str) -> None:
    """1 ms for a clock and 20 for a crystal, or more: docs/reference/wiring.md."""
    without, clock, crystal = (
        int(started(name, source, "--hse", "none").edges["cycle"][0])
        for source in ("internal", "bypass", "crystal")
    )
    hsi_hz = boards.board(name).clock.INTERNAL_HZ
    assert 1e-3 <= (clock - without) / hsi_hz < 5e-3
    assert 20e-3 <= (crystal - without) / hsi_hz < 100e-3


AT_RESET_HZ = {"stm32f0": 8_000_000, "stm32f1": 8_000_000, "stm32f4": 16_000_000, "stm32l4": 4_000_000}


@pytest.mark.parametrize("name", BOARDS)
def test_a_clock_that_does_not_start_is_a_failure(name: str, tmp_path: Path) -> None:
    """clock_start() returns false at once, and the record comes at the rate of what runs then.

    At 8 MHz a line has 500,000 baud at the most: 16 samples a bit.
    """
    board = boards.board(name)
    content = bytearray(firmware.build("tlsf", board=name).elf.read_bytes())
    elf = ELFFile(BytesIO(content))
    symbols = elf.get_section_by_name(".symtab")
    assert isinstance(symbols, SymbolTableSection)
    clock_start = symbols.get_symbol_by_name("clock_start")
    assert clock_start
    (at,) = elf.address_offsets(clock_start[0]["st_value"] & ~1)
    content[at : at + 4] = b"\x00\x20\x70\x47"  # movs r0, #0; bx lr
    other = tmp_path / "unclocked.elf"
    other.write_bytes(content)
    at_reset_hz = AT_RESET_HZ[board.family]
    user = UserProgram(other, ("--strict", "--chip", board.virtual_chip))
    run = simulator.run(user, until="50ms", image=short(min(500_000, at_reset_hz // 16)).image)
    assert run.records.first(FailRecord) == FailRecord("clock", at_reset_hz)


@pytest.mark.parametrize("baud", [115_200, DEFAULT_BAUD])
def test_a_run_lasts_as_long_as_its_line_needs(baud: int) -> None:
    """By the time that the plan foresees END is there; before, no more than the line can carry."""
    plan = short(baud)
    elf = firmware.build("tlsf").elf
    whole_s = longest_s(plan, boards.default().core_hz)
    whole = simulator.run(elf, until=f"{whole_s * 1e6:.0f}us", image=plan.image)
    assert whole.records.first(EndRecord) is not None
    part_s = 0.25 * whole_s
    part = simulator.run(elf, until=f"{part_s * 1e6:.0f}us", image=plan.image)
    assert 0 < len(part.uart) <= 1.01 * part_s * baud / FRAME_BITS
