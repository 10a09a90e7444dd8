import re
from pathlib import Path

import pytest

from base.files.tests.sentences import is_sentence
from firmware.build import board_table, boards
from firmware.build import image as firmware
from firmware.build.boards import BoardError
from firmware.build.cmake_build import BuildError

F401 = boards.FOLDER / boards.DEFAULT / board_table.TABLE


def written(tmp_path: Path, *changes: tuple[str, str], name: str = "my-board") -> Path:
    """The folder of a board whose table is the default one's, changed."""
    text = F401.read_text(encoding="utf-8")
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    folder = tmp_path / name
    folder.mkdir()
    (folder / board_table.TABLE).write_text(text, encoding="utf-8")
    return folder


def test_the_default_comes_first() -> None:
    assert boards.names()[0] == boards.DEFAULT
    assert {"nucleo-f401re", "nucleo-f411re", "nucleo-f446re", "nucleo-l476rg"} <= set(boards.names())


# ST's RM0368, RM0383, RM0390 and RM0351: the most that each may have, the wait states for it at
# 2.7 V or more (table "Number of wait states"), the SRAM.
@pytest.mark.parametrize(
    ("name", "core_hz", "apb1_hz", "wait_states", "sram_kib"),
    [
        ("nucleo-f401re", 84_000_000, 42_000_000, 2, 96),
        ("nucleo-f411re", 100_000_000, 50_000_000, 3, 128),
        ("nucleo-f446re", 180_000_000, 45_000_000, 5, 128),
        ("nucleo-l476rg", 80_000_000, 80_000_000, 4, 96),
    ],
)
def test_each_runs_at_the_most_that_its_chip_may(
    name: str, core_hz: int, apb1_hz: int, wait_states: int, sram_kib: int
) -> None:
    board = boards.board(name)
    assert (board.core_hz, board.apb1_hz) == (core_hz, apb1_hz)
    assert (board.flash_acr(True), board.flash_acr(False)) == (0x700 | wait_states, wait_states)
    assert board.memory.sram_bytes == sram_kib << 10


def test_all_nucleos_have_their_channels_on_the_same_pins() -> None:
    """ST's UM1724: one printed circuit board, MB1136."""
    assert len({repr(board.pins) for board in boards.boards().values()}) == 1


def test_a_folder_may_lie_anywhere(tmp_path: Path) -> None:
    folder = written(tmp_path, ('title = "Nucleo-F401RE"', 'title = "Mine"'))
    board = boards.board(str(folder))
    assert (board.name, board.title, board.word) == ("my-board", "Mine", str(folder))


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("core_hz = 84_000_000", "core_hz = 84_000_001", "15: clock.core_hz must be the 84,000,000 that pll"),
        ("n = 168", "n = 169", "clock.core_hz must be the 84,500,000"),
        ("input_hz = 2_000_000", "input_hz = 3_000_000", "clock.core_hz must be"),
        ("wait_states = 2", "wait_state = 2", "clock.wait_state is unknown; the keys here are"),
        ("flash_bytes = 524_288", "flash_bytes = 131_072", "memory.flash_bytes must be 524,288 or more"),
        ("apb1_divider = 2", "apb1_divider = 8", "clock.apb1_divider must be 4 or less"),
        ('pin = "PA9"', 'pin = "PA8"', "pins.OP.pin is CRIT's too"),
        ('pin = "PA9"', 'pin = "PA2"', "pins.OP.pin is the serial line's too"),
        ('pin = "PA9"', 'pin = "PA99"', "pins.OP.pin must be a pin such as PA8"),
        ("OP = {", "OPS = {", "pins must name each of CRIT, OP"),
        ('timer = "TIM5"', 'timer = "TIM2"', "timers.frame must be three timers"),
        ("interrupt = 50", "interrupt = 28", "timers.control.interrupt must be a greater one"),
        ('core = "cortex-m4f"', 'core = "cortex-m7"', "core must be 'cortex-m4f'"),
        ('"scheduler"]', '"spinlock"]', "locks"),
    ],
)
def test_what_is_wrong_is_one_sentence_with_its_place(tmp_path: Path, old: str, new: str, says: str) -> None:
    folder = written(tmp_path, (old, new))
    with pytest.raises(BoardError) as refused:
        boards.board(str(folder))
    assert says in str(refused.value)
    assert str(folder) in str(refused.value) or "board.toml" in str(refused.value)


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("n = 40", "n = 41", "clock.core_hz must be the 82,000,000"),
        ("n = 40", "n = 7", "clock.pll.n"),
        ("r = 2 }", "r = 2, q = 7 }", "clock.pll.q is unknown"),
        ("apb1_divider = 1", "apb1_divider = 4", "clock.apb1_divider must be 2 or less"),
        ("voltage_range = 1", "voltage_scale = 1", "clock.voltage_scale is unknown"),
        ('at_osc_in = "nothing"', 'at_osc_in = "quartz"', "clock.at_osc_in"),
    ],
)
def test_the_clock_tree_is_the_familys(tmp_path: Path, old: str, new: str, says: str) -> None:
    text = (boards.FOLDER / "nucleo-l476rg" / board_table.TABLE).read_text(encoding="utf-8")
    assert old in text
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / board_table.TABLE).write_text(text.replace(old, new), encoding="utf-8")
    with pytest.raises(BoardError) as refused:
        boards.board(str(tmp_path / "mine"))
    assert says in str(refused.value)


def test_what_a_board_is_sold_with_at_osc_in_is_on_the_virtual_one() -> None:
    assert boards.board("nucleo-l476rg").virtual_options == ("--chip", "stm32l476rg", "--hse", "none")
    assert boards.board("nucleo-f446re").virtual_options == ("--chip", "stm32f446re")


def test_a_name_that_nothing_has_is_told_with_what_there_is() -> None:
    with pytest.raises(BoardError, match=r"no board 'nucleo-f411'.*Did you mean nucleo-f411re\?") as refused:
        boards.board("nucleo-f411")
    assert is_sentence(str(refused.value), "*")


def test_a_folder_without_a_table_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BoardError, match=r"has no board\.toml"):
        boards.board(str(tmp_path))


def test_a_lock_that_the_core_lacks_is_refused_before_anything_is_built(tmp_path: Path) -> None:
    folder = written(tmp_path, ('"basepri", "primask", "scheduler"', '"primask", "scheduler"'))
    with pytest.raises(BuildError, match="my-board has no basepri lock: choose primask or scheduler"):
        firmware.build("tlsf", board=str(folder))


def test_a_heap_that_does_not_fit_is_refused_by_the_boards_sram() -> None:
    with pytest.raises(BuildError, match="Nucleo-F401RE"):
        firmware.build("tlsf", heap_bytes=120_000)
    # 128 KiB less 9,728 bytes of the bench and a slot.
    with pytest.raises(BuildError, match=r"Nucleo-F411RE: give .*121,336"):
        firmware.build("tlsf", heap_bytes=121_344, board="nucleo-f411re")


def test_the_header_has_a_line_for_each_value() -> None:
    board = boards.board("nucleo-f411re")
    text = board_table.header(board.name, _tables("nucleo-f411re"))
    defined = dict(re.findall(r"^#define (\w+) (.+)$", text, re.MULTILINE))
    assert defined["BOARD_CORE_HZ"] == "100000000u"
    assert (defined["CISR_PORT"], defined["CISR_PIN"]) == ("GPIOB", "5")
    assert (defined["CONTROL_TIMER"], defined["CONTROL_IRQ"]) == ("TIM5", "50u")
    assert "BOARD_OVER_DRIVE" not in defined


def _tables(name: str) -> dict[str, object]:
    import tomllib

    return tomllib.loads((boards.FOLDER / name / board_table.TABLE).read_text(encoding="utf-8"))


def test_images_of_two_boards_lie_apart_and_say_which_they_are_for() -> None:
    ours, other = firmware.build("tlsf"), firmware.build("tlsf", board="nucleo-f411re")
    assert ours.elf != other.elf
    assert (ours.configuration.core_hz, other.configuration.core_hz) == (84_000_000, 100_000_000)
    assert b"nucleo-f411re\0stm32f411re\0" in other.elf.read_bytes()
