"""Which allocators tests build, and which of them every time."""

from __future__ import annotations

from collections.abc import Iterable

import pytest
from _pytest.mark import ParameterSet

from firmware.build import catalogue

ON_THE_HOST = [
    name
    for name, row in catalogue.allocators().items()
    if not row.target_only and row.missing_checkout() is None
]


def of_each_kind(names: Iterable[str]) -> list[ParameterSet]:
    """The allocators as parameters of a test; all but one of each kind are long."""
    return [
        pytest.param(name, marks=() if name in catalogue.EACH_KIND else pytest.mark.long) for name in names
    ]
