"""Passages of marked instructions: every one of some, the first of others."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

from firmware.tests.symbols import symbol
from simulator.masks import run_marks
from simulator.program import user_program
from simulator.tests.bare_metal import STIMULUS_PERIOD


def test_first_executions_stand_beside_all_of_others(elf: Path) -> None:
    """The handler's first instruction, of four bytes, each time; the next once."""
    entry = symbol(elf, "on_tim2")[0]
    table = run_marks(user_program(elf), [entry], "1ms", first=[entry + 4]).rows
    every = [passage.cycle for passage in table if passage.address == entry]
    once = [passage.cycle for passage in table if passage.address == entry + 4]
    assert len(every) > 10 and {then - cycle for cycle, then in pairwise(every)} == {STIMULUS_PERIOD}
    assert len(once) == 1 and every[0] < once[0] < every[0] + 10
