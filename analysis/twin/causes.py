"""Where the cycles come from by which an operation differs: what they are in proportion to.

Each candidate counts something in each operation: its probes, the cycles that it waited for the
flash, the instructions of a class, how often it went through a block of the code. A line is fitted
through count and residual. The part of the residuals' variation that it takes away is the
candidate's share. Counts that go together share alike, so this ranks; it proves nothing.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl

from analysis.explain.program import Function, Program
from analysis.twin import flash
from analysis.twin.replay import Rerun
from analysis.twin.residuals import Pair

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
        """The number of its instructions."""
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


Floats = npt.NDArray[np.float64]

_MOST = 8
_LEAST_SHARE = 0.05
_QUANTITY = "dwt_operation_cycles"


@dataclass(frozen=True)
class Cause:
    """`what` is counted, `place` and `source` say where in the code, if it is code. An operation
    differs by `cycles_each` for each; the line takes away `share` of the variation.
    """

    what: str
    place: str
    source: str
    cycles_each: float
    share: float


@dataclass(frozen=True)
class Causes:
    """Causes, found in the `undisturbed` operations, which no interrupt met; `differing` of all
    operations differ. `met_otherwise` counts those that other interrupts met on the board.
    `constant_cycles` is the difference where it is the same in all that are undisturbed.
    """

    undisturbed: int
    met_otherwise: int
    differing: int
    constant_cycles: float | None
    ranked: tuple[Cause, ...]


def find(rerun: Rerun, program: Program, given: Pair) -> Causes:
    """The causes that are in proportion to the difference in cycles. Raises TwinError."""
    ours, theirs = given.board.operations, given.twin.operations
    residual = (ours[_QUANTITY].cast(pl.Int64) - theirs[_QUANTITY].cast(pl.Int64)).to_numpy()
    hits = [(side["isr_hits"] + side["control_hits"]).to_numpy() for side in (ours, theirs)]
    free: npt.NDArray[np.bool_] = (hits[0] == 0) & (hits[1] == 0)
    wanted = residual[free].astype(np.float64)
    constant = float(wanted[0]) if len(wanted) and np.ptp(wanted) == 0 else None
    varies = len(wanted) > 1 and constant is None
    return Causes(
        undisturbed=len(wanted),
        met_otherwise=int(np.count_nonzero(hits[0] != hits[1])),
        differing=int(np.count_nonzero(residual)),
        constant_cycles=constant,
        ranked=_ranked(rerun, program, given, free, wanted) if varies else (),
    )


def _ranked(
    rerun: Rerun, program: Program, given: Pair, free: npt.NDArray[np.bool_], wanted: Floats
) -> tuple[Cause, ...]:
    """The best candidates; the first of those that count alike."""
    found: dict[bytes, Cause] = {}
    for what, place, source, counts in _candidates(rerun, program, given):
        slope, share = _fitted(counts[free], wanted)
        found.setdefault(counts[free].tobytes(), Cause(what, place, source, slope, share))
    kept = [one for one in found.values() if one.share >= _LEAST_SHARE]
    return tuple(sorted(kept, key=lambda one: one.share, reverse=True)[:_MOST])


def _fitted(counts: Floats, wanted: Floats) -> tuple[float, float]:
    """Slope and share of the line through both; none where nothing varies."""
    x, y = counts - counts.mean(), wanted - wanted.mean()
    spread = float(x @ x)
    if spread == 0:
        return 0.0, 0.0
    slope = float(x @ y) / spread
    return slope, slope * slope * spread / float(y @ y)


def _candidates(rerun: Rerun, program: Program, given: Pair) -> Iterator[tuple[str, str, str, Floats]]:
    operations = given.twin.operations
    yield "probes", "", "", operations["probes"].fill_null(0).to_numpy().astype(np.float64)
    yield "cycles of waiting for lines of the flash", "", "", _flash_waits(rerun, operations)
    used, table = executed(rerun, program)
    table = operations.select("seq").join(table, on="seq", how="left", maintain_order="left")
    times = {block: table[column_of(block)].fill_null(0).to_numpy().astype(np.float64) for block in used}
    none = np.zeros(operations.height)
    classes = dict.fromkeys(name for block in used for name in block.classes)
    for name in classes:
        yield name, "", "", sum((times[block] * block.classes[name] for block in used), none)
    yield "instructions", "", "", sum((times[block] * block.instructions for block in used), none)
    for name in dict.fromkeys(block.function for block in used):
        of = [block for block in used if block.function == name]
        counts = sum((times[block] * block.instructions for block in of), none)
        yield f"instructions of {name}", name, of[0].source, counts
    for block in used:
        yield f"passes through {block.place}", block.place, block.source, times[block]


def _flash_waits(rerun: Rerun, operations: pl.DataFrame) -> Floats:
    """The cycles by which each operation is longer without the accelerator than with a flash that
    never waits: what it reads of the flash, line by line.
    """
    slow, swift = (
        rerun.whole(flash_acr).side.operations.select("seq", **{name: _QUANTITY})
        for name, flash_acr in (("slow", rerun.wait_states), ("swift", flash.ACCELERATOR))
    )
    both = operations.select("seq")
    for one in (slow, swift):
        both = both.join(one, on="seq", how="left", maintain_order="left")
    waits = (pl.col("slow").cast(pl.Float64) - pl.col("swift").cast(pl.Float64)).fill_null(0.0)
    return both.select(waits).to_series().to_numpy()
