"""Random programs, each run on the virtual board beside the bounds of its sections."""

from __future__ import annotations

import multiprocessing
import random
import statistics
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

from analysis import outcomes
from analysis.program.bounds.measure import bounds
from base.files.errors import TailscopeError
from quality.soundness import branching, straight
from quality.soundness.compiling import compiled
from simulator.program import user_program

SECTIONS, ROUNDS = 12, 6
WITHIN = "2s"
_OPTIONS = ("-O0", "-O1", "-O2", "-O3", "-Os")
_SETTINGS = (0x000, 0x001, 0x002, 0x102, 0x702)
"""Of FLASH_ACR: wait states; with prefetch; with prefetch and both caches (RM0368, 3.8.1)."""
# A generator writes what a person would not: variables that nobody reads, comparisons that are
# always true. The division of 64 bits is libgcc's.
_LAX = ("-Wno-unused", "-Wno-unknown-pragmas", "-Wno-type-limits", "-Wno-sign-compare", "-lgcc")
BRANCHING, STRAIGHT = "branching", "straight"
KINDS = (BRANCHING, STRAIGHT)
"""C with loops, branches and recursion; and assembler with one way through each section."""


class SoundnessError(TailscopeError):
    """The series cannot be made. The message says why."""


@dataclass(frozen=True)
class Trial:
    """One program: its kind, the seed that it is drawn from, the compiler's option, FLASH_ACR."""

    kind: str
    seed: int
    option: str
    flash_acr: int

    def source(self) -> str:
        """The C source."""
        write = branching.program if self.kind == BRANCHING else straight.program
        return write(self.seed, SECTIONS, ROUNDS, self.flash_acr)


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

    @property
    def sound(self) -> bool:
        """Whether it took no longer than its bound."""
        return self.ratio is None or self.ratio >= 1


@dataclass(frozen=True)
class Report:
    """What a series found: its sections, in the order of its programs."""

    seed: int
    programs: int
    sections: tuple[Compared, ...]

    @property
    def sound(self) -> bool:
        """Whether no section took longer than its bound, and at least one was compared."""
        return bool(self.ratios()) and all(one.sound for one in self.sections)

    @property
    def violations(self) -> tuple[Compared, ...]:
        """The sections that took longer."""
        return tuple(one for one in self.sections if not one.sound)

    def ratios(self, kind: str | None = None, flash_acr: int | None = None) -> list[float]:
        """Of the sections that have a bound and ran, of one kind and one setting, or of all."""
        return [
            one.ratio
            for one in self.sections
            if one.ratio is not None
            and kind in (None, one.trial.kind)
            and flash_acr in (None, one.trial.flash_acr)
        ]

    def says(self) -> str:
        """The outcome in a sentence."""
        ratios = self.ratios()
        spread = f": bound over measured {min(ratios):.3f} to {max(ratios):.2f}" if ratios else ""
        return (
            f"{len(self.violations)} of {len(ratios):,} sections of {self.programs:,} random programs "
            f"(seed {self.seed}) took longer than their bounds{spread}."
        )

    def rows(self) -> Iterator[tuple[str, int, int, list[float]]]:
        """Each kind and setting with its number of sections, and the ratios of those compared."""
        for kind in KINDS:
            for setting in _SETTINGS:
                there = sum((one.trial.kind, one.trial.flash_acr) == (kind, setting) for one in self.sections)
                if there:
                    yield kind, setting, there, self.ratios(kind, setting)

    def as_json(self) -> dict[str, Any]:
        """The document that `./lab dev soundness --json` prints."""
        return {
            **outcomes.heading("soundness", self.sound, self.says()),
            "seed": self.seed,
            "programs": self.programs,
            "settings": [
                {
                    "kind": kind,
                    "flash_acr": f"{setting:#x}",
                    "sections": there,
                    "compared": len(ratios),
                    "least_ratio": min(ratios, default=None),
                    "median_ratio": statistics.median(ratios) if ratios else None,
                    "greatest_ratio": max(ratios, default=None),
                }
                for kind, setting, there, ratios in self.rows()
            ],
            "violations": [asdict(one) for one in self.violations],
        }


def trials(n: int, seed: int) -> list[Trial]:
    """The programs of a series: kinds, options and settings go round, seeds are drawn."""
    draw = random.Random(seed)
    return [
        Trial(
            KINDS[number % len(KINDS)],
            draw.randrange(1 << 31),
            draw.choice(_OPTIONS),
            _SETTINGS[number // len(KINDS) % len(_SETTINGS)],
        )
        for number in range(n)
    ]


def run(n: int, seed: int, jobs: int = 1, tell: Callable[[int], None] = lambda _: None) -> Report:
    """Makes `n` programs and compares each section; `tell` hears how many are done.

    `jobs` is how many processes share the work; the report does not depend on it. Raises
    SoundnessError without the compiler, and where a program cannot be compiled.
    """
    found: list[Compared] = []
    with ProcessPoolExecutor(jobs, multiprocessing.get_context("forkserver")) as pool:
        for done, sections in enumerate(pool.map(compare, trials(n, seed)), start=1):
            found += sections
            tell(done)
    return Report(seed, n, tuple(found))


def compare(trial: Trial) -> list[Compared]:
    """The sections of one program. Raises SoundnessError."""
    with tempfile.TemporaryDirectory(prefix="tailscope-") as made:
        folder = Path(made)
        source, stated = folder / "random.c", folder / "loops.toml"
        source.write_text(trial.source(), encoding="utf-8")
        stated.write_text(branching.STATED if trial.kind == BRANCHING else "schema = 1\n", encoding="utf-8")
        elf = _compiled(source, folder, trial)
        report = bounds(user_program(elf), WITHIN, lambda _: None, stated=stated)
    section = partial(Compared, trial)
    return [section(one.function, one.cycles, one.seen) for one in report.sections]


def _compiled(source: Path, folder: Path, trial: Trial) -> Path:
    try:
        return compiled(source, folder, trial.option, *_LAX)
    except FileNotFoundError:
        raise SoundnessError("arm-none-eabi-gcc is not installed; ./lab doctor says how.") from None
    except subprocess.CalledProcessError:
        raise SoundnessError(
            f"The random program {trial.kind} {trial.seed} does not compile: that is a fault of the bench."
        ) from None
