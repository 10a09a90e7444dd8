"""From when on a program's figures count: its scheduler's start, main(), or as asked."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

import polars as pl

from analysis.errors import MasksError
from analysis.explain.exits import exits_of
from analysis.explain.kernels.kernel import Kernel
from analysis.explain.program import Function, Program
from analysis.program.masks.intervals import Clock
from base.files.errors import near_miss

START, RESET = "start", "reset"
_MAIN = "main"
_TIME = re.compile(r"cycles:([0-9]+)|([0-9]+)(ns|us|ms|s)")
_NS = {"ns": 1, "us": 10**3, "ms": 10**6, "s": 10**9}


@dataclass(frozen=True)
class Asked:
    """From when on the figures are to count, before the run.

    `settings` are the words that a baseline keeps. `addresses` are to be marked in the run: the
    first execution of one counts, or that by which the function `left` is left. Without any it is
    the `time`. `where` and `why` are words for a reader.
    """

    settings: str
    where: str
    why: str = ""
    addresses: frozenset[int] = frozenset()
    left: Function | None = None
    exits: dict[int, bool] = field(default_factory=dict)
    time: str = ""

    @property
    def once(self) -> bool:
        """Whether the first execution of each address tells all."""
        return self.left is None

    def found(self, passages: pl.DataFrame, clock: Clock) -> Beginning:
        """The beginning in a run, from the passages of `addresses` (simulator.masks.Passages)."""
        if not self.addresses:
            return Beginning(self, _cycle(self.time, clock) if self.time else 0)
        rows = passages.filter(pl.col("address").is_in(list(self.addresses))).sort("cycle")
        if self.left is None:
            return Beginning(self, None if rows.is_empty() else int(rows["cycle"][0]))
        span = (self.left.address, self.left.address + self.left.size)
        for row in rows.iter_rows(named=True):
            if self.exits[row["address"]] or not span[0] <= row["next_pc"] < span[1]:
                return Beginning(self, int(row["end_cycle"]))
        return Beginning(self, None)


@dataclass(frozen=True)
class Beginning:
    """`cycle` is the first that counts; None if the run never came there."""

    asked: Asked
    cycle: int | None

    @property
    def first_cycle(self) -> int:
        """The first cycle that counts: that of reset if the run never came to another."""
        return self.cycle or 0

    @property
    def seen(self) -> bool:
        """Whether the run came there."""
        return self.cycle is not None


def never(beginning: Beginning) -> tuple[str, ...]:
    """The sentence on a start-up that never ended; none if it did."""
    if beginning.seen:
        return ()
    return (
        f"Start-up never ended: the run was over before {beginning.asked.where}; give it longer with "
        "--until, or count all of it with --from reset.",
    )


WHOLE = Beginning(Asked(RESET, "reset"), 0)
"""All of a run."""


def asked(program: Program, kernel: Kernel | None, word: str = START) -> Asked:
    """What `--from WORD` means for a program with this kernel. Raises MasksError.

    `word` is "start", "reset", a time such as "10ms" or "cycles:1000", or a function.
    """
    if word == START:
        return _start(program, kernel)
    if word == RESET:
        return Asked(RESET, "reset")
    if _TIME.fullmatch(word):
        said = f"cycle {int(word.removeprefix('cycles:')):,}" if word.startswith("cycles:") else word
        return Asked(word, said, time=word)
    return _at(_function(program, word), word, f"{word}() began")


def _start(program: Program, kernel: Kernel | None) -> Asked:
    if kernel is not None and kernel.starts_after is not None:
        function = kernel.starts_after
        words = f"{kernel.name} had started ({_plain(function)}() returned)"
        exits = exits_of(program, function)
        return Asked(f"start of {kernel.name}", words, "", frozenset(exits), function, exits)
    if kernel is not None and kernel.starts_at is not None:
        function = kernel.starts_at
        words = f"{kernel.name} started its scheduler ({_plain(function)}())"
        return _at(function, f"start of {kernel.name}", words)
    why = "no known kernel is in it" if kernel is None else f"{kernel.name}'s start is not in it"
    main = program.functions_named(_MAIN)
    if len(main) == 1:
        return _at(main[0], _MAIN, "main() began", why)
    return Asked(RESET, "reset", f"{why}, and no function main")


def _plain(function: Function) -> str:
    """Its name in the source, without what the compiler put behind it."""
    return function.name.partition(".")[0]


def _at(function: Function, settings: str, where: str, why: str = "") -> Asked:
    return Asked(settings, where, why, frozenset((function.address,)))


def _function(program: Program, name: str) -> Function:
    found = program.functions_named(name)
    exact = [function for function in found if function.name == name] or found
    if len(exact) == 1:
        return exact[0]
    if exact:
        raise MasksError(f"--from {name}: {len(exact)} functions have that name; give a time.")
    names = [function.name for function in program.functions]
    near = near_miss(name, names) or " Give a function of the program, a time such as 10ms, start or reset."
    raise MasksError(f"--from {name[:80]}: the program has no such function.{near}")


def _cycle(time: str, clock: Clock) -> int:
    match = _TIME.fullmatch(time)
    assert match
    return int(match[1]) if match[1] else clock.first_cycle(int(match[2]) * _NS[match[3]])
