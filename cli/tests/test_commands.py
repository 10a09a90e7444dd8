"""Commands as they are read from the source, their help, and what is refused, without an import."""

from __future__ import annotations

import ast
import subprocess
import sys

import pytest
from invoke.collection import Collection

import tasks
from base.paths import ROOT
from base.run_folder.named_quantities import CHOICE
from cli import help as help_pages
from cli import refusals
from cli.command_line import _in_our_words
from cli.commands import commands
from cli.refusals import UsageError
from tests import lab

CONTEXTS = {context.name: context for context in Collection.from_module(tasks).to_contexts()}


def said(*words: str) -> str:
    page = help_pages.answer(words)
    assert page is not None
    return page


def test_the_source_is_read_as_invoke_reads_it() -> None:
    assert set(commands()) == set(CONTEXTS)


@pytest.mark.parametrize("name", sorted(commands()))
def test_a_command_has_invokes_words_and_options(name: str) -> None:
    context = CONTEXTS[name]
    assert context is not None
    command = commands()[name]
    assert [word.name for word in command.words] == [one.name for one in context.positional_args]
    theirs = {
        f"--no-{argument.name}" if argument.default is True else f"--{argument.name.strip('_')}"
        for argument in context.args.values()
    }
    assert set(command.flags) == {flag.replace("_", "-") for flag in theirs}
    for option in (*command.options, *command.words):
        argument = context.args[option.name.strip("_").replace("_", "-")]
        assert option.takes_value == (argument.takes_value and argument.kind is not bool)
        assert option.help == (argument.help or "")


def test_every_command_is_in_the_overview_once() -> None:
    lines = [line.split()[0] for line in said().splitlines() if line.startswith("  ") and line[2] != " "]
    assert sorted(lines) == sorted(commands())
    assert said() == said("--help") == said("-h") == said("--list") == said("help")
    assert max(map(len, said().splitlines())) <= 100


@pytest.mark.parametrize("name", sorted(commands()))
def test_help_tells_every_word_and_option(name: str) -> None:
    page = said(name, "--help")
    assert page == said("--help", name) == said("help", name) == said(name, "-h") == said(name, "x", "--help")
    assert page.startswith(f"Usage: ./lab {name}")
    assert max(map(len, page.splitlines())) <= 100
    command = commands()[name]
    for option in command.options:
        assert f"  {option.flag}" in page and option.help
    for word in command.words:
        assert f"  {word.name.upper()}" in page and word.help


@pytest.mark.parametrize(
    "words", [["record", "--", "ls", "--help"], ["scenario", "mem_frag"], ["scenari", "-h"]]
)
def test_other_words_ask_for_no_help(words: list[str]) -> None:
    assert help_pages.answer(words) is None


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["scenari"], "There is no command 'scenari'. Did you mean scenario?"),
        (["xyzzy"], "There is no command 'xyzzy'. ./lab lists them all."),
        (
            ["scenario", "mem_frag", "--alocator=tlsf"],
            "./lab scenario has no option --alocator. Did you mean --allocator?",
        ),
        (
            ["list", "--xyzzyxyzzy"],
            "./lab list has no option --xyzzyxyzzy. ./lab list --help lists them.",
        ),
    ],
)
def test_a_wrong_command_or_option_is_one_sentence(words: list[str], sentence: str) -> None:
    with pytest.raises(UsageError) as refused:
        refusals.check(words)
    assert str(refused.value) == sentence


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["--debug", "list"],
        ["faults", "--n", "3"],
        ["fragmentation", "x", "--no-search"],
        ["clean", "build"],
    ],
)
def test_what_may_be_meant_passes(words: list[str]) -> None:
    refusals.check(words)


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [
        (
            "'redecode' did not receive required positional arguments: 'run'",
            "./lab redecode needs RUN: a run folder.",
        ),
        (
            "No idea what 'two' is!",
            "./lab redecode cannot take 'two': ./lab redecode --help says what it takes.",
        ),
        (
            "Flag <Argument: run (r)> needed value and was not given one!",
            "--run needs a value: a run folder.",
        ),
        ("something else", "something else"),
    ],
)
def test_what_invoke_refuses_is_told_in_our_words(theirs: str, ours: str) -> None:
    assert _in_our_words(theirs, "redecode") == ours


def test_a_mistyped_option_without_a_command_is_told_in_our_words() -> None:
    said = _in_our_words("No idea what '--versio' is!", None)
    assert said == "There is no option '--versio'. Did you mean --version?"


@pytest.mark.parametrize(
    ("words", "status"),
    [
        (["gate", "--basline", "x"], 2),
        (["gate", "--baseline"], 2),
        (["compare", "a"], 2),
        (["compare", "a", "b", "c"], 2),
        (["redecode"], 1),
        (["--versio"], 1),
    ],
)
def test_a_judge_that_is_called_wrongly_does_not_say_worse(words: list[str], status: int) -> None:
    done = lab.run(*words)
    assert (done.returncode, done.stdout) == (status, "")
    assert done.stderr.count("\n") == 1


def run(*options: str, script: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *options, "-c", script], capture_output=True, text=True, check=False, cwd=ROOT
    )


@pytest.mark.parametrize("words", [["--help"], ["scenario", "--help"], ["--version"], ["scenari"]])
def test_help_needs_no_package(words: list[str]) -> None:
    """As on a fresh machine: -S hides what is installed."""
    done = subprocess.run(
        [sys.executable, "-S", "-m", "cli", *words], capture_output=True, text=True, check=False, cwd=ROOT
    )
    assert done.returncode == (words == ["scenari"])
    assert "Traceback" not in done.stderr and (done.stdout or done.stderr)


SLOW = ("polars", "numpy", "scipy", "plotly", "pyocd", "serial", "dash", "rich")


@pytest.mark.parametrize(
    "words",
    [
        ["scenario", "mem_frag", "--art", "onn"],
        ["scenario", "mem_frag", "--allocator", "tslf"],
        ["scenario", "mem_frga"],
        ["scenario", "mem_frag", "--board", "nucelo"],
        ["scenario", "mem_frag", "--stimulus", "periodc"],
        ["scenario", "mem_frag", "--summary", "xml"],
        ["scenario", "mem_frag", "--bogus"],
        ["decode", "x.sr", "--scenario", "mem_frga"],
        ["redecode", "runs/nowhere"],
        ["contract", "--allocator", "tslf"],
    ],
)
def test_a_refusal_loads_nothing_that_takes_a_while(words: list[str]) -> None:
    """A time would depend on the machine; what is loaded does not."""
    script = (
        f"import sys; sys.argv = ['lab', *{words!r}]\n"
        "from console.start import main\n"
        "status = main()\n"
        f"print(status, sorted(set({SLOW!r}) & set(sys.modules)))"
    )
    done = run(script=script)
    assert done.stdout == "1 []\n", done.stdout + done.stderr


def test_the_words_for_quantities_are_those_of_their_room() -> None:
    assert tasks.CHOICE == CHOICE


MOST_STATEMENTS = 15
"""Of a task with its docstring: it hands over at once, prints, and tells by its exit status."""


def test_a_task_is_a_few_statements() -> None:
    tree = ast.parse((ROOT / "tasks.py").read_text(encoding="utf-8"))
    statements = {
        node.name: sum(isinstance(one, ast.stmt) for one in ast.walk(node)) - 1
        for node in tree.body
        if isinstance(node, ast.FunctionDef)
    }
    assert [name for name, count in statements.items() if count > MOST_STATEMENTS] == []
