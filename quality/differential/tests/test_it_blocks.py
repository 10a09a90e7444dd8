"""ITSTATE by the manual's pseudocode (A7.3.1 to A7.3.3). Nothing here is the simulator's."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from quality.differential import batches, encodings
from quality.differential.batches import EXECUTED, SLOTS, Program, Results, assemble


def it_advance(itstate: int) -> int:
    """`ITAdvance()`."""
    if itstate & 0b111 == 0:
        return 0
    return itstate & 0b1110_0000 | itstate << 1 & 0b1_1111


def condition_passed(itstate: int, n: bool, z: bool, c: bool, v: bool) -> bool:
    """`ConditionPassed()` of the current condition, in or out of an IT block."""
    condition = itstate >> 4 if itstate & 0b1111 else 0b1110
    results = {
        0b000: z,
        0b001: c,
        0b010: n,
        0b011: v,
        0b100: c and not z,
        0b101: n == v,
        0b110: n == v and not z,
        0b111: True,
    }
    result = results[condition >> 1]
    return not result if condition & 1 and condition != 0b1111 else result


def in_xpsr(itstate: int) -> int:
    """ITSTATE at its places in EPSR (B1.4.2)."""
    return itstate >> 2 << 10 | (itstate & 0b11) << 25


# ADD.W Rd, Rd, #1 leaves the flags alone. There is one for each place in a block, and one behind.
INCREMENTS = tuple(0xF100_0001 | d << 16 | d << 8 for d in range(5))
IN_XPSR = in_xpsr(0xFF)


def every_it() -> Iterator[int]:
    """The operand of each IT that is not UNPREDICTABLE (A7.7.38)."""
    for operand in range(256):
        condition, mask = operand >> 4, operand & 15
        if mask and condition != 15 and (condition != 14 or mask.bit_count() == 1):
            yield operand


def results() -> Iterator[tuple[int, int, int, np.void, np.void]]:
    """Operand, flags, steps, case and result, for each IT, all flags and one to six steps."""
    binary = encodings.build()
    rows = encodings.load(binary)
    row = next(index for index, case in enumerate(rows) if case.name == "IT T1")
    wanted = [(it, flags, steps) for it in every_it() for flags in range(16) for steps in range(1, 7)]
    for start in range(0, len(wanted), SLOTS):
        part = wanted[start : start + SLOTS]
        programs = [Program(row, (0xBF00 | it, *INCREMENTS)) for it, _, _ in part]
        batch = assemble(programs, rows, np.random.default_rng(start), counted=True)
        batch.cases["steps"] = [steps for _, _, steps in part]
        batch.cases["status"] = [flags << 28 for _, flags, _ in part]
        ran: Results = batches.run_core(binary, batch)
        yield from ((*case, batch.cases[at], ran[at]) for at, case in enumerate(part))


def expected(it: int, flags: int, steps: int) -> tuple[int, list[int]]:
    """ITSTATE, and by how much R0 to R4 have grown, after so many steps. The IT is the first."""
    n, z, c, v = (bool(flags >> bit & 1) for bit in (3, 2, 1, 0))
    itstate, grown = it, [0] * 5
    for place in range(steps - 1):
        grown[place] = int(condition_passed(itstate, n, z, c, v))
        itstate = it_advance(itstate)
    return itstate, grown


def test_blocks_advance_and_execute_as_the_pseudocode_says() -> None:
    tried = 0
    for it, flags, steps, before, after in results():
        itstate, grown = expected(it, flags, steps)
        growth = (after["r"][:5] - before["r"][:5]).tolist()
        assert after["outcome"] == EXECUTED
        assert (int(after["status"]) & IN_XPSR, growth) == (in_xpsr(itstate), grown), (
            f"IT {it:#x}, {flags:#x}"
        )
        tried += 1
    assert tried > 18_000
