"""The series of random programs: drawn from its seed, and what a report makes of its sections."""

from __future__ import annotations

from pathlib import Path

import pytest

from quality.soundness.compiling import Chip, chips, compiled
from quality.soundness.series import BRANCHING, STRAIGHT, UNUSUAL, Compared, Report, Trial, as_text, trials

Pair = tuple[int | None, int | None]
TRIAL = Trial(STRAIGHT, 5, "-O1", "stm32f401re", 0x702)


def report(*pairs: Pair) -> Report:
    """Of sections with these bounds and longest."""
    return Report(
        1, 1, tuple(Compared(TRIAL, f"section{number}", *pair) for number, pair in enumerate(pairs))
    )


def test_the_seed_decides_the_programs() -> None:
    assert trials(20, 1) == trials(20, 1) != trials(20, 2)
    assert {trial.kind for trial in trials(4, 1)} == {BRANCHING, STRAIGHT, UNUSUAL}
    assert [trial.source() for trial in trials(4, 3)] == [trial.source() for trial in trials(4, 3)]


@pytest.mark.parametrize("chip", chips(), ids=lambda chip: chip.name)
def test_a_program_of_each_kind_is_linked_for_each_chip(chip: Chip, tmp_path: Path) -> None:
    """Also for one that divides by a function of the compiler's library."""
    for kind in {BRANCHING, UNUSUAL, STRAIGHT if chip.mainline else UNUSUAL}:
        source = tmp_path / f"{kind}.c"
        source.write_text(Trial(kind, 3, "-O1", chip.name, chip.settings[0]).source(), encoding="utf-8")
        assert compiled(source, tmp_path, "-w", *chip.options).is_file()


def test_what_takes_as_long_as_its_bound_is_sound_and_longer_is_not() -> None:
    assert report((10, 10), (30, 20)).sound
    assert not any(report(*pairs).sound for pairs in ((), ((None, 10),), ((10, None),)))
    result = report((10, 10), (9, 10))
    assert not result.sound
    assert [comparison.function for comparison in result.violations] == ["section1"]
    assert (
        "section1 of straight 5 (-O1, stm32f401re, FLASH_ACR 0x702): bound 9, measured 10 cycles"
        in as_text(result)
    )
