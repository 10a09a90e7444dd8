"""How a program's virtual board is chosen: the options that all commands about a program share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypedDict


class BoardOptions(TypedDict, total=False):
    """The options of user_program() (simulator/program.py), which says what each is."""

    chip: str
    hse: str
    strict: bool
    gaps: bool
    semihosting: bool
    any_core: bool
    attach: Sequence[str]
