"""From when on a program's figures count: its scheduler's start, main(), or as requested."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from analysis.errors import MasksError
from analysis.explain.kernels.kernel import Kernel
from analysis.explain.program import Function, Program, exits_of
from analysis.program.clock import Clock
from base.files.errors import near_miss
from simulator.masks import Passage

START, RESET = "start", "reset"
_MAIN = "main"
_TIME = re.compile(r"cycles:([0-9]+)|([0-9]+)(ns|us|ms|s)")
_NS = {"ns": 1, "us": 10**3, "ms": 10**6, "s": 10**9}


@dataclass(frozen=True, kw_only=True)
class Request:
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

    def locate(self, passages: Sequence[Passage], clock: Clock) -> Beginning:
        """The beginning in a run, from the passages of `addresses`."""
        return self.at(self._cycle(passages, clock), clock)

    def at(self, cycle: int | None, clock: Clock) -> Beginning:
        """The beginning at a cycle of a run; None if the run did not come there."""
        ns = None if cycle is None else clock.ns(cycle)
        return Beginning(**vars(self), cycle=cycle, ns=ns)

    def _cycle(self, passages: Sequence[Passage], clock: Clock) -> int | None:
        if not self.addresses:
            return _cycle(self.time, clock) if self.time else 0
        of_mine = (passage for passage in passages if passage.address in self.addresses)
        if self.left is None:
            return next((passage.cycle for passage in of_mine), None)
        code = range(self.left.address, self.left.address + self.left.size)
        left = (it for it in of_mine if self.exits[it.address] or it.next_pc not in code)
        return next((passage.end_cycle for passage in left), None)


@dataclass(frozen=True, kw_only=True)
class Beginning(Request):
    """`cycle` is the first that counts, at `ns` after reset; None if the run never came there."""

    cycle: int | None
    ns: float | None

    def as_json(self) -> dict[str, Any]:
        """What a document has of it."""
        words = {"from": self.settings, "until": self.where, "why": self.why}
        return {**words, "cycle": self.cycle, "ns": self.ns}

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


FROM_RESET = Request(settings=RESET, where="reset")
WHOLE = Beginning(**vars(FROM_RESET), cycle=0, ns=0.0)
"""All of a run."""


def request(program: Program, kernel: Kernel | None, word: str = START) -> Request:
    """What `--from WORD` means for a program with this kernel. Raises MasksError.

    `word` is "start", "reset", a time such as "10ms" or "cycles:1000", or a function.
    """
    if word == START:
        return _start(program, kernel)
    if word == RESET:
        return FROM_RESET
    if _TIME.fullmatch(word):
        where = f"cycle {int(word.removeprefix('cycles:')):,}" if word.startswith("cycles:") else word
        return Request(settings=word, where=where, time=word)
    return _at(_function(program, word), word, f"{word}() began")


def _start(program: Program, kernel: Kernel | None) -> Request:
    if kernel is not None and kernel.starts_after is not None:
        function = kernel.starts_after
        exits = exits_of(program, function)
        return Request(
            settings=f"start of {kernel.name}",
            where=f"{kernel.name} had started ({_plain(function)}() returned)",
            addresses=frozenset(exits),
            left=function,
            exits=exits,
        )
    if kernel is not None and kernel.starts_at is not None:
        function = kernel.starts_at
        where = f"{kernel.name} started its scheduler ({_plain(function)}())"
        return _at(function, f"start of {kernel.name}", where)
    why = "no known kernel is in it" if kernel is None else f"{kernel.name}'s start is not in it"
    main = program.functions_named(_MAIN)
    if len(main) == 1:
        return _at(main[0], _MAIN, "main() began", why)
    return Request(settings=RESET, where="reset", why=f"{why}, and no function main")


def _plain(function: Function) -> str:
    """Its name in the source, without what the compiler put behind it."""
    return function.name.partition(".")[0]


def _at(function: Function, settings: str, where: str, why: str = "") -> Request:
    return Request(settings=settings, where=where, why=why, addresses=frozenset((function.address,)))


def _function(program: Program, name: str) -> Function:
    functions = program.functions_named(name)
    exact = [function for function in functions if function.name == name] or functions
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
