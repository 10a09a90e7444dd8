"""What a longest way costs, and what its cycles are spent on: each block of it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from graphlib import TopologicalSorter
from typing import Any

from analysis.bounds.flow import Body
from analysis.bounds.graph import Instruction
from analysis.explain.program import Program


@dataclass(frozen=True, eq=False)
class Price:
    """The most cycles of a way; or why no bound is known.

    It is the sum of its `parts`, each taken so often. One without parts is of a `place` in a
    function: of the block at an address, passed as a whole; or of an instruction, passed by itself
    or, with `passes` 0, on the way to it or from it, and passed elsewhere.
    """

    cycles: int = 0
    why_not: frozenset[str] = frozenset()
    parts: tuple[tuple[Price, int], ...] = ()
    place: tuple[Body, int | Instruction] | None = None
    passes: int = 0

    def __add__(self, other: Price) -> Price:
        """The two ways, one behind the other."""
        parts = ((self, 1), (other, 1))
        return Price(self.cycles + other.cycles, self.why_not | other.why_not, parts)

    def __mul__(self, times: int) -> Price:
        """The way, gone so often."""
        return Price(self.cycles * times, self.why_not, ((self, times),))


NOTHING = Price()


def dearness(price: Price) -> tuple[bool, int]:
    """Without a bound it is dearer than any with one."""
    return bool(price.why_not), price.cycles


def most(prices: dict[Any, Price], key: Any, price: Price) -> None:
    """Keeps the dearest of a key."""
    if key not in prices or dearness(price) > dearness(prices[key]):
        prices[key] = price


_WAY = "only the way back from the call"
_REST = "what no block tells"


@dataclass(frozen=True)
class Code:
    """An instruction, and the source line that it is of; empty if nothing tells that."""

    address: int
    text: str
    line: str


@dataclass(frozen=True)
class Block:
    """Instructions in a row, passed so often: together they take so many cycles, with the ways on
    from them; `share` of the bound. What is no code of the program has no instructions; `function`
    says what it is.
    """

    function: str
    passes: int
    cycles: int
    share: float
    instructions: tuple[Code, ...]

    @property
    def lines(self) -> tuple[str, ...]:
        """Its source lines, in order."""
        return tuple(dict.fromkeys(code.line for code in self.instructions if code.line))


def spent(price: Price, program: Program, total: int) -> list[Block]:
    """The blocks of a longest path that sections.Sections found, those that take the most cycles
    first. What a call costs on its way belongs to the block that calls. The blocks' sum is that of
    the price; their shares are of the cycles `total`.
    """
    passes, cycles = Counter[tuple[Body, int | Instruction]](), Counter[tuple[Body, int | Instruction]]()
    of_places = [(part, part.place, times) for part, times in _parts(price) if part.place is not None]
    # Blocks come first: an instruction belongs to its own, where that is passed.
    for part, place, times in sorted(of_places, key=lambda row: isinstance(row[1][1], Instruction)):
        body, code = place
        if isinstance(code, Instruction):
            around = (address for address, block in body.blocks.items() if code in block.instructions)
            address = next(around, 0)
            if passes[body, address]:
                cycles[body, address] += times * part.cycles
                continue
        passes[place] += times * part.passes
        cycles[place] += times * part.cycles

    rows = [
        (
            body.name,
            (at,) if isinstance(at, Instruction) else body.blocks[at].instructions,
            passes[body, at],
            taken,
        )
        for (body, at), taken in cycles.items()
    ]
    if rest := price.cycles - cycles.total():
        rows.append(("the path", (), 0, rest))
    blocks = []
    for function, codes, passed, taken in rows:
        lines = tuple(Code(code.address, code.text, program.source_line(code.address)) for code in codes)
        words = "" if passed else f": {_WAY if lines else _REST}"
        blocks.append(Block(f"{function}{words}", passed, taken, taken / max(total, 1), lines))
    return sorted(blocks, key=lambda it: (-it.cycles, it.instructions[0].address if it.instructions else 0))


def _parts(price: Price) -> list[tuple[Price, int]]:
    """A price and all that it is made of, each once, and how often it counts."""
    inside, waiting = dict[Price, list[Price]](), [price]
    while waiting:
        whole = waiting.pop()
        if whole not in inside:
            inside[whole] = [part for part, _ in whole.parts]
            waiting += inside[whole]
    times = Counter({price: 1})
    for whole in reversed([*TopologicalSorter(inside).static_order()]):
        for part, how_often in whole.parts:
            times[part] += times[whole] * how_often
    return [*times.items()]
