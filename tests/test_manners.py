"""The bench's own firmware does nothing that a note could be made of; what is odd is told."""

from __future__ import annotations

import json
import shutil
import struct
from pathlib import Path
from typing import Any

import pytest

from base.run_folder.records import EndRecord
from firmware.build import image as firmware
from firmware.tests.images import ALLOCATE, FREE, entry, image
from simulator import run as simulator
from simulator.program import user_program
from simulator.tests import bare_metal
from tests import lab

IMAGES = ("seglist", "tlsf", "linked_list_allocator")
GPIOB_BSRR, GPIOD_BSRR = 0x4002_0418, 0x4002_0C18
"""A register of the markers (RM0368, table 1 and 8.4.7), and one of a port whose clock is off."""
WHAT = "TIM2_SMCR (bits 0x00000007)"


OPERATIONS = image(
    entry(ALLOCATE, 0, 64),
    entry(ALLOCATE, 1, 24),
    entry(FREE, 0, 0),
    stimulus_period=5003,
    control_period=7919,
)


@pytest.mark.parametrize("allocator", IMAGES)
def test_the_bench_s_own_firmware_leaves_no_note(allocator: str) -> None:
    """Also where notes are made: strict runs alone would only tell that it did not stop."""
    program = user_program(firmware.build(allocator).elf)
    done = simulator.run(program, image=OPERATIONS, until="200ms")
    assert done.stats.notes == ()
    assert done.records.first(EndRecord) is not None


def test_a_firmware_that_reaches_past_its_registers_would_be_found(tmp_path: Path) -> None:
    """The same test on a mutant: one address in its literals is another."""
    elf = tmp_path / "mutant.elf"
    shutil.copy(firmware.build("tlsf").elf, elf)
    content = elf.read_bytes()
    assert content.count(struct.pack("<I", GPIOB_BSRR))
    elf.write_bytes(content.replace(struct.pack("<I", GPIOB_BSRR), struct.pack("<I", GPIOD_BSRR)))
    first, *_ = simulator.run(user_program(elf), image=OPERATIONS, until="50ms").stats.notes
    assert (first.kind, first.address) == ("clock_off", GPIOD_BSRR)
    with pytest.raises(simulator.StoppedError, match="GPIOD_BSRR"):
        simulator.run(elf, image=OPERATIONS, until="50ms")


@pytest.fixture(scope="module")
def odd(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return bare_metal.build(tmp_path_factory.mktemp("odd"), "TOUCH_UNMODELLED")


def answered(*words: str | Path, status: int = 0) -> dict[str, Any]:
    done = lab.run(*words, "--json")
    assert done.returncode == status, done.stderr
    document: dict[str, Any] = json.loads(done.stdout)
    return document


def test_masks_tell_it_in_text_and_json(odd: Path) -> None:
    document = answered("masks", odd, "--until", "2ms")
    assert [note["what"] for note in document["noted"]] == [WHAT]
    assert document["noted"][0]["function"].startswith("on_tim2")
    text = lab.run("masks", odd, "--until", "2ms").stdout
    assert "Noted and gone on with" in text and f"  {WHAT}: 1 written, first in on_tim2" in text
    strict = answered("masks", odd, "--until", "2ms", "--strict", status=1)
    assert strict["noted"] == [] and "TIM2_SMCR" in strict["ended"]


def test_observe_warns_of_it_and_goes_on_warning(odd: Path) -> None:
    words = ("observe", "--channels", "CRIT=PA8", "--elf", odd, "--until", "5ms")
    document = answered(*words)
    folder = Path(document["folder"])
    try:
        (warning,) = document["warnings"]
        assert warning.startswith(f"{WHAT}: 1 written, first in on_tim2") and warning.endswith(".")
        assert document["tool_report"]["notes"] == [warning]
        assert lab.run("redecode", folder).returncode == 0
        assert json.loads((folder / "run.json").read_text())["warnings"] == [warning]
    finally:
        shutil.rmtree(folder)


def test_observe_hands_a_real_board_no_options(odd: Path) -> None:
    done = lab.run("observe", "--board", "nucleo", "--channels", "CRIT=PA8", "--elf", odd, "--gaps")
    assert done.returncode != 0
    assert "--gaps: only a virtual board can be told so, and 'nucleo' is a real one." in done.stderr
