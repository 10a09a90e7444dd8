"""Which opcodes of a row of the decode tables the manual leaves UNPREDICTABLE or UNDEFINED: the
rules of unpredictable.toml.

They are deliberately not taken from the simulator, which must refuse the same opcodes
(`decode/unpredictable.rs`).
"""

from __future__ import annotations

import re
import tomllib
from functools import cache
from pathlib import Path

import numpy as np
import numpy.typing as npt
import polars as pl

from quality.differential.encodings import Encoding, Mask, Opcodes

_RULES = tomllib.loads(Path(__file__).with_name("unpredictable.toml").read_text(encoding="utf-8"))
_OPERANDS = {"n": (19, 16), "t": (15, 12), "d": (11, 8), "m": (3, 0)}

# What the pseudocode of A7.7 refuses anywhere in an IT block, and what it refuses before its end.
NEVER_IN_IT = r"B T1|B T3|CB|IT|CPS|MOV \(register\) T2"
LAST_IN_IT = r"B T2|B T4|BL|BX|TB|.*to PC"


def field(opcodes: Opcodes, high: int, low: int) -> Opcodes:
    """Bits `high` down to `low`."""
    return (opcodes >> np.uint32(low)) & np.uint32((1 << (high - low + 1)) - 1)


def bad(register: Opcodes) -> Mask:
    """Whether the register is SP or PC."""
    return (register == 13) | (register == 15)


def bit(o: Opcodes, number: int) -> Mask:
    """Whether one bit is set."""
    return field(o, number, number) == 1


def _column(opcodes: Opcodes, name: str) -> Mask | npt.NDArray[np.int64]:
    """The operand or the bits that a rule calls so."""
    n, base = field(opcodes, 19, 16), field(opcodes, 10, 8)
    if name == "imm":
        values = field(opcodes, 14, 12) << np.uint32(2) | field(opcodes, 7, 6)
    elif name == "in_list":
        return opcodes >> n & 1 == 1
    elif name == "base_stored_late":
        return (opcodes >> base & 1 == 1) & (opcodes & (np.uint32(1) << base) - 1 != 0)
    elif name.startswith("ones_"):
        values = np.bitwise_count(field(opcodes, int(name[5:]) - 1, 0))
    else:
        high, _, low = name[1:].partition("_")
        values = field(opcodes, *(_OPERANDS.get(name) or (int(high), int(low or high))))
    return values.astype(np.int64)


@cache
def _rule(row: Encoding) -> tuple[pl.Expr, frozenset[str]]:
    """What the manual refuses of an encoding, and the columns that this needs."""
    tables = ["wide" if row.wide else "narrow", *["baseline"] * row.baseline]
    texts = [text for table in tables for name, text in _RULES[table].items() if re.match(name, row.name)]
    rule = pl.any_horizontal(pl.lit(False), *map(pl.sql_expr, texts))
    return rule, frozenset(rule.meta.root_names())


def unpredictable(row: Encoding, opcodes: Opcodes) -> Mask:
    """Which opcodes the manual of the row's architecture gives no result."""
    rule, names = _rule(row)
    columns = pl.DataFrame({"opcode": opcodes, **{name: _column(opcodes, name) for name in names}})
    return columns.with_columns(mask=rule)["mask"].to_numpy().copy()
