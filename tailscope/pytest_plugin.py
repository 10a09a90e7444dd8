"""Fixtures for pytest that measure a program: `masks`, `latency` and `bench_run`.

    def test_the_heap_masks_shortly(masks):
        masks("build/fw.elf", until="1s").longest("basepri").check(at_most_cycles=1200)

A failed assertion on a figure tells its place, the calls, and the change since the baseline. The
baseline of a test lies beside it, in `tailscope-baselines/`; `--tailscope-update` writes it.
"""

from __future__ import annotations

import hashlib
import inspect
import os
import re
import zlib
from collections.abc import Callable, Iterator
from os import PathLike
from pathlib import Path
from typing import Any, TypeVar

import pytest

import tailscope
from tailscope import _baseline
from tailscope._baseline import Baseline
from tailscope._figures import Cycles, Nanoseconds
from tailscope._latency import Latency, ask_latency
from tailscope._masks import Masks, ask_masks

__tracebackhide__ = True  # pytest shows the line of the test

FOLDER = "tailscope-baselines"
_NOT_IN_A_NAME = re.compile(r"[^A-Za-z0-9_.-]+")
_MOST_CHARACTERS = 150
_Answer = TypeVar("_Answer")

MeasureMasks = Callable[..., Masks]
"""What the fixture `masks` is: tailscope.masks, with a baseline."""
MeasureLatency = Callable[..., Latency]
"""What the fixture `latency` is: tailscope.latency, with a baseline."""
MakeRun = Callable[..., tailscope.Run]
"""What the fixture `bench_run` is: tailscope.run."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """The option that writes baselines."""
    parser.getgroup("tailscope").addoption(
        "--tailscope-update",
        action="store_true",
        help="write what the tests measure now as their baselines, in tailscope-baselines/ beside them",
    )


def pytest_assertrepr_compare(op: str, left: object, right: object) -> list[str] | None:
    """The story of a figure, below a comparison that failed."""
    stories = [line for one in (left, right) if (found := _story(one)) for line in found]
    return [f"{_shown(left)} {op} {_shown(right)}", *stories] if stories else None


def _story(value: object) -> list[str]:
    return value.of.story() if isinstance(value, Cycles | Nanoseconds) else []


def _shown(value: object) -> str:
    return f"{value:,}" if isinstance(value, int | float) else repr(value)


@pytest.fixture
def masks(request: pytest.FixtureRequest, _tailscope: _Baselines) -> MeasureMasks:
    """`masks(elf, until="1s", …)`: tailscope.masks, with the figures of the test's baseline."""

    def measure(elf: str | PathLike[str], *, any_verdict: bool = False, **chosen: Any) -> Masks:
        asked = _asked(tailscope.masks, elf, chosen)
        part = _remembered(request.config, ask_masks, elf, asked)
        found = Masks(part, any_verdict=any_verdict)
        settings = {"until": found.until, "options": " ".join(part.texts("options"))}
        before = _tailscope.of("masks", settings, found)
        return Masks(part, any_verdict=any_verdict, before=before.longest) if before else found

    return measure


@pytest.fixture
def latency(request: pytest.FixtureRequest, _tailscope: _Baselines) -> MeasureLatency:
    """`latency(elf, irq="TIM2", …)`: tailscope.latency, with the figures of the test's baseline."""

    def measure(elf: str | PathLike[str], *, any_verdict: bool = False, **chosen: Any) -> Latency:
        asked = _asked(tailscope.latency, elf, chosen)
        answer = _remembered(request.config, ask_latency, elf, asked)
        found = Latency(answer, any_verdict=any_verdict)
        before = _tailscope.of("latency", _settings(asked), found)
        return Latency(answer, any_verdict=any_verdict, before=before.longest) if before else found

    return measure


@pytest.fixture(scope="session")
def bench_run() -> MakeRun:
    """`bench_run(scenario, allocator=…, …)`: tailscope.run."""
    return tailscope.run


@pytest.fixture
def _tailscope(request: pytest.FixtureRequest) -> _Baselines:
    """The baselines of the test."""
    return _Baselines(request.node, update=request.config.getoption("--tailscope-update"))


class _Baselines:
    """The baseline files of one test: that of its first measurement is `<test>.toml`, the others
    have a number.
    """

    def __init__(self, node: pytest.Item, *, update: bool) -> None:
        self._paths = _paths(node)
        self._update = update

    def of(self, command: str, settings: dict[str, str], found: Masks | Latency) -> Baseline | None:
        """That of the test's next measurement; None if there is none. Raises Error.

        To update, what was found is written first, if it is all of it.
        """
        path = next(self._paths)
        if self._update and found.complete:
            _baseline.write(path, Baseline(command, settings, found._rows()))
        return _baseline.read(path, command, settings)


def _paths(node: pytest.Item) -> Iterator[Path]:
    module, *names = node.nodeid.split("::")
    told = ".".join([Path(module).stem, *names])
    name = _NOT_IN_A_NAME.sub("_", told)[:_MOST_CHARACTERS]
    name = name if name == told else f"{name}-{zlib.crc32(told.encode()):08x}"
    folder = node.path.parent / FOLDER
    yield folder / f"{name}.toml"
    number = 2
    while True:
        yield folder / f"{name}-{number}.toml"
        number += 1


def _asked(
    function: Callable[..., object], elf: str | PathLike[str], chosen: dict[str, Any]
) -> dict[str, Any]:
    """What a function would ask the bench for. Raises TypeError where it takes no such words."""
    bound = inspect.signature(function).bind(elf, **chosen)
    bound.apply_defaults()
    return {name: value for name, value in bound.arguments.items() if name not in ("elf", "any_verdict")}


def _settings(asked: dict[str, Any]) -> dict[str, str]:
    """What was asked for, as texts."""
    told = {
        name: ", ".join(value) if isinstance(value, list | tuple) else value for name, value in asked.items()
    }
    return {name: str(value) for name, value in told.items() if value not in (None, "", False, ())}


_KNOWN = pytest.StashKey[dict[tuple[object, ...], Any]]()


def _remembered(
    config: pytest.Config,
    measure: Callable[..., _Answer],
    elf: str | PathLike[str],
    asked: dict[str, Any],
) -> _Answer:
    """What a command says of a program; asked once in a session for the same file and words."""
    known = config.stash.setdefault(_KNOWN, {})
    key = (measure, os.fspath(elf), _sha256(elf), repr(sorted(asked.items())))
    if key not in known:
        known[key] = measure(elf, **asked)
    found: _Answer = known[key]
    return found


def _sha256(elf: str | PathLike[str]) -> str:
    """That of the file; "" if it cannot be read, which the bench says in its words."""
    try:
        return hashlib.sha256(Path(elf).read_bytes()).hexdigest()
    except (OSError, ValueError):
        return ""
