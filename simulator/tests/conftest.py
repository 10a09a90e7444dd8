"""The program that the tests of this room run."""

from __future__ import annotations

from pathlib import Path

import pytest

from simulator.tests import bare_metal


@pytest.fixture(scope="package")
def elf(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The bare-metal program, built once."""
    return bare_metal.build(tmp_path_factory.mktemp("board"))
