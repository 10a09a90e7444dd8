"""Allocators from outside the repository, in tests."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from firmware.build import catalogue


@pytest.fixture(autouse=True)
def forgotten() -> Iterator[None]:
    """What a test admitted is not known to the next, in every module that imports this."""
    yield
    catalogue.OUTSIDE.clear()
