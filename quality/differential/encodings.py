"""The encodings of the decode tables: which opcodes of each the manual leaves UNPREDICTABLE or
UNDEFINED (encodings.toml), opcodes drawn of each, and what kind of instruction they are; and
random contents of registers and memory, with many values at the edges of instructions.

The simulator lists the encodings, so that none is forgotten. The rules are deliberately not taken
from it: it must refuse the same opcodes (`decode/unpredictable.rs`)."""

from __future__ import annotations

import json
import re
import subprocess
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import numpy.typing as npt
import polars as pl

from base.paths import ROOT
from firmware.build.cmake_build import run_step
from simulator.build import linted

Words = npt.NDArray[np.uint32]
Random = np.random.Generator

_INTEGER_EDGES = """
    0 1 2 1F 20 21 7F 80 FF 100 7FFF 8000 FFFF 10000 7FFFFFFF 80000000 80000001 FFFFFFFF FFFFFFFE
    7FFF8000 80007FFF 7F807F80 80808080 FFFF0000 00010001 01010101
"""
# Zeros, infinities, quiet and signalling NaNs, one; the ends of subnormals, of normals and of
# integers, ones, halves.
_FLOAT_EDGES = """
    00000000 80000000 7F800000 FF800000 7FC00000 7F800001 3F800000
    FFC12345 FFA00000 00000001 80000001 007FFFFF 00800000 80800000 7F7FFFFF FF7FFFFF BF800000 3F800001
    4F000000 CF000000 4F800000 4EFFFFFF 47000000 477FF000 3F000000 3FC00000
"""
INTEGER_EDGES = np.array([int(word, 16) for word in _INTEGER_EDGES.split()], np.uint32)
FLOAT_EDGES = np.array([int(word, 16) for word in _FLOAT_EDGES.split()], np.uint32)
SPECIAL_FLOATS = FLOAT_EDGES[:7]
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
    any_word, small = uniform(random, shape), random.integers(0, 256, shape, np.uint32)
    return mixed(random, [any_word, any_word, small, random.choice(INTEGER_EDGES, shape)])


def floats(random: Random, shape: tuple[int, ...]) -> Words:
    """Single-precision numbers: any, edges, as large as integers, tiny, and with few digits."""
    any_word = uniform(random, shape)
    exponent = random.integers(110, 162, shape, np.uint32)
    usual = any_word & np.uint32(0x807F_FFFF) | exponent << np.uint32(23)
    edges = random.choice(FLOAT_EDGES, shape)
    tiny, short = usual & np.uint32(0x87FF_FFFF), usual & np.uint32(0xFFF8_0000)
    return mixed(random, [any_word, edges, usual, tiny, short])


def _related(random: Random, words: Words, *inverses: Words) -> Words:
    """Of half of the rows all words are among their first three, or inverses of these: sums meet
    the ends, and differences cancel.
    """
    few = np.take_along_axis(mixed(random, [words, *inverses]), random.integers(0, 3, words.shape), axis=1)
    return np.where(random.random((len(words), 1)) < 0.5, words, few).astype(np.uint32)


def core_registers(random: Random, count: int) -> Words:
    """R0–R14 of each case."""
    words = integers(random, (count, 15))
    return _related(random, words, ~words, -words)


def float_registers(random: Random, count: int) -> Words:
    """S0–S31 of each case; some have special values alone, some the negatives of others, nearly."""
    words = floats(random, (count, 32))
    words[::4] = random.choice(SPECIAL_FLOATS, words[::4].shape)
    return _related(random, words, words ^ np.uint32(0x8000_0000), words ^ np.uint32(0x8000_00FF))


def float_status(random: Random, count: int) -> Words:
    """FPSCR. Half of the cases have the default modes."""
    flags = uniform(random, (count,)) & np.uint32(FPSCR_FLAGS)
    modes = uniform(random, (count,)) & np.uint32(FPSCR_MODES)
    return flags | np.where(random.random(count) < 0.5, modes, np.uint32(0))


SIMULATOR = ROOT / "simulator"
BINARY = SIMULATOR / "target" / "differential" / "examples" / "differential"

Opcodes = npt.NDArray[np.uint32]
Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Encoding:
    """A row of the tables: the opcodes with `opcode & mask == value`.

    An earlier row of the same width takes precedence. A `baseline` row is one of ARMv6-M.
    """

    name: str
    wide: bool
    mask: int
    value: int
    baseline: bool = False

    @property
    def width_mask(self) -> int:
        """The bits that an opcode of this width has."""
        return 0xFFFF_FFFF if self.wide else 0xFFFF

    @property
    def label(self) -> str:
        """Name and value, since some encodings fill several rows."""
        return f"{self.name} [{self.value:0{8 if self.wide else 4}X}]"

    def covers(self, opcodes: Opcodes) -> Mask:
        """Which opcodes have the row's fixed bits."""
        return (opcodes & np.uint32(self.mask)) == np.uint32(self.value)


Rows = Sequence[Encoding]
"""Of one core, in the order in which its decoder searches them."""


def build() -> Path:
    """Builds the core's side of the test if it is out of date, and returns its path. Raises
    BuildError.
    """
    chosen = ("--locked", "--profile", "differential", "-p", "cortex-m", "--example", "differential")
    command = [*linted(), "cargo", "build", *chosen, "--target-dir", str(SIMULATOR / "target")]
    run_step("The core's side of the differential test", "build", command, SIMULATOR)
    return BINARY


def load(binary: Path, core: str = "cortex-m4") -> list[Encoding]:
    """All encodings of a core, in the order in which the decoder searches them."""
    listing = subprocess.run([binary, "encodings", core], capture_output=True, text=True, check=True).stdout
    return [Encoding(**json.loads(line)) for line in listing.splitlines()]


def described_by(rows: Rows, index: int, opcodes: Opcodes) -> Mask:
    """Which opcodes have row `index` as the first that covers them."""
    row = rows[index]
    covered = row.covers(opcodes)
    for earlier in rows[:index]:
        if earlier.wide == row.wide:
            covered &= ~earlier.covers(opcodes)
    return covered


# Which opcodes of a row of the decode tables the manual leaves UNPREDICTABLE or UNDEFINED: the
# rules of encodings.toml.


_RULES = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
_OPERANDS = {"n": (19, 16), "t": (15, 12), "d": (11, 8), "m": (3, 0)}


def field(opcodes: Opcodes, high: int, low: int) -> Opcodes:
    """Bits `high` down to `low`."""
    return (opcodes >> np.uint32(low)) & np.uint32((1 << (high - low + 1)) - 1)


def _bits(high: int, low: int) -> pl.Expr:
    """As field(), of the column `opcode`."""
    return pl.col("opcode") // (1 << low) % (2 << (high - low))


def _column(name: str) -> pl.Expr:
    """The operand or the bits that a rule calls so."""
    opcode, two = pl.col("opcode"), pl.lit(2, pl.Int64)
    if name == "imm":
        return _bits(14, 12) * 4 + _bits(7, 6)
    if name == "in_list":
        return opcode // two.pow(_bits(19, 16)) % 2 == 1
    if name == "base_stored_late":
        base = two.pow(_bits(10, 8))
        return (opcode // base % 2 == 1) & (opcode % base != 0)
    if name.startswith("ones_"):
        return _bits(int(name[5:]) - 1, 0).bitwise_count_ones()
    high, _, low = name[1:].partition("_")
    return _bits(*(_OPERANDS.get(name) or (int(high), int(low or high))))


@cache
def _rule(row: Encoding, *tables: str) -> tuple[pl.Expr, Mapping[str, pl.Expr]]:
    """What these tables say of an encoding, and the columns that this needs."""
    texts = [text for table in tables for name, text in _RULES[table].items() if re.match(name, row.name)]
    rule = pl.any_horizontal(pl.lit(False), *map(pl.sql_expr, texts))
    return rule, {name: _column(name) for name in rule.meta.root_names()}


def _matches(row: Encoding, opcodes: Opcodes, *tables: str) -> Mask:
    """Of which opcodes a rule of these tables is true."""
    rule, columns = _rule(row, *tables)
    frame = pl.DataFrame({"opcode": opcodes.astype(np.int64)})
    return frame.with_columns(**columns).with_columns(mask=rule)["mask"].to_numpy()


def unpredictable(row: Encoding, opcodes: Opcodes) -> Mask:
    """Which opcodes the manual of the row's architecture gives no result."""
    return _matches(row, opcodes, "wide" if row.wide else "narrow", *["baseline"] * row.baseline)


# Draws opcodes of each encoding, and tells what kind of instruction they are.


MEMORY = r"V?LD|V?ST|PUSH|POP|TB[BH]|PL[DI]"
BRANCHES = r"B T|BL|BX|CB|TB[BH]|.*to PC"

# Not for any place: MOV T2 and CPS are UNPREDICTABLE in IT blocks. MSR, MRS and CLREX touch state
# beyond the registers. Unicorn errs on NOP (YIELD), SMLAD and VCVT (see divergences.toml), and
# after ISB it forgets the rest of an IT block.
NOT_PLAIN = r"IT|CPS|MSR|MRS|CLREX|MOV \(register\) T2|NOP|SMUAD|ISB|VCVT \(from fixed"
SP = 13
DRAWS = 60


def elsewhere(row: Encoding) -> str | None:
    """Why the encoding is not compared; None if it is."""
    places: Mapping[str, str] = _RULES["elsewhere"]
    return next((reason for pattern, reason in places.items() if re.match(pattern, row.name)), None)


def is_memory(row: Encoding) -> bool:
    """True if it is a load, a store or a table branch."""
    return re.match(MEMORY, row.name) is not None


def branches(row: Encoding) -> bool:
    """True if it may change the PC, whatever its operands are."""
    return re.match(BRANCHES, row.name) is not None


def loads_pc(row: Encoding, opcodes: Opcodes) -> Mask:
    """Which opcodes load the PC."""
    return _matches(row, opcodes, "loads_pc")


def needs_other_operands(row: Encoding, opcodes: Opcodes) -> Mask:
    """Which opcodes are predictable, but cannot be run here.

    Their target has no Thumb bit, or they load the PC from an unaligned address.
    """
    return _matches(row, opcodes, "cannot_be_run")


def draw(rows: Rows, index: int, random: Random, wanted: int) -> Opcodes:
    """`wanted` predictable opcodes of row `index`. They repeat if there are too few."""
    row = rows[index]
    free = np.uint32(~row.mask & row.width_mask)
    drawn = np.empty(0, np.uint32)
    for _ in range(DRAWS):
        operands = uniform(random, (4 * wanted + 4096,))
        if registers := _RULES["special_registers"].get(row.name):
            operands = operands & ~np.uint32(0xFF) | random.choice(registers, len(operands))
        opcodes = np.uint32(row.value) | operands & free
        opcodes = opcodes[~unpredictable(row, opcodes) & ~needs_other_operands(row, opcodes)]
        drawn = np.concatenate([drawn, opcodes[described_by(rows, index, opcodes)]])
        if len(drawn) >= wanted:
            return drawn[:wanted]
    if len(drawn) == 0:
        raise AssertionError(f"no predictable opcode of {row.label} was found")
    return np.resize(drawn, wanted)


def plain_opcodes(row: Encoding, opcodes: Opcodes) -> Opcodes:
    """The opcodes that may stand anywhere, even in an IT block: no branches, none that uses memory,
    none on which Unicorn errs. Those that write SP are left out: Unicorn keeps its low bits.
    """
    if branches(row) or is_memory(row) or elsewhere(row) or re.match(NOT_PLAIN, row.name):
        return opcodes[:0]
    if row.wide:
        return opcodes[field(opcodes, 11, 8) != SP]
    return opcodes[(field(opcodes, 7, 7) * 8 + field(opcodes, 2, 0)) != SP]
