"""The checkout that the tests of a process share."""

from __future__ import annotations

import pytest

from simulator import build as simulator
from tests.checkout import Checkout


@pytest.fixture(scope="session")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Checkout:
    simulator.build()
    return Checkout(tmp_path_factory.mktemp("checkout"))
