"""Random contents of registers and memory, with many values at the edges of instructions."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Words = npt.NDArray[np.uint32]
Random = np.random.Generator

_INTEGER_EDGES = """
    0 1 2 1F 20 21 7F 80 FF 100 7FFF 8000 FFFF 10000 7FFFFFFF 80000000 80000001 FFFFFFFF FFFFFFFE
    7FFF8000 80007FFF 7F807F80 80808080 FFFF0000 00010001 01010101
"""
# Zeros, infinities, quiet and signalling NaNs, the ends of subnormals, of normals and of integers,
# ones, halves.
_FLOAT_EDGES = """
    00000000 80000000 7F800000 FF800000 7FC00000 FFC12345 7F800001 FFA00000 00000001 80000001 007FFFFF
    00800000 80800000 7F7FFFFF FF7FFFFF 3F800000 BF800000 3F800001 4F000000 CF000000 4F800000 4EFFFFFF
    47000000 477FF000 3F000000 3FC00000
"""
INTEGER_EDGES = np.array([int(word, 16) for word in _INTEGER_EDGES.split()], np.uint32)
FLOAT_EDGES = np.array([int(word, 16) for word in _FLOAT_EDGES.split()], np.uint32)
SPECIAL_FLOATS = FLOAT_EDGES[[0, 1, 2, 3, 4, 6, 15]]
FPSCR_FLAGS = 0xF000_009F
FPSCR_MODES = 0x07C0_0000


def uniform(random: Random, shape: tuple[int, ...]) -> Words:
    """Words, all equally likely."""
    return random.integers(0, 1 << 32, shape, np.uint32)


def mixed(random: Random, choices: list[Words]) -> Words:
    """Takes each element from any of the arrays. These have the same shape."""
    return np.choose(random.integers(0, len(choices), choices[0].shape), choices).astype(np.uint32)


def integers(random: Random, shape: tuple[int, ...]) -> Words:
    """Any words, small ones, and edges."""
    any_word = uniform(random, shape)
    small = random.integers(0, 256, shape, np.uint32)
    return mixed(random, [any_word, any_word, small, random.choice(INTEGER_EDGES, shape)])


def floats(random: Random, shape: tuple[int, ...]) -> Words:
    """Single-precision numbers: any, edges, near one, integral, tiny, and with few digits."""
    any_word = uniform(random, shape)
    sign_and_fraction = any_word & np.uint32(0x807F_FFFF)
    near_one = sign_and_fraction | random.integers(118, 136, shape, np.uint32) << np.uint32(23)
    integral = sign_and_fraction | random.integers(110, 162, shape, np.uint32) << np.uint32(23)
    tiny = sign_and_fraction | random.integers(0, 30, shape, np.uint32) << np.uint32(23)
    short = near_one & np.uint32(0xFFF8_0000)
    edges = random.choice(FLOAT_EDGES, shape)
    return mixed(random, [any_word, edges, near_one, integral, tiny, short])


def related(random: Random, words: Words, inverses: list[Words]) -> Words:
    """Rows of few different words: each is one of its row's first three, or an inverse of one."""
    chosen = np.take_along_axis(mixed(random, [words, *inverses]), random.integers(0, 3, words.shape), axis=1)
    return chosen.astype(np.uint32)


def by_case(random: Random, kinds: list[Words]) -> Words:
    """Takes each row from any of the arrays."""
    choice = random.integers(0, len(kinds), (len(kinds[0]), 1))
    return np.choose(choice, kinds).astype(np.uint32)


def core_registers(random: Random, count: int) -> Words:
    """R0–R14 of each case. A third have few values and their inverses, whose sums meet the ends."""
    words = integers(random, (count, 15))
    return by_case(random, [words, integers(random, (count, 15)), related(random, words, [~words, -words])])


def float_registers(random: Random, count: int) -> Words:
    """S0–S31 of each case: unrelated; few values of both signs, which cancel; near; or special."""
    words = floats(random, (count, 32))
    near = words[:, :1] & np.uint32(0xFFFF_FF00) | words & np.uint32(0x8000_00FF)
    special = random.choice(SPECIAL_FLOATS, (count, 32))
    signs = related(random, words, [words ^ np.uint32(0x8000_0000)])
    return by_case(random, [words, signs, near, special])


def status(random: Random, count: int) -> Words:
    """APSR: N, Z, C, V, Q and GE."""
    return uniform(random, (count,)) & np.uint32(0xF80F_0000)


def float_status(random: Random, count: int) -> Words:
    """FPSCR. Half of the cases have the default modes."""
    flags = uniform(random, (count,)) & np.uint32(FPSCR_FLAGS)
    modes = uniform(random, (count,)) & np.uint32(FPSCR_MODES)
    return flags | np.where(random.random(count) < 0.5, modes, np.uint32(0))
