"""A program to be measured, parsed once; from when on its figures count; and how cycles become
times, through every clock that the core has had since reset.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import ceil
from typing import Any

from analysis.errors import MasksError
from analysis.explain.kernels import kernel as kernels
from analysis.explain.kernels.kernel import Kernel
from analysis.explain.program import Program, exits_of
from base.files.errors import near_miss
from base.run_folder.channels import NS_PER_S
from simulator.interrupts import priority_bits
from simulator.kernel import KernelWords
from simulator.masks import Passage
from simulator.outputs import ClockSpan
from simulator.program import UserProgram
from simulator.run import Instant


class Clock:
    """The clocks of a run (Stats.clocks). `rows` say from which cycle and time on the core has had
    which.
    """

    def __init__(self, spans: Sequence[ClockSpan]) -> None:
        self.rows = tuple(
            {"cycle": span.cycle, "ns": float(span.seconds * NS_PER_S), "core_hz": float(span.core_hz)}
            for span in spans
        )
        self._begins = [span.cycle for span in spans]
        self._cycle_ns = [float(NS_PER_S / span.core_hz) for span in spans]
        self.last_hz = self.rows[-1]["core_hz"]
        self.fastest_hz = max(row["core_hz"] for row in self.rows)

    def ns(self, cycle: int) -> float:
        """When this cycle begins, in nanoseconds since reset."""
        span = bisect_right(self._begins, cycle) - 1
        return self.rows[span]["ns"] + (cycle - self._begins[span]) * self._cycle_ns[span]

    def first_cycle(self, ns: float) -> int:
        """The first cycle that begins at `ns` after reset, or later."""
        span = max(bisect_right(self.rows, ns, key=lambda row: row["ns"]) - 1, 0)
        return self._begins[span] + ceil((ns - self.rows[span]["ns"]) / self._cycle_ns[span] - 1e-6)

    def between_ns(self, begin: int, end: int) -> float:
        """The time from `begin` to `end`, in ns. Where the clock did not change between them, it is
        the cycles times their length.
        """
        first, last = (bisect_right(self._begins, cycle) - 1 for cycle in (begin, end))
        return (end - begin) * self._cycle_ns[first] if first == last else self.ns(end) - self.ns(begin)


START, RESET = "start", "reset"
_TIME = re.compile(r"cycles:([0-9]+)|([0-9]+)(ns|us|ms|s)")
_NS = {"ns": 1, "us": 10**3, "ms": 10**6, "s": 10**9}


@dataclass(frozen=True, kw_only=True)
class Beginning:
    """From when on the figures of a program count: its scheduler's start, main(), or as requested.

    `settings` are the words that a baseline keeps. `addresses` are to be marked in the run: the
    first execution of one counts, or, where it has False, that by which the code `left` is left.
    Without any it is the `time`, else reset. `where` and `why` are words for a reader. After the
    run `cycle` is the first that counts, at `ns` after reset; None if the run never came there.
    """

    settings: str
    where: str
    why: str = ""
    addresses: Mapping[int, bool] = field(default_factory=dict)
    left: range | None = None
    time: str = ""
    cycle: int | None = 0
    ns: float | None = 0.0

    @classmethod
    def of(cls, program: Program, kernel: Kernel | None, word: str = START) -> Beginning:
        """What `--from WORD` means for a program with this kernel. Raises MasksError.

        `word` is "start", "reset", a time such as "10ms" or "cycles:1000", or a function.
        """
        if word == RESET:
            return FROM_RESET
        if time := _TIME.fullmatch(word):
            return cls(settings=word, where=f"cycle {int(time[1]):,}" if time[1] else word, time=word)
        if word != START:
            functions = program.functions_named(word)
            exact = [function for function in functions if function.name == word] or functions
            if len(exact) > 1:
                raise MasksError(f"--from {word}: {len(exact)} functions have that name; give a time.")
            if not exact:
                near = near_miss(word, [function.name for function in program.functions])
                near = near or " Give a function of the program, a time such as 10ms, start or reset."
                raise MasksError(f"--from {word[:80]}: the program has no such function.{near}")
            return cls(settings=word, where=f"{word}() began", addresses={exact[0].address: True})
        why = "no known kernel is in it"
        if kernel is not None:
            why = f"{kernel.name}'s start is not in it"
            if function := kernel.starts_after or kernel.starts_at:
                after = kernel.starts_after is not None
                how = "had started ({}() returned)" if after else "started its scheduler ({}())"
                return cls(
                    settings=f"start of {kernel.name}",
                    # In the source it has no name of the compiler behind its own.
                    where=f"{kernel.name} {how.format(function.name.partition('.')[0])}",
                    addresses=exits_of(program, function) if after else {function.address: True},
                    left=function.code if after else None,
                )
        main = program.functions_named("main")
        if len(main) == 1:
            return cls(settings="main", where="main() began", why=why, addresses={main[0].address: True})
        return cls(settings=RESET, where="reset", why=f"{why}, and no function main")

    @property
    def once(self) -> bool:
        """Whether the first execution of each address tells all."""
        return self.left is None

    def locate(self, passages: Sequence[Passage], clock: Clock) -> Beginning:
        """The beginning in a run, from the passages of `addresses`."""
        cycle: int | None = 0
        if time := _TIME.fullmatch(self.time):
            cycle = int(time[1]) if time[1] else clock.first_cycle(int(time[2]) * _NS[time[3]])
        elif self.addresses:
            code = self.left or range(0)
            mine = (it for it in passages if it.address in self.addresses)
            counts = (it for it in mine if self.addresses[it.address] or it.next_pc not in code)
            cycle = next((it.cycle if self.once else it.end_cycle for it in counts), None)
        return replace(self, cycle=cycle, ns=None if cycle is None else clock.ns(cycle))

    def as_json(self) -> dict[str, Any]:
        """What a document has of it."""
        return {
            "from": self.settings,
            "until": self.where,
            "why": self.why,
            "cycle": self.cycle,
            "ns": self.ns,
        }

    @property
    def first_cycle(self) -> int:
        """The first cycle that counts: that of reset if the run never came to another."""
        return self.cycle or 0

    @property
    def never(self) -> tuple[str, ...]:
        """The sentence on a start-up that never ended; none if it did."""
        if self.cycle is not None:
            return ()
        return (
            f"Start-up never ended: the run was over before {self.where}; give it longer with "
            "--until, or count all of it with --from reset.",
        )

    @property
    def because(self) -> str:
        """` (no known kernel is in it)`; empty where there is nothing to say."""
        return f" ({self.why})" if self.why else ""


FROM_RESET = Beginning(settings=RESET, where="reset")


@dataclass(frozen=True)
class Subject:
    """The program, and the run of it: up to `until`; its figures count from `start` on, which is
    what `start_word` means.
    """

    user: UserProgram
    elf: Program
    kernel: Kernel | None
    until: Instant
    start: Beginning = FROM_RESET
    start_word: str = RESET

    @classmethod
    def of(cls, user: UserProgram, until: Instant, *, kernel: str = "", start: str = START) -> Subject:
        """`kernel` is the word of kernels.find(), `start` that of Beginning.of(). Raises
        TailscopeError.
        """
        elf = Program(user.elf, stripped=True)
        layout = kernels.find(elf, kernel)
        return cls(user, elf, layout, until, Beginning.of(elf, layout, start), start)

    @property
    def name(self) -> str:
        """The file's name, as it can be written: also where it is no UTF-8."""
        return self.user.elf.name.encode(errors="backslashreplace").decode()

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
