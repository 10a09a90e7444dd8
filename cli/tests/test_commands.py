"""Commands as they are found and declared: their help, what is refused, and what one file adds."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator, Sequence

import click
import pytest

from base.paths import ROOT
from base.run_folder.records import Locking
from cli.scenario import command as scenario
from cli.shell import shared, start
from cli.tests.typed import refused
from scenarios.operations import RECORDS
from tests.tables import table


def walked(folder: click.Group, *words: str) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    """All commands that are no groups, with their words."""
    for name in folder.list_commands(click.Context(folder)):
        command = folder.get_command(click.Context(folder), name)
        assert command is not None
        if isinstance(command, click.Group):
            yield from walked(command, *words, name)
        else:
            yield (*words, name), command


COMMANDS = dict(walked(start.lab()))


def page(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert start.run(words) == 0
    return capsys.readouterr().out


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_help_tells_every_word_and_option(words: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    text = page(capsys, *words, "--help")
    assert text == page(capsys, *words, "-h")
    assert text.startswith(f"Usage: ./lab {' '.join(words)}")
    assert max(map(len, text.splitlines())) <= 100
    context = click.Context(COMMANDS[words])
    for param in COMMANDS[words].params:
        shown = param.make_metavar(context) if isinstance(param, click.Argument) else max(param.opts, key=len)
        hidden = getattr(param, "hidden", False)
        assert hidden or (shown in text and getattr(param, "help", "")), param.name


def test_json_is_one_option_wherever_it_is() -> None:
    declared = [param for command in COMMANDS.values() for param in command.params if "--json" in param.opts]
    assert len(declared) > 24
    assert {(param.name, getattr(param, "help", "")) for param in declared} == {("as_json", "print JSON")}


@table
def test_a_wrong_command_line_is_one_sentence(words: str, sentence: str) -> None:
    assert refused(*words.split()).startswith(sentence)


def test_words_that_are_held_twice_to_load_nothing_are_the_same() -> None:
    assert shared.RECORDS == RECORDS
    locking = next(param for param in scenario.params if param.name == "locking")
    assert locking.type.words() == Locking.__args__  # type: ignore[attr-defined]


SLOW = (
    *("polars", "numpy", "scipy", "plotly", "pyocd", "serial", "dash", "rich", "pydantic", "jinja2"),
    *("capture", "analysis", "dashboards", "simulator", "quality", "studies"),
)


ASKED_FOR = (
    *("--help", "--version", "heap --help", "dev --help"),
    *(f"{' '.join(words)} --help" for words in COMMANDS),
)
REFUSED = ("scenari", "scenario mem_frag --art onn", "scenario mem_frag --bogus", "redecode runs/nowhere")


def statuses(lines: Sequence[str]) -> tuple[list[int], list[str], list[str], list[str]]:
    """The statuses of command lines, one after another in an interpreter that has loaded nothing;
    which of SLOW are loaded then, and the lines on either stream.
    """
    script = (
        "import sys\n"
        "from cli.shell.start import main\n"
        f"statuses = [main(line.split()) for line in {lines!r}]\n"
        "import json; sys.stdout.flush()\n"
        f"print(json.dumps([statuses, sorted(set({SLOW!r}) & set(sys.modules))]), file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False, cwd=ROOT
    )
    *complaints, last = done.stderr.splitlines()
    codes, loaded = json.loads(last)
    return codes, loaded, done.stdout.splitlines(), complaints


def test_help_and_a_refusal_load_nothing_that_takes_a_while() -> None:
    """A time would depend on the machine; what is loaded does not."""
    codes, loaded, _, complaints = statuses([*ASKED_FOR, *REFUSED])
    assert codes == [0] * len(ASKED_FOR) + [2] * len(REFUSED)
    assert loaded == []
    assert len(complaints) == len(REFUSED)


def test_without_its_packages_it_says_how_to_get_them() -> None:
    """As on a fresh machine: -S hides what is installed."""
    done = subprocess.run(
        [sys.executable, "-S", "-m", "cli", "--help"], capture_output=True, text=True, check=False, cwd=ROOT
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "The Python package click is missing: ./lab doctor installs it.\n"
