"""The basic blocks of the functions that operations go through, and how often each ran in which.

A block is straight code: it is entered at its beginning alone and left at its end. So its first
instruction's executions are those of all.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import polars as pl

from analysis.explain.program import Function, Program
from analysis.twin.replay import Rerun

# The simulator counts at most so many places in a run.
_MOST_PLACES = 127
_TARGET = re.compile(r"#(0x[0-9a-f]+)$")
_BRANCHES = re.compile(r"(b|bl|bx|blx|cbz|cbnz|tbb|tbh|b[a-z]{2})(\.[nw])?")
_LOADS = re.compile(r"(v?ldr|ldm|pop|v?ldm)")
_STORES = re.compile(r"(v?str|stm|push|v?stm)")
_WIDE_BYTES = 4


@dataclass(frozen=True, eq=False)
class Block:
    """`classes` counts its instructions by class: load, store, branch, other, and those of 32 bits
    that straddle two words.
    """

    function: str
    place: str
    source: str
    address: int
    classes: Counter[str]

    @property
    def instructions(self) -> int:
        """How many it has."""
        return sum(count for name, count in self.classes.items() if name != STRADDLING)


STRADDLING = "32-bit instructions across words"


def executed(rerun: Rerun, program: Program) -> tuple[list[Block], pl.DataFrame]:
    """The blocks that any operation went through, and a table: `seq`, and of each block a column,
    by its address, with its executions in the operation.
    """
    functions = [one for one in program.functions if one.size]
    entered = _counts(rerun, [one.address for one in functions])
    ran = [one for one in functions if entered[_column(one.address)].sum()]
    blocks = [block for function in ran for block in _blocks(program, function)]
    table = _counts(rerun, [block.address for block in blocks])
    used = [block for block in blocks if table[_column(block.address)].sum()]
    return used, table.select("seq", *(_column(block.address) for block in used))


def column_of(block: Block) -> str:
    """Its column in the table."""
    return _column(block.address)


def _column(address: int) -> str:
    return f"at_{address:08x}"


def _counts(rerun: Rerun, addresses: Sequence[int]) -> pl.DataFrame:
    tables = [
        rerun.counts({_column(address): f"{address:#x}" for address in some})
        for some in (addresses[at : at + _MOST_PLACES] for at in range(0, len(addresses), _MOST_PLACES))
    ]
    first, *others = tables
    return first.hstack([column for table in others for column in table.drop("seq").get_columns()])


def _blocks(program: Program, function: Function) -> Iterator[Block]:
    code = program.instructions(function)
    begins = {function.address}
    for address, size, mnemonic, operands in code:
        if _BRANCHES.fullmatch(mnemonic):
            begins.add(address + size)
            target = _TARGET.search(operands)
            begins |= {int(target[1], 16)} if target else set()
    classes: Counter[str] = Counter()
    begun = function.address
    for address, size, mnemonic, _ in code:
        if address in begins and classes:
            yield _block(program, function, begun, classes)
            classes = Counter()
        if not classes:
            begun = address
        classes[_class(mnemonic)] += 1
        classes[STRADDLING] += size == _WIDE_BYTES and address % _WIDE_BYTES != 0
    if classes:
        yield _block(program, function, begun, classes)


def _block(program: Program, function: Function, address: int, classes: Counter[str]) -> Block:
    return Block(
        function.name, program.place(address), program.source_line(address), address, Counter(classes)
    )


def _class(mnemonic: str) -> str:
    if _BRANCHES.fullmatch(mnemonic):
        return "branches"
    if _LOADS.match(mnemonic):
        return "loads"
    return "stores" if _STORES.match(mnemonic) else "other instructions"
