"""Every command of the pages is run here, or its page names the test that runs it (pages.py)."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Iterator
from importlib.util import find_spec
from pathlib import Path

import click
import pytest

from base.paths import ROOT
from cli.shell import start
from simulator import build as simulator
from tests import pages
from tests.checkout import Checkout
from tests.pages import Command

pytestmark = pytest.mark.docs

HARMFUL = re.compile(r"\./lab (app|test|dev (build|clean|soak))\b")
"""Without a marker nobody says that these end soon and leave the real checkout alone."""


def page_commands() -> Iterator[Command]:
    for path in pages.pages():
        yield from pages.read(str(path.relative_to(ROOT)), path.read_text(encoding="utf-8"))


def settled(commands: Iterable[Command]) -> dict[str, Command]:
    """Of each command the place that says how it is tried: by a marker, by a block, or first."""
    best: dict[str, Command] = {}
    for one in commands:
        command = best.setdefault(one.text, one)
        if _says(one) > _says(command):
            best[one.text] = one
    return best


def _says(command: Command) -> tuple[bool, bool]:
    return bool(command.marker.kind), not command.in_a_sentence


def to_run(commands: dict[str, Command]) -> list[Command]:
    """Also what only a sentence has, unless another command has all of its words."""
    others = [set(text.split()) for text in commands]
    return [
        command
        for command in commands.values()
        if command.kind == "run"
        or (command.kind == "mentioned" and not any(set(command.text.split()) < words for words in others))
    ]


def unmarked(commands: Iterable[Command]) -> list[str]:
    """A sentence for each command that is to be run and that nobody said may be run."""
    return [
        f"{command}\n    needs a marker before its block: run, elsewhere or parsed (tests/pages.py)."
        for command in commands
        if not command.marker.kind
        and (pages.program(command.text) not in pages.SAFE or HARMFUL.match(command.text))
    ]


def refused(command: Command) -> str:
    """What `./lab` says to a command that it does not take; "" if it would run it.

    A sentence may leave words out. Of a general form only the words and options are read. A run and
    a folder beside the checkout are taken to be there.
    """
    general = pages.is_general(command.text)
    words = shlex.split(re.split(r" [|>] ", command.text.partition("./lab")[2])[0])
    if general:
        words = [word.strip("[]()") for word in words]
    try:
        one, context, words = _found([_there(word) for word in words])
        if general:
            options = {name for param in one.params for name in param.opts}
            unknown = [word for word in words if word.startswith("--") and word not in options]
            return f"no option {unknown[0]}" if unknown[:1] not in ([], ["--"]) else ""
        if not {"--help", "--version"} & set(words) and not isinstance(one, click.Group):
            one.make_context(one.name, words, context)
    except click.ClickException as error:
        incomplete = isinstance(error, click.MissingParameter | click.BadOptionUsage)
        return "" if incomplete and command.in_a_sentence else str(start.sentence(error))
    return ""


def _there(word: str) -> str:
    """What stands for a run, and for a folder or an allocator beside the checkout."""
    if word.startswith("../") and word.endswith(".c"):
        return "docs/examples/my_heap.c"
    return "." if word == "RUN" or word.startswith("../") else word


def _found(words: list[str]) -> tuple[click.Command, click.Context, list[str]]:
    """The command, the context that it stands in, and the words behind it. Raises UsageError."""
    group: click.Command = start.lab()
    context = click.Context(group, info_name=start.PROGRAM)
    while isinstance(group, click.Group) and words and not words[0].startswith("-"):
        name, command, words = group.resolve_command(context, words)
        assert command
        group = command
        context = click.Context(group, context, name) if isinstance(group, click.Group) else context
    return group, context, words


COMMANDS = list(page_commands())
SETTLED = settled(COMMANDS)
RUN = to_run(SETTLED)
PAGES = list(dict.fromkeys(command.page for command in RUN))


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Checkout:
    simulator.build()
    return Checkout(tmp_path_factory.mktemp("checkout"))


def test_every_command_may_be_run_or_has_a_marker() -> None:
    sentences = unmarked(RUN)
    assert not sentences, "\n".join(sentences)


def test_lab_takes_every_command_of_the_pages() -> None:
    wrong = [
        f"{command}\n    {said}"
        for command in COMMANDS
        if "./lab" in command.text and (said := refused(command))
    ]
    assert not wrong, "\n".join(wrong)


def test_a_page_has_every_command_of_lab() -> None:
    tried = [command.text for command in SETTLED.values() if command.marker.kind or command in RUN]
    missing = [path for path in _words(start.lab()) if not any(text.startswith(path) for text in tried)]
    assert not missing, f"No page has a reader type {', '.join(missing)}."


def _words(group: click.Group, path: str = start.PROGRAM) -> Iterator[str]:
    context = click.Context(group)
    for word in group.list_commands(context):
        command = group.get_command(context, word)
        yield from (
            _words(command, f"{path} {word}") if isinstance(command, click.Group) else [f"{path} {word}"]
        )


@pytest.mark.long
@pytest.mark.parametrize("page", PAGES)
def test_the_commands_of_a_page_do_what_it_says(page: str, checkout: Checkout) -> None:
    wrong = [said for command in RUN if command.page == page and (said := checkout.tried(command))]
    assert not wrong, "\n\n".join(wrong)


@pytest.mark.parametrize(
    "command", [command for command in SETTLED.values() if command.kind == "elsewhere"], ids=str
)
def test_what_is_run_elsewhere_is_still_run_there(command: Command) -> None:
    place, _, name = command.marker.detail.partition("::")
    source = (ROOT / place).read_text(encoding="utf-8")
    assert not name or re.search(rf"\b{re.escape(name)}\b", source), f"{place} has no {name}."
    if words := re.match(r"\./lab [a-z]+(?: [a-z]+(?= |$))*", command.text):
        word = words[0].split()[-1]
        assert word in source, f"{place} has no {word}."


def test_a_module_is_there_to_be_run() -> None:
    for command in SETTLED.values():
        if name := re.search(r"python -m ([\w.]+)", command.text):
            spec = find_spec(name[1])
            assert spec and spec.origin, command
            program = spec.origin.replace("__init__.py", "__main__.py")
            assert '__name__ == "__main__"' in Path(program).read_text(encoding="utf-8"), command
