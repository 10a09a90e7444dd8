"""The families of chips, as families.toml has them: what a board's table may say of its clock tree,
that it adds up, and what reset a board.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field, PositiveInt, create_model, model_validator

from base.files.complaints import WrongValueError
from base.files.documents import Table

POWER_UP = "a power-up"
Divider = Literal[1, 2, 4, 8, 16]

AtOscIn = Literal["clock", "crystal", "nothing"]
"""What a board has at OSC_IN."""


@dataclass(frozen=True)
class Family:
    """A table of families.toml, which says what its keys mean."""

    internal_hz: int
    internal_tolerance: float
    accelerator: int
    pll: Mapping[str, Any]
    causes: Mapping[str, str]
    implied: Mapping[str, int] = field(default_factory=dict)
    lacks: Sequence[str] = ()
    keys: Mapping[str, Any] = field(default_factory=dict)
    divided_by: str = ""
    most_apb1_divider: int = 2
    one_divider: bool = False
    internal_core_hz: int | None = None


class Pll(Table):
    """What makes the core's clock of `input_hz`, to which each source is divided."""

    input_hz: PositiveInt
    n: int


class ClockTree(Table):
    """What the trees have in common: the core's clock, what is at OSC_IN, two slower buses."""

    family: ClassVar[Family]

    core_hz: PositiveInt
    """The clock of the core and of the timers; it must be what `pll` makes."""
    hse_hz: PositiveInt
    """What is at OSC_IN."""
    at_osc_in: AtOscIn = "clock"
    """What is there as the board is sold, and so on the virtual board; with `nothing` the firmware
    falls back to the HSI.
    """
    pll: Pll
    """By family."""
    apb1_divider: Divider
    """1, 2 or 4; the timers of APB1 count the core's clock, so of an STM32L4 1 or 2."""
    apb2_divider: Divider
    wait_states: Annotated[int, Field(ge=0, le=15)]
    """Of the flash at that clock and 2.7 V or more."""

    @property
    def internal_core_hz(self) -> int:
        """The core's clock where it is made of the HSI."""
        return self.family.internal_core_hz or self.core_hz

    @model_validator(mode="after")
    def _adds_up(self) -> ClockTree:
        family, input_hz = self.family, self.pll.input_hz
        divider: int = getattr(self.pll, family.divided_by) if family.divided_by else 1
        made_hz = input_hz * self.pll.n / divider
        if made_hz != self.core_hz:
            raise WrongValueError(
                f"must be the {made_hz:,.0f} that pll makes, not {self.core_hz:,}", "core_hz"
            )
        for name, hz in (("hse_hz", self.hse_hz), ("pll.input_hz", family.internal_hz)):
            if hz % input_hz:
                raise WrongValueError(f"does not divide into {hz:,}", *name.split("."))
        if self.apb1_divider > family.most_apb1_divider:
            words = f"must be {family.most_apb1_divider} or less: the timers count the core's clock"
            raise WrongValueError(words, "apb1_divider")
        if family.one_divider and self.apb2_divider != self.apb1_divider:
            raise WrongValueError("must be what apb1_divider is: one divider serves both", "apb2_divider")
        return self


@cache
def _families() -> dict[str, Family]:
    text = Path(__file__).with_suffix(".toml").read_text(encoding="utf-8")
    return {name: Family(**table) for name, table in tomllib.loads(text).items()}


def _named(name: str) -> Family:
    """The family of this name; the STM32F4 where a folder brings a family of its own."""
    return _families().get(name, _families()["stm32f4"])


@cache
def tree_of(family_name: str) -> type[ClockTree]:
    """What a board's table may say of its clock tree."""
    family = _named(family_name)
    pll = create_model("FamilyPll", __base__=Pll, **_fields(family.pll))
    tree = create_model("FamilyClock", __base__=ClockTree, pll=(pll, ...), **_fields(family.keys))
    tree.family = family
    return tree


def _fields(keys: Mapping[str, Any]) -> dict[str, Any]:
    """What create_model() takes for the keys of a table of families.toml."""
    types: dict[str, Any] = {}
    for key, values in keys.items():
        if isinstance(values, list):
            types[key] = (Literal[tuple(values)], ...)
        else:
            types[key] = (bool, ...) if values == "bool" else (int, Field(**{"default": ..., **values}))
    return types


def causes(flags: int | None, family_name: str) -> tuple[str, ...]:
    """The causes of the resets that `flags` of RCC_CSR tell of, in words."""
    bits, family = flags or 0, _named(family_name)
    return tuple(
        words
        for bit, words in family.causes.items()
        if bits >> int(bit) & 1 and not (bit in family.implied and bits >> family.implied[bit] & 1)
    )
