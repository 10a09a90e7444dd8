"""Fixtures for pytest that measure a program: `masks`, `latency` and `bench_run`.

    def test_the_heap_masks_shortly(masks):
        masks("build/fw.elf", until="1s").longest("basepri").check(at_most_cycles=1200)

A failed assertion on a figure tells its place and the calls, `check_baseline()` what has changed.
The baseline of a test lies beside it, in `tailscope-baselines/`; `--tailscope-update` writes it.
"""

from __future__ import annotations

import hashlib
import os
import re
import zlib
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from itertools import count
from pathlib import Path
from typing import TypeVar

import pytest

import tailscope
from tailscope._bench import Document, FilePath
from tailscope._errors import Error
from tailscope._figures import Cycles, Nanoseconds
from tailscope._programs import Latency, Masks, ask_program, refusal_of

__tracebackhide__ = True  # pytest shows the line of the test

FOLDER = "tailscope-baselines"
_NOT_IN_A_NAME = re.compile(r"[^A-Za-z0-9_.-]+")
_MOST_CHARACTERS = 150
_KNOWN = pytest.StashKey[dict[tuple[object, ...], Document]]()
_Found = TypeVar("_Found", Masks, Latency)

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
    figures = [side.of for side in (left, right) if isinstance(side, Cycles | Nanoseconds)]
    stories = [line for figure in figures for line in figure.story()]
    return [f"{_shown(left)} {op} {_shown(right)}", *stories] if stories else None


def _shown(value: object) -> str:
    return f"{value:,}" if isinstance(value, int | float) else repr(value)


@pytest.fixture
def masks(_tailscope: _Baselines) -> MeasureMasks:
    """`masks(elf, until="1s", …)`: tailscope.masks, held to the baseline of the test."""
    return partial(_tailscope.measured, Masks, "masks")


@pytest.fixture
def latency(_tailscope: _Baselines) -> MeasureLatency:
    """`latency(elf, irq="TIM2", …)`: tailscope.latency, held to the baseline of the test."""
    return partial(_tailscope.measured, Latency, "latency")


@pytest.fixture(scope="session")
def bench_run(tmp_path_factory: pytest.TempPathFactory) -> MakeRun:
    """`bench_run(scenario, allocator=…, …)`: tailscope.run, which stores its runs in the temporary
    folder of this session of pytest unless `folder` names another.
    """
    return partial(tailscope.run, folder=tmp_path_factory.mktemp("runs"))


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
        self._known = node.config.stash.setdefault(_KNOWN, {})

    def measured(
        self,
        made: Callable[..., _Found],
        command: str,
        elf: FilePath,
        *,
        any_verdict: bool = False,
        allow: str | None = None,
        **options: object,
    ) -> _Found:
        """The test's next measurement, held to its baseline if there is one. `allow` is that of the
        command, of a baseline that is there. Raises Error, also for what vanished.
        """
        path = next(self._paths)
        baseline = path if path.exists() and not self._update else None
        if allow and baseline:
            options = {**options, "allow": allow}
        document, refusal = None, ""
        if self._update:
            try:
                document = ask_program(command, elf, {**options, "baseline": path, "update": True})
            except Error as error:  # it becomes no baseline
                refusal = str(error)
        if document is None:
            document = self._remembered(command, elf, options, baseline)
            refusal = refusal or refusal_of(document)
        result = made(document, any_verdict=any_verdict)
        if refusal and result.complete:
            raise Error(_for_pytest(refusal))
        return result

    def _remembered(
        self, command: str, elf: FilePath, options: Mapping[str, object], baseline: Path | None
    ) -> Document:
        """What a command says of a program; asked once in a session for files of the same content
        and the same words, unless it refuses to judge, as it names the baseline then.
        """
        held_to = {} if baseline is None else {"baseline": baseline}
        files = [_sha256(path) for path in (elf, *held_to.values())]
        key = (command, os.fspath(elf), repr(sorted(options.items())), *files)
        if key in self._known:
            return self._known[key]
        try:
            document = ask_program(command, elf, {**options, **held_to})
        except Error as error:
            raise Error(_for_pytest(str(error)), error.exit_status) from None
        if not refusal_of(document):
            self._known[key] = document
        return document


def _for_pytest(sentence: str) -> str:
    """A sentence of the program, with the option as pytest has it."""
    return sentence.replace("--allow vanished", 'allow="vanished"').replace("--update", "--tailscope-update")


def _paths(node: pytest.Item) -> Iterator[Path]:
    module, *names = node.nodeid.split("::")
    title = ".".join([Path(module).stem, *names])
    name = _NOT_IN_A_NAME.sub("_", title)[:_MOST_CHARACTERS]
    name = name if name == title else f"{name}-{zlib.crc32(title.encode()):08x}"
    folder = node.path.parent / FOLDER
    for number in count(1):
        yield folder / (f"{name}.toml" if number == 1 else f"{name}-{number}.toml")


def _sha256(elf: FilePath) -> str:
    """That of the file; "" if it cannot be read, which the bench says in its words."""
    try:
        return hashlib.sha256(Path(elf).read_bytes()).hexdigest()
    except (OSError, ValueError):
        return ""
