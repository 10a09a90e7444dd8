"""Marsaglia's xorshift32, triple (13, 17, 5): Journal of Statistical Software 8 (14), 2003."""

from __future__ import annotations


class Xorshift32:
    """Its period is 2³² − 1. `seed` is the first state, 1 to 2³² − 1: zero would stay zero."""

    def __init__(self, seed: int) -> None:
        if not 0 < seed < 1 << 32:
            raise ValueError("xorshift32 needs a seed from 1 to 2**32 - 1")
        self._state = seed

    def below(self, limit: int) -> int:
        """The next number, modulo `limit`: 0 to limit − 1."""
        x = self._state
        x ^= x << 13 & 0xFFFF_FFFF
        x ^= x >> 17
        x ^= x << 5 & 0xFFFF_FFFF
        self._state = x
        return x % limit

    def between(self, low: int, high: int) -> int:
        """The next number, brought into low … high, both included."""
        return low + self.below(high - low + 1)
