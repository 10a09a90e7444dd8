"""Tasks that take a list of words, with options in any order."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from invoke.collection import Collection
from invoke.context import Context
from invoke.exceptions import ParseError
from invoke.tasks import task

from cli.command_line import ListParser


@task(positional=["runs"], iterable=["runs"])
def dashboard(_context: Context, runs: list[str], output: str = "", plain: bool = False) -> None:
    """A list, a value and a flag."""


@task(positional=["run"])
def redecode(_context: Context, run: str) -> None:
    """One word, as invoke has it."""


def parsed(*argv: str) -> list[tuple[str | None, Mapping[str, Any]]]:
    parser = ListParser(Collection(dashboard, redecode).to_contexts())
    return [(context.name, context.as_kwargs) for context in parser.parse_argv(list(argv))]


def choice(*runs: str, output: str = "", plain: bool = False) -> list[tuple[str, dict[str, Any]]]:
    return [("dashboard", {"runs": list(runs), "output": output, "plain": plain})]


@pytest.mark.parametrize(
    ("argv", "expected"),
    [
        ((), choice()),
        (("one",), choice("one")),
        (("one", "two", "one"), choice("one", "two", "one")),
        (("--output", "file", "one"), choice("one", output="file")),
        (("one", "--output=file", "two", "--plain"), choice("one", "two", output="file", plain=True)),
        (("--o", "file", "one", "--p"), choice("one", output="file", plain=True)),
        (("--o=file", "one"), choice("one", output="file")),
        (("-o", "file", "-p", "one two"), choice("one two", output="file", plain=True)),
        (("--runs", "one", "--runs=two"), choice("one", "two")),
        (("one", "redecode"), choice("one", "redecode")),
    ],
)
def test_what_is_no_option_belongs_to_the_list(argv: tuple[str, ...], expected: list[Any]) -> None:
    assert parsed("dashboard", *argv) == expected


def test_other_tasks_are_invokes() -> None:
    assert parsed("redecode", "one") == [("redecode", {"run": "one"})]
    assert parsed() == []


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        (("dashboard", "one", "--bogus"), "No idea what '--bogus' is!"),
        (("dashboard", "one", "--output"), "needed value"),
        (("redecode", "one", "two"), "No idea what 'two' is!"),
        (("redecode",), "did not receive required positional arguments"),
    ],
)
def test_what_is_not_known_is_refused_as_ever(argv: tuple[str, ...], said: str) -> None:
    with pytest.raises(ParseError, match=said):
        parsed(*argv)
