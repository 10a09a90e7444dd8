"""Is a bound ever too low? Random programs, each run on the virtual board beside the bounds of its
sections.
"""

from __future__ import annotations

import multiprocessing
import random
import statistics
import subprocess
import tempfile
from collections.abc import Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from itertools import cycle, groupby, islice, product
from pathlib import Path
from typing import Any

from analysis.program.bounds.measure import bounds
from analysis.program.subject import Subject
from base.files.errors import TailscopeError
from base.tell import Tell
from base.text_table import TextTable, printed
from quality.soundness import programs
from quality.soundness.compiling import chips, compiled
from simulator.program import user_program

WITHIN = "2s"
_OPTIONS = ("-O0", "-O1", "-O2", "-O3", "-Os")
# A generator writes what a person would not: variables that nobody reads, comparisons that are
# always true.
_LAX = ("-Wno-unused", "-Wno-unknown-pragmas", "-Wno-type-limits", "-Wno-sign-compare")
BRANCHING, STRAIGHT, UNUSUAL = "branching", "straight", "unusual"
SECTIONS, ROUNDS = {BRANCHING: 12, STRAIGHT: 48, UNUSUAL: 48}, 6
_PROGRAMS = {
    BRANCHING: programs.branching_program,
    STRAIGHT: programs.straight_program,
    UNUSUAL: programs.unusual_program,
}
KINDS = (UNUSUAL, BRANCHING, UNUSUAL, STRAIGHT)
"""C with what is rare there; with loops, branches and recursion; and assembler with one way through
each section, of instructions that no Cortex-M0 has.
"""
_CHIPS = {chip.name: chip for chip in chips()}


class SoundnessError(TailscopeError):
    """The series cannot be made. The message says why."""


@dataclass(frozen=True)
class Trial:
    """One program: its kind, the seed that it is drawn from, the compiler's option, the chip that
    it runs on, FLASH_ACR.
    """

    kind: str
    seed: int
    option: str
    chip: str
    flash_acr: int

    def source(self) -> str:
        """The C source."""
        sections, chip = SECTIONS[self.kind], _CHIPS[self.chip]
        return _PROGRAMS[self.kind](self.seed, sections, ROUNDS, self.flash_acr, chip)


@dataclass(frozen=True)
class Compared:
    """One section of a program: the bound and the longest that was measured, in cycles.

    `cycles` is None where it has no bound, `seen` where it never ran.
    """

    trial: Trial
    function: str
    cycles: int | None
    seen: int | None

    @property
    def ratio(self) -> float | None:
        """The bound over what was measured."""
        return self.cycles / self.seen if self.cycles is not None and self.seen else None


@dataclass(frozen=True)
class Report:
    """What a series found: its sections, in the order of its programs."""

    seed: int
    programs: int
    sections: Sequence[Compared]

    @property
    def sound(self) -> bool:
        """Whether no section took longer than its bound, and at least one was compared."""
        return bool(_ratios(self.sections)) and not self.violations

    @property
    def violations(self) -> list[Compared]:
        """The sections that took longer."""
        return [compared for compared in self.sections if compared.ratio is not None and compared.ratio < 1]

    def says(self) -> str:
        """The outcome in a sentence."""
        ratios = _ratios(self.sections)
        spread = f": bound over measured {min(ratios):.3f} to {max(ratios):.2f}" if ratios else ""
        return (
            f"{len(self.violations)} of {len(ratios):,} sections of {self.programs:,} random programs "
            f"(seed {self.seed}) took longer than their bounds{spread}."
        )

    def as_json(self) -> dict[str, Any]:
        """The document that `./lab dev soundness --json` prints."""
        settings = []
        by_setting = groupby(sorted(self.sections, key=_group), key=_group)
        for (kind, chip, flash_acr), sections in by_setting:
            compared = list(sections)
            ratios = _ratios(compared)
            settings.append(
                {
                    "kind": kind,
                    "chip": chip,
                    "flash_acr": f"{flash_acr:#x}",
                    "sections": len(compared),
                    "compared": len(ratios),
                    "least_ratio": min(ratios, default=None),
                    "median_ratio": statistics.median(ratios) if ratios else None,
                    "greatest_ratio": max(ratios, default=None),
                }
            )
        return {
            "sound": self.sound,
            "says": self.says(),
            "seed": self.seed,
            "programs": self.programs,
            "settings": settings,
            "violations": [asdict(comparison) for comparison in self.violations],
        }


def _ratios(sections: Iterable[Compared]) -> list[float]:
    """Of the sections that have a bound and ran."""
    return [compared.ratio for compared in sections if compared.ratio is not None]


def _group(compared: Compared) -> tuple[str, str, int]:
    """The row of the report that a section counts in: kind, chip and setting."""
    return compared.trial.kind, compared.trial.chip, compared.trial.flash_acr


def trials(n: int, seed: int) -> list[Trial]:
    """The programs of a series: kinds and chips go round, options, settings and seeds are drawn."""
    draw = random.Random(seed)
    programs = []
    for chip, kind in islice(cycle(product(_CHIPS.values(), KINDS)), n):
        kind = UNUSUAL if kind == STRAIGHT and not chip.mainline else kind
        drawn = draw.randrange(1 << 31)
        programs.append(Trial(kind, drawn, draw.choice(_OPTIONS), chip.name, draw.choice(chip.settings)))
    return programs


def run(n: int, seed: int, jobs: int = 1, tell: Tell = lambda _: None) -> Report:
    """Makes `n` programs and compares each section; `tell` hears how many are done.

    `jobs` is how many processes share the work; the report does not depend on it. Raises
    SoundnessError without the compiler, and where a program cannot be compiled.
    """
    comparisons: list[Compared] = []
    with ProcessPoolExecutor(jobs, multiprocessing.get_context("forkserver")) as pool:
        for done, sections in enumerate(pool.map(compare, trials(n, seed)), start=1):
            comparisons += sections
            tell(f"{done:,} of {n:,} random programs")
    return Report(seed, n, comparisons)


def compare(trial: Trial) -> list[Compared]:
    """The sections of one program. Raises SoundnessError."""
    with tempfile.TemporaryDirectory(prefix="tailscope-") as made:
        folder = Path(made)
        source, loops = folder / "random.c", folder / "loops.toml"
        source.write_text(trial.source(), encoding="utf-8")
        loops.write_text(programs.STATED if trial.kind == BRANCHING else "schema = 1\n", encoding="utf-8")
        try:
            elf = compiled(source, folder, trial.option, *_CHIPS[trial.chip].options, *_LAX)
        except FileNotFoundError:
            raise SoundnessError("arm-none-eabi-gcc is not installed; ./lab doctor says how.") from None
        except subprocess.CalledProcessError:
            raise SoundnessError(
                f"The random program {trial.kind} {trial.seed} does not compile: that is a fault of the "
                "bench."
            ) from None
        subject = Subject.of(user_program(elf, chip=trial.chip), WITHIN)
        report = bounds(subject, lambda _: None, loops_file=loops)
    return [Compared(trial, section.function, section.cycles, section.seen) for section in report.sections]


def as_text(report: Report) -> str:
    """The table by kind and setting, the sentence, and each section that took too long."""
    heads = ("kind", "chip", "FLASH_ACR", "sections", "compared", "least", "median", "greatest")
    rows = [
        [
            "" if cell is None else f"{cell:.3f}" if isinstance(cell, float) else str(cell)
            for cell in row.values()
        ]
        for row in report.as_json()["settings"]
    ]
    lines = (
        f"{each.function} of {each.trial.kind} {each.trial.seed} ({each.trial.option}, {each.trial.chip}, "
        f"FLASH_ACR {each.trial.flash_acr:#x}): bound {each.cycles:,}, measured {each.seen:,} cycles"
        for each in report.violations
    )
    return printed([TextTable("", heads, rows, range(2, len(heads))), *lines, report.says()])
