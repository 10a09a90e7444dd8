"""A program to be measured, parsed once, and what every report of it begins with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from analysis.explain.kernels import kernel as kernels
from analysis.explain.kernels.kernel import Kernel
from analysis.explain.program import Program
from analysis.program import beginning
from analysis.program.beginning import FROM_RESET, RESET, START, Request
from simulator.interrupts import priority_bits
from simulator.kernel import KernelWords
from simulator.program import UserProgram
from simulator.run import Instant


@dataclass(frozen=True)
class Subject:
    """The program, and the run of it: up to `until`; its figures count from `start` on, which is
    what `start_word` means.
    """

    user: UserProgram
    elf: Program
    kernel: Kernel | None
    until: Instant
    start: Request = FROM_RESET
    start_word: str = RESET

    @classmethod
    def of(cls, user: UserProgram, until: Instant, *, kernel: str = "", start: str = START) -> Subject:
        """`kernel` is the word of kernels.find(), `start` that of beginning.request(). Raises
        TailscopeError.
        """
        elf = Program(user.elf, stripped=True)
        layout = kernels.find(elf, kernel)
        return cls(user, elf, layout, until, beginning.request(elf, layout, start), start)

    @property
    def name(self) -> str:
        """The file's name."""
        return self.user.elf.name

    @property
    def words(self) -> KernelWords:
        """Where the kernel has its state."""
        return kernels.words_of(self.kernel)

    @property
    def priority_bits(self) -> int:
        """How many bits of a priority the chip has."""
        return priority_bits(self.user.chip)

    @property
    def settings(self) -> dict[str, str]:
        """What must be equal to compare its figures with others."""
        return {"until": str(self.until), "options": " ".join(self.user.options)}

    @property
    def heading(self) -> dict[str, Any]:
        """The first fields of a document."""
        return {
            "elf": str(self.user.elf),
            "options": list(self.user.options),
            "until": self.until,
            "kernel": self.kernel.name if self.kernel else None,
        }
