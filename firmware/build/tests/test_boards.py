import re
from pathlib import Path

import pytest

from base.files.tests.sentences import is_sentence
from firmware.build import board_table, boards, region
from firmware.build import image as firmware
from firmware.build.boards import BoardError
from firmware.build.cmake_build import BuildError

ACCELERATORS = {"stm32f4": 0x700, "stm32l4": 0x700, "stm32f1": 0x10, "stm32f0": 0x10}
"""What of FLASH_ACR turns on prefetch and caches: RM0368 §3.8.1, RM0351 §3.7.1, PM0075 §3.1,
RM0091 §3.5.1.
"""
MORPHO = {
    "PA0": "CN7-28",
    "PA1": "CN7-30",
    "PA7": "CN10-15",
    "PB6": "CN10-17",
    "PA9": "CN10-21",
    "PA8": "CN10-23",
    "PB10": "CN10-25",
    "PB4": "CN10-27",
    "PB5": "CN10-29",
    "PA10": "CN10-33",
}
"""ST's UM1724 (rev. 14, tables 26, 27, 29 and 32), the same on all six."""
F401 = boards.FOLDER / boards.DEFAULT / board_table.TABLE


def written(tmp_path: Path, *changes: tuple[str, str], name: str = "my-board", table: Path = F401) -> Path:
    """The folder of a board whose table is another one's, changed."""
    text = table.read_text(encoding="utf-8")
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    folder = tmp_path / name
    folder.mkdir()
    (folder / board_table.TABLE).write_text(text, encoding="utf-8")
    return folder


# ST's RM0368, RM0383, RM0390 and RM0351: the most that each may have, the wait states for it at
# 2.7 V or more (table "Number of wait states"), the SRAM.
@pytest.mark.parametrize(
    ("name", "core_hz", "apb1_hz", "wait_states", "sram_kib"),
    [
        ("nucleo-f072rb", 48_000_000, 48_000_000, 1, 16),
        ("nucleo-f103rb", 72_000_000, 36_000_000, 2, 20),
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
    assert board.flash_acr(False) == wait_states
    assert board.flash_acr(True) == wait_states | ACCELERATORS[board.family]
    assert board.memory.sram_bytes == sram_kib << 10


def test_all_nucleos_have_their_channels_on_the_same_pins() -> None:
    """ST's UM1724: one printed circuit board, MB1136. CTRL needs a timer of its own: on the F103RB
    PA1 has none (DS5319, table 5). STIM cannot be on the timer that counts: on the F072RB PA0 has
    no other (DS9826, table 14).
    """
    others = {"nucleo-f103rb": {"CTRL"}, "nucleo-f072rb": {"STIM"}}
    usual = boards.default().pins
    for name, board in boards.boards().items():
        moved = {channel for channel, place in board.pins.items() if place != usual[channel]}
        assert moved == others.get(name, set())
        assert {place.pin: place.morpho for place in board.pins.values()}.items() <= MORPHO.items()


def test_a_small_board_has_so_much_for_a_scenario() -> None:
    """20 KiB less 9.5 KiB less the heap, by 8 bytes: the slots. 96 KiB of flash less the header of
    64 bytes, by 12: the entries.
    """
    place = region.place(boards.board("nucleo-f103rb"))
    assert place.heap_bytes == 8192
    assert (place.slots(8192), place.slots(4096), place.slots(10_744)) == (320, 832, 1)
    assert place.entries == 8186
    large = region.place(boards.default())
    assert (large.heap_bytes, large.entries, large.slots(65_536)) == (65_536, 21_840, 2048)


def test_its_own_heap_is_what_a_build_takes() -> None:
    image = firmware.build("tlsf", board="nucleo-f103rb")
    assert (image.configuration.heap_bytes, image.elf.parent.name) == (8192, "tlsf")
    with pytest.raises(BuildError, match="heap of 65,536 bytes cannot be built for Nucleo-F103RB"):
        firmware.build("tlsf", heap_bytes=65_536, board="nucleo-f103rb")


def test_a_folder_may_lie_anywhere(tmp_path: Path) -> None:
    folder = written(tmp_path, ('title = "Nucleo-F401RE"', 'title = "Mine"'))
    board = boards.board(str(folder))
    assert (board.name, board.title, board.word) == ("my-board", "Mine", str(folder))


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("core_hz = 84_000_000", "core_hz = 84_000_001", " clock.core_hz must be the 84,000,000 that pll"),
        ("n = 168", "n = 169", "clock.core_hz must be the 84,500,000"),
        ("input_hz = 2_000_000", "input_hz = 3_000_000", "clock.core_hz must be"),
        ("flash_bytes = 524_288", "flash_bytes = 262_144", "memory.flash_bytes must be 32,768 or more"),
        ("firmware_bytes = 262_144", "firmware_bytes = 262_000", "memory.firmware_bytes must be a multiple"),
        ("apb1_divider = 2", "apb1_divider = 8", "clock.apb1_divider must be 4 or less"),
        ('pin = "PA9"', 'pin = "PA8"', "pins.OP.pin is CRIT's too"),
        ('pin = "PA9"', 'pin = "PA2"', "pins.OP.pin is the serial line's too"),
        ("OP = {", "OPS = {", "pins must name each of CRIT, OP"),
        ('timer = "TIM5"', 'timer = "TIM2"', "timers.control must be a timer of its own"),
        ("interrupt = 50", "interrupt = 28", "timers.control.interrupt must be a greater one"),
        ("[serial]", 'counter = { timer = "TIM4" }\n[serial]', "timers.counter is not needed: a cortex-m4f"),
        ("control = {", "# control = {", "timers.control is missing"),
        (
            'timer = "TIM3", channel = 1',
            'timer = "TIM2", channel = 1',
            "timers.frame must be another channel",
        ),
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
        (
            'locks = ["primask"',
            'locks = ["basepri"',
            "locks must not have basepri: a cortex-m0 has no such mask",
        ),
        ("counter = {", "# counter = {", "timers.counter is missing: a cortex-m0 does not count its cycles"),
        (
            "counter = {",
            'control = { timer = "TIM1", channel = 2, alternate = 2, interrupt = 20 }\ncounter = {',
            "timers.control must be left out: every lock of a cortex-m0",
        ),
        (
            'counter = { timer = "TIM2"',
            'counter = { timer = "TIM3"',
            "timers.counter must be a timer of its own",
        ),
        ("apb2_divider = 1", "apb2_divider = 2", "clock.apb2_divider must be what apb1_divider is"),
        ("n = 6", "n = 7", "clock.core_hz must be the 56,000,000 that pll makes"),
    ],
)
def test_what_a_cortex_m0_cannot_is_refused(tmp_path: Path, old: str, new: str, says: str) -> None:
    folder = written(tmp_path, (old, new), table=boards.FOLDER / "nucleo-f072rb" / board_table.TABLE)
    with pytest.raises(BoardError) as refused:
        boards.board(str(folder))
    assert says in str(refused.value)


def test_what_counts_and_what_witnesses_it() -> None:
    usual, small = boards.default(), boards.board("nucleo-f072rb")
    assert (usual.counter, usual.witness, usual.has_control) == ("DWT", "TIM5", True)
    assert (small.counter, small.witness, small.has_control) == ("TIM2", "TIM3", False)
    assert usual.default_lock(("basepri", "primask")) == "basepri"
    assert small.default_lock(("basepri", "primask")) == "primask"
    assert small.default_lock(("basepri",)) == "basepri"  # and so it is refused


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("n = 40", "n = 41", "clock.core_hz must be the 82,000,000"),
        ("apb1_divider = 1", "apb1_divider = 4", "clock.apb1_divider must be 2 or less"),
        ("voltage_range = 1", "voltage_scale = 1", "clock.voltage_scale is unknown"),
    ],
)
def test_the_clock_tree_is_the_familys(tmp_path: Path, old: str, new: str, says: str) -> None:
    folder = written(tmp_path, (old, new), table=boards.FOLDER / "nucleo-l476rg" / board_table.TABLE)
    with pytest.raises(BoardError) as refused:
        boards.board(str(folder))
    assert says in str(refused.value)


def test_what_a_board_is_sold_with_at_osc_in_is_on_the_virtual_one() -> None:
    assert boards.board("nucleo-l476rg").virtual_options == ("--chip", "stm32l476rg", "--hse", "none")
    assert boards.board("nucleo-f446re").virtual_options == ("--chip", "stm32f446re")


def test_a_name_that_nothing_has_is_told_with_what_there_is() -> None:
    with pytest.raises(BoardError, match=r"no board 'nucleo-f411'.*Did you mean nucleo-f411re\?") as refused:
        boards.board("nucleo-f411")
    assert is_sentence(str(refused.value), "*")


def test_a_lock_that_the_core_lacks_is_refused_before_anything_is_built(tmp_path: Path) -> None:
    folder = written(tmp_path, ('"basepri", "primask", "scheduler"', '"primask", "scheduler"'))
    with pytest.raises(BuildError, match="my-board has no basepri lock: choose primask or scheduler"):
        firmware.build("tlsf", locking="basepri", board=str(folder))


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
