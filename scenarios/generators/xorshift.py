"""Two generators of G. Marsaglia, "Xorshift RNGs", Journal of Statistical Software 8 (14), 2003."""

from __future__ import annotations


class Xorshift32:
    """The triple (13, 17, 5), with a period of 2³² − 1.

    `seed` is the first state, 1 to 2³² − 1: zero would stay zero.
    """

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


class Xorshift128:
    """Marsaglia's xor128, which the crate rand_xorshift has as XorShiftRng. Its period is 2¹²⁸ − 1.

    `state` is x, y, z, w, not all 0.
    """

    def __init__(self, state: tuple[int, int, int, int]) -> None:
        if not any(state) or not all(0 <= word < 1 << 32 for word in state):
            raise ValueError("xor128 needs four words of 32 bits, not all 0")
        self._state = state

    def next(self) -> int:
        """The next number, 0 to 2³² − 1."""
        x, y, z, w = self._state
        t = x ^ x << 11 & 0xFFFF_FFFF
        drawn = w ^ w >> 19 ^ t ^ t >> 8
        self._state = y, z, w, drawn
        return drawn
