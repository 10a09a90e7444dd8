from pathlib import Path

import pytest

from firmware.build import board_table, boards, fit
from firmware.build.boards import BoardError
from firmware.build.families import causes
from tests.tables import table

ACCELERATORS = {"stm32f4": 0x700, "stm32l4": 0x700, "stm32f1": 0x10, "stm32f0": 0x10}
ACCELERATORS |= {"stm32g0": 0x300, "stm32g4": 0x700}
"""What of FLASH_ACR turns on prefetch and caches: RM0368 §3.8.1, RM0351 §3.7.1, PM0075 §3.1,
RM0091 §3.5.1, RM0444 and RM0440 §3.7.1.
"""
MORPHO = {
    "PA0": "CN7-28",
    "PA1": "CN7-30",
    "PA7": "CN10-15",
    "PB6": "CN10-17",
    "PA9": "CN10-21",
    "PA8": "CN10-23",
    "PB10": "CN10-25",
    "PB14": "CN10-25",
    "PB4": "CN10-27",
    "PB5": "CN10-29",
    "PA10": "CN10-33",
}
"""ST's UM1724 (rev. 14, tables 26, 27, 29 and 32), the same on all six that are MB1136. The MB1360
and MB1367 have the same places, and another pin at one (UM2324, UM2505)."""


def written(tmp_path: Path, table: str, *changes: tuple[str, str]) -> Path:
    """The folder of a board whose table is another one's, changed."""
    text = (boards.FOLDER / table / board_table.TABLE).read_text(encoding="utf-8")
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    folder = tmp_path / "my-board"
    folder.mkdir()
    (folder / board_table.TABLE).write_text(text, encoding="utf-8")
    return folder


# ST's RM0368, RM0383, RM0390 and RM0351: the most that each may have, the wait states for it at
# 2.7 V or more (table "Number of wait states"), the SRAM.
@table
def test_each_runs_at_the_most_that_its_chip_may(
    name: str, core_hz: int, apb1_hz: int, wait_states: int, sram_kib: int
) -> None:
    board = boards.board(name)
    assert (board.core_hz, board.apb1_hz) == (core_hz, apb1_hz)
    assert board.flash_acr(False) == wait_states
    assert board.flash_acr(True) == wait_states | ACCELERATORS[board.family]
    assert board.memory.sram_bytes == sram_kib << 10


def test_all_nucleos_have_their_channels_on_the_same_pins() -> None:
    """ST's UM1724: one printed circuit board, MB1136. CTRL needs a timer of its own: on the F103RB
    PA1 has none (DS5319, table 5). STIM cannot be on the timer that counts: on the F072RB PA0 has
    no other (DS9826, table 14). Nor has it on the G071RB, whose D6 is PB14 (UM2324).
    """
    others = {
        "nucleo-f103rb": {"CTRL"},
        "nucleo-f072rb": {"STIM"},
        "nucleo-g071rb": {"STIM", "TASK"},
    }
    usual = boards.default().pins
    for name in boards.names():
        board = boards.board(name)
        moved = {channel for channel, place in board.pins.items() if place != usual[channel]}
        assert moved == others.get(name, set())
        assert {place.pin: place.morpho for place in board.pins.values()}.items() <= MORPHO.items()


def test_a_small_board_has_so_much_for_a_scenario() -> None:
    """20 KiB less 9.5 KiB less the heap, by 8 bytes: the slots. 96 KiB of flash less the header of
    64 bytes, by 12: the entries.
    """
    place = fit.place(boards.board("nucleo-f103rb"))
    assert place.heap_bytes == 8192
    assert (place.slots(8192), place.slots(4096), place.slots(10_744)) == (320, 832, 1)
    assert place.entries == 8186
    large = fit.place(boards.default())
    assert (large.heap_bytes, large.entries, large.slots(65_536)) == (65_536, 21_840, 2048)


def test_a_folder_may_lie_anywhere(tmp_path: Path) -> None:
    folder = written(tmp_path, boards.DEFAULT, ('title = "Nucleo-F401RE"', 'title = "Mine"'))
    board = boards.board(str(folder))
    assert (board.name, board.title, board.word) == ("my-board", "Mine", str(folder))


def test_what_a_family_has_otherwise_takes_the_place_of_what_all_have(tmp_path: Path) -> None:
    """A bit may be a field there, and the rest of its register stays."""
    own = "GPIOA = 0x5000_0000\n[TIM.CR1.ARPE]\npos = 4\nbits = 2\n"
    (tmp_path / "registers.toml").write_text(own, encoding="utf-8")
    lines = set(board_table.registers(tmp_path).splitlines())
    assert lines >= {
        "#define GPIOA 0x50000000",
        "#define GPIOB 0x48000400",
        "#define TIM_CR1(of) REGISTER((of) + TIM_CR1_OFFSET)",
        "#define TIM_CR1_CEN (1u << 0)",
        "#define TIM_CR1_ARPE_Pos 4u",
        "#define TIM_CR1_ARPE_Msk (3u << 4)",
    }
    assert not any(line.startswith("#define TIM_CR1_ARPE ") for line in lines)


@table
def test_what_is_wrong_is_one_sentence_with_its_place(
    tmp_path: Path, board: str, old: str, new: str, says: str
) -> None:
    folder = written(tmp_path, board, (old, new))
    with pytest.raises(BoardError) as refused:
        boards.board(str(folder))
    assert says in str(refused.value)
    assert str(folder) in str(refused.value) or "board.toml" in str(refused.value)


@table
def test_the_causes_of_a_reset_are_those_of_the_manual(
    family: str, flags: int, says: tuple[str, ...]
) -> None:
    """RCC_CSR in RM0368, 6.3.18, RM0351, 6.4.29, and RM0008, 7.3.10."""
    assert causes(flags, family) == says
