"""What the image asks of the board's clock and serial line, on boards that have it or have not."""

from __future__ import annotations

import pytest

from base.run_folder.records import Boot, EndRecord, FailRecord
from capture.acquisition.duration import longest_s
from firmware.build import boards, region
from firmware.build import image as firmware
from scenarios import catalogue
from scenarios.operations import DEFAULT_BAUD
from scenarios.plan import Plan
from simulator import run as simulator
from simulator.program import UserProgram

CORE_HZ = 84_000_000
FRAME_BITS = 10


def short(baud: int = DEFAULT_BAUD, clock: str = "bypass") -> Plan:
    return catalogue.load("mem_frag", {"depth": 4}).compile().recorded_by("uart", baud, clock)


@pytest.mark.parametrize(
    ("asked", "at_osc_in", "told"),
    [
        ("bypass", (), "bypass"),
        ("bypass", ("--hse", "none"), "internal"),
        ("crystal", ("--hse", "8MHz"), "crystal"),
        ("crystal", ("--hse", "none"), "internal"),
        ("internal", (), "internal"),
    ],
)
def test_the_core_has_its_rate_from_what_is_there(asked: str, at_osc_in: tuple[str, ...], told: str) -> None:
    board = UserProgram(firmware.build("tlsf").elf, ("--strict", *at_osc_in))
    run = simulator.run(board, until="300ms", image=short(clock=asked).image)
    boot = run.records.first(Boot)
    assert boot is not None and (boot.clock, boot.core_hz) == (told, CORE_HZ)
    assert run.records.first(EndRecord) is not None
    assert run.records.damaged == ()


@pytest.mark.parametrize(
    ("asked", "at_osc_in", "told"),
    [
        ("bypass", ("--hse", "none"), "internal"),  # as it is sold
        ("bypass", (), "bypass"),  # its solder bridges closed
        ("crystal", ("--hse", "8MHz"), "crystal"),
        ("internal", (), "internal"),
    ],
)
def test_an_l476_has_its_rate_from_what_is_there(asked: str, at_osc_in: tuple[str, ...], told: str) -> None:
    words = ("--strict", "--chip", "stm32l476rg", *at_osc_in)
    board = UserProgram(firmware.build("tlsf", board="nucleo-l476rg").elf, words)
    run = simulator.run(board, until="300ms", image=short(clock=asked).image)
    boot = run.records.first(Boot)
    assert boot is not None and (boot.clock, boot.core_hz) == (told, 80_000_000)
    assert run.records.first(EndRecord) is not None
    assert run.records.damaged == ()


@pytest.mark.parametrize(
    ("asked", "at_osc_in", "told"),
    [
        ("bypass", (), ("bypass", 72_000_000)),
        ("crystal", ("--hse", "8MHz"), ("crystal", 72_000_000)),
        ("bypass", ("--hse", "none"), ("internal", 64_000_000)),
        ("internal", (), ("internal", 64_000_000)),
    ],
)
def test_an_f103_without_a_clock_runs_at_the_64_mhz_of_its_hsi(
    asked: str, at_osc_in: tuple[str, ...], told: tuple[str, int]
) -> None:
    words = ("--strict", "--chip", "stm32f103rb", *at_osc_in)
    board = UserProgram(firmware.build("tlsf", board="nucleo-f103rb").elf, words)
    run = simulator.run(board, until="300ms", image=short(clock=asked).image)
    boot = run.records.first(Boot)
    assert boot is not None and (boot.clock, boot.core_hz) == told
    assert run.records.first(EndRecord) is not None
    assert run.records.damaged == ()


@pytest.mark.parametrize("name", boards.boards())
def test_a_board_whose_hse_is_missing_goes_on_from_its_own_oscillator(name: str) -> None:
    """What every page promises of a Nucleo without a clock at OSC_IN: no FAIL, and it says so."""
    board = boards.board(name)
    words = ("--strict", "--chip", board.virtual_chip, "--hse", "none")
    placed = catalogue.load("mem_frag", {"depth": 4}).compile(region.place(board))
    plan = (placed if board.has_control else placed.without_control()).recorded_by(
        "uart", DEFAULT_BAUD, "bypass"
    )
    user = UserProgram(firmware.build("tlsf", board=name).elf, words)
    run = simulator.run(user, until="300ms", image=plan.image)
    boot = run.records.first(Boot)
    assert boot is not None and (boot.clock, boot.core_hz) == ("internal", board.clock.internal_core_hz)
    assert run.records.first(FailRecord) is None and run.records.first(EndRecord) is not None
    assert 0 < board.clock.INTERNAL_TOLERANCE < 0.05


@pytest.mark.parametrize("baud", [115_200, 460_800, 921_600, DEFAULT_BAUD])
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
