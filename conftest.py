"""How tests run: property tests with the same examples on every machine, and several processes at a time."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from hypothesis import settings
from xdist.scheduler import LoadScopeScheduling

settings.register_profile("repeatable", derandomize=True, deadline=None, database=None)
settings.load_profile("repeatable")

ROOT = Path(__file__).parent


class OneProcessForAFixture(LoadScopeScheduling):
    """With `pytest -n 2`: the tests of a file stay together if the file makes something once for all of
    them; else they are dealt out one by one. What a fixture of the whole session makes is made in each
    process, so it must cost little.
    """

    def _split_scope(self, nodeid: str) -> str:
        file = nodeid.partition("::")[0]
        return file if _makes_something_once(file) else nodeid


@cache
def _makes_something_once(file: str) -> bool:
    return '@pytest.fixture(scope="module"' in (ROOT / file).read_text(encoding="utf-8")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> LoadScopeScheduling:
    """How xdist deals out tests (its own --dist loadgroup does not know the node ids of pytest 9.2)."""
    return OneProcessForAFixture(config, log)


@pytest.fixture
def interruptible() -> Iterator[None]:
    """Ctrl-C is heard by this process and by those that it starts, as if all came from a terminal.

    A shell without job control has what it starts with `&` ignore SIGINT, and children inherit that.
    """
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)
