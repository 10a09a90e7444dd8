"""Each board is loaded again after it was unplugged, by each loader that sees the desk."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import pytest

from firmware.build import boards
from firmware.build import image as firmware
from firmware.tests.symbols import symbol
from simulator.desk import EmulatedDesk
from tests.processes import seeing

ISB = b"\xbf\xf3\x6f\x8f"
WFI_FOR_EVER = b"\x30\xbf\xfd\xe7"
LOAD = """
import sys
from pathlib import Path
from capture.desk.bench import LoaderResource

kind, target, elf = sys.argv[1:]
programmer = LoaderResource.model_validate({"kind": kind, "target": target}).programmer()
programmer.load(Path(elf), b"operations")
print(*programmer.remarks)
"""
TARGETS = {
    "nucleo-f072rb": "target/stm32f0x.cfg",
    "nucleo-f103rb": "target/stm32f1x.cfg",
    "nucleo-f401re": "target/stm32f4x.cfg",
    "nucleo-f411re": "target/stm32f4x.cfg",
    "nucleo-f446re": "target/stm32f4x.cfg",
    "nucleo-g071rb": "target/stm32g0x.cfg",
    "nucleo-g474re": "target/stm32g4x.cfg",
    "nucleo-l476rg": "target/stm32l4x.cfg",
}
ANSWERS_ASLEEP = {"nucleo-f072rb", "nucleo-g071rb"}
"""Their bus has a clock while their core sleeps (RM0091, section 32.9.1)."""
HELD = "reached the board only with its reset held"


def sleeping(elf: Path, folder: Path) -> Path:
    """The firmware as it would be if halt() slept where it spins."""
    content = elf.read_bytes()
    halt = symbol(elf, "halt")[0] - 0x0800_0000
    (text,) = [at for at in range(len(content)) if content.startswith(ISB + b"\xfe\xe7", at)][:1] or [-1]
    assert halt > 0 and content.count(ISB + b"\xfe\xe7") == 1
    other = folder / "sleeping.elf"
    other.write_bytes(content[:text] + WFI_FOR_EVER + content[text + len(ISB) :])
    return other


def load(desk: EmulatedDesk, kind: str, target: str, elf: Path) -> str:
    """What the loader remarks on a load that succeeds."""
    done = seeing(desk, sys.executable, "-c", LOAD, kind, target, elf)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def run_to_its_end(desk: EmulatedDesk) -> None:
    """The board has power again. It has no plan, says so, and is in halt() some ms later."""
    desk.ask("probe unplug")
    desk.ask("board power cycle")
    desk.ask("probe plug")
    time.sleep(1.0)


@pytest.mark.long
@pytest.mark.parametrize("kind", ["pyocd", "openocd"])
@pytest.mark.parametrize("name", TARGETS)
def test_a_board_is_loaded_again_after_it_was_unplugged(name: str, kind: str, tmp_path: Path) -> None:
    """What sleeps for ever is reached only with its reset held, by no fault of the loader."""
    board = boards.board(name)
    target = board.pyocd_target if kind == "pyocd" else TARGETS[name]
    elf = firmware.build("tlsf", board=name).elf
    options = ("--chip", board.virtual_chip)
    with EmulatedDesk(sleeping(elf, tmp_path), name="second", options=options) as desk:
        run_to_its_end(desk)
        assert (HELD in load(desk, kind, target, elf)) == (name not in ANSWERS_ASLEEP)
        run_to_its_end(desk)
        assert load(desk, kind, target, elf) == ""
