"""`./lab bounds`: every section is found, and none takes longer than its bound."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from analysis.program.bounds.measure import Bounded, BoundsReport, bounds
from analysis.program.bounds.text import as_text
from analysis.program.subject import Subject
from quality.soundness.series import BRANCHING, SECTIONS, STRAIGHT, Trial, compare
from simulator.program import user_program
from tests import lab, masked_sections
from tests.tables import table

SOURCE = Path(__file__).parent / "locked_sections.c"
LINES = SOURCE.read_text(encoding="utf-8").splitlines()
KERNEL = """\
schema = 1
name = "counted"
symbols = ["enter", "leave"]
[interrupts]
nesting = ["nesting"]
"""
LOOPS = f"""\
schema = 1
[[loops]]
line = "locked_sections.c:{1 + next(n for n, line in enumerate(LINES) if "while ((choice" in line)}"
at_most = 16
why = "choice grows by 0x10 from 0 or 1, up to 0x100"
"""
# A section's first and last instruction may count, or not, where they meet others.
MASKING_CYCLES = 4


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("program")
    masked_sections.build(made, source=SOURCE)
    (made / "kernel.toml").write_text(KERNEL, encoding="utf-8")
    (made / "loops.toml").write_text(LOOPS, encoding="utf-8")
    return made


@pytest.fixture(scope="module")
def report(folder: Path) -> BoundsReport:
    program = user_program(folder / "program.elf")
    kernel, loops = str(folder / "kernel.toml"), folder / "loops.toml"
    return bounds(Subject.of(program, "20ms", kernel=kernel), lambda _: None, loops_file=loops)


def of(report: BoundsReport, function: str) -> Bounded:
    """The longest section of a function."""
    own = [section for section in report.sections if section.function == function]
    return max(own, key=lambda section: section.cycles or 0)


def test_every_section_has_a_bound_and_none_is_too_low(report: BoundsReport) -> None:
    assert {section.function: section.why_not for section in report.all if section.cycles is None} == {}
    assert report.violations == ()
    assert {section.function for section in report.sections if not section.count} == {"never_run"}


@table
def test_each_way_of_holding_off_is_found_with_its_level(
    report: BoundsReport, function: str, kind: str, level: int
) -> None:
    section = of(report, function)
    assert (section.kind, section.level) == (kind, level)


def test_an_inner_section_does_not_end_the_outer_one(report: BoundsReport) -> None:
    """What follows the inner one takes at least two cycles a lap, and belongs to the outer one."""
    for function, laps in (("saved", 40), ("counted", 60)):
        inner, outer = of(report, function), of(report, f"{function}_twice")
        assert inner.cycles is not None
        assert outer.cycles is not None
        assert outer.cycles > inner.cycles + 2 * laps
        assert outer.caller is not None
        assert outer.caller.function == f"{function}_twice"


def test_a_call_is_seen_with_what_it_is_given(report: BoundsReport) -> None:
    """The longer of the two, not that of any number of laps."""
    section = of(report, "told_how_often")
    assert section.cycles is not None
    assert section.seen is not None
    assert section.seen <= section.cycles < 4 * section.seen


def test_what_takes_longer_than_its_bound_is_told(report: BoundsReport) -> None:
    section = of(report, "left_early")
    assert section.seen is not None
    wrong = replace(report, sections=(replace(section, cycles=section.seen - 1),))
    assert [it for it in wrong.violations if isinstance(it, Bounded)] == list(wrong.sections)
    assert "LONGER THAN ITS BOUND" in as_text(wrong)


def test_both_ends_of_a_section_are_told(report: BoundsReport) -> None:
    assert len(of(report, "left_early").ends) == 2


def test_without_its_bound_a_loop_is_named_with_its_line(folder: Path) -> None:
    kernel = str(folder / "kernel.toml")
    done = lab.run("bounds", str(folder / "program.elf"), "--until", "20ms", "--kernel", kernel)
    assert done.returncode == 2
    assert "9 of 10 have a bound (sections: 9, handlers: 1)" in done.stdout
    assert "in until_told: nothing in the code limits it." in done.stdout
    assert "The loop at locked_sections.c:" in done.stdout


@pytest.mark.parametrize(
    ("seed", "option", "flash_acr"),
    [
        (3, "-O2", 2),
        *(
            pytest.param(*case, marks=pytest.mark.long)
            for case in ((0, "-O0", 2), (1, "-O1", 0x702), (11, "-Os", 0))
        ),
    ],
)
def test_no_random_program_takes_longer_than_its_bounds(seed: int, option: str, flash_acr: int) -> None:
    comparisons = compare(Trial(BRANCHING, seed, option, "stm32f401re", flash_acr))
    assert len(comparisons) == SECTIONS[BRANCHING]
    assert all(comparison.ratio is not None and comparison.ratio >= 1 for comparison in comparisons)


@pytest.mark.parametrize(
    ("seed", "flash_acr", "most", "together"), [(100, 2, 1.2, 1.05), (103, 0, 1.2, 1.01), (6, 0x702, 2, 1.26)]
)
def test_what_has_one_way_takes_what_its_bound_says(
    seed: int, flash_acr: int, most: float, together: float
) -> None:
    """Each section no more than `most` times what was measured, and all of them `together`."""
    comparisons = compare(Trial(STRAIGHT, seed, "-O1", "stm32f401re", flash_acr))
    assert len(comparisons) == SECTIONS[STRAIGHT]
    cycles, seen = 0, 0
    for comparison in comparisons:
        assert comparison.cycles is not None and comparison.seen is not None
        assert comparison.seen <= comparison.cycles <= most * comparison.seen + MASKING_CYCLES, (
            comparison.function
        )
        cycles, seen = cycles + comparison.cycles, seen + comparison.seen
    assert cycles <= together * seen
