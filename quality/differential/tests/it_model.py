"""ITSTATE by the manual's pseudocode (A7.3.1 to A7.3.3). Nothing here is the simulator's."""

from __future__ import annotations


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
