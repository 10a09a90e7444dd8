"""How tests run: property tests with equal examples everywhere, and several processes at a time."""

from __future__ import annotations

import os
import signal
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from hypothesis import settings
from xdist.scheduler import LoadScopeScheduling

pytest.register_assert_rewrite("tests.sentences")

from tests.sentences import Sentences  # noqa: E402

settings.register_profile("repeatable", derandomize=True, deadline=None, database=None)
settings.load_profile("repeatable")

ROOT = Path(__file__).parent

# Tests start hundreds of interpreters. Where modules are not kept compiled, each would compile all
# of them again: a quarter of its start.
if os.environ.pop("PYTHONDONTWRITEBYTECODE", ""):
    os.environ["PYTHONPYCACHEPREFIX"] = str(ROOT / "build" / "compiled-python")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Options: the tests that take long, and where sentences change."""
    parser.addoption("--all", action="store_true", help="also the tests that are marked long")
    parser.addoption("--renew-sentences", action="store_true", help="write tests/sentences.json anew")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leaves out the tests that are marked long, unless all are wanted."""
    long = {item for item in items if item.get_closest_marker("long")}
    if long and not config.getoption("--all"):
        config.hook.pytest_deselected(items=sorted(long, key=items.index))
        items[:] = [item for item in items if item not in long]


@pytest.fixture
def sentences(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Sentences]:
    """The sentences of this test, held to tests/sentences.json."""
    renew = request.config.getoption("--renew-sentences")
    held = Sentences(request.node.nodeid, tmp_path_factory.getbasetemp(), renew)
    yield held
    held.close()


class OneProcessForAFixture(LoadScopeScheduling):
    """How `pytest -n 2` deals the tests out to its processes.

    If a file makes something once for all of its tests, they stay together. All other tests go out
    one by one. Each process makes the fixtures of the whole session itself, so these must cost
    little.
    """

    def _split_scope(self, nodeid: str) -> str:
        file = nodeid.partition("::")[0]
        return file if _makes_something_once(file) else nodeid


@cache
def _makes_something_once(file: str) -> bool:
    return '@pytest.fixture(scope="module"' in (ROOT / file).read_text(encoding="utf-8")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> LoadScopeScheduling:
    """Gives xdist our way. (Its own --dist loadgroup does not know the node ids of pytest 9.2.)"""
    return OneProcessForAFixture(config, log)


SLOWEST_FILES = 25


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Where the time of a suite went: its files that took longest, with fixtures, in seconds."""
    seconds: Counter[str] = Counter()
    for reports in terminalreporter.stats.values():
        for report in reports:
            if isinstance(report, pytest.TestReport):
                seconds[report.nodeid.partition("::")[0]] += report.duration
    if len(seconds) <= SLOWEST_FILES:
        return
    terminalreporter.write_line(f"{sum(seconds.values()):,.0f} s in tests and fixtures; the longest files:")
    for file, taken in seconds.most_common(SLOWEST_FILES):
        terminalreporter.write_line(f"{taken:8.1f}  {file}")


@pytest.fixture
def interruptible() -> Iterator[None]:
    """This process and those that it starts hear signals, as if they came from a terminal.

    A shell without job control makes what it starts with `&` ignore SIGINT, and nohup what it
    starts ignore SIGHUP. Children inherit that.
    """
    heard = {signal.SIGINT: signal.default_int_handler, signal.SIGHUP: signal.SIG_DFL}
    before = {number: signal.signal(number, handler) for number, handler in heard.items()}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)
