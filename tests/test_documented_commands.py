"""Every command of the pages is run here, or named with the place that runs it."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path

import pytest

from base.paths import ROOT
from cli.shell import completing, start
from firmware.build import image as firmware
from scenarios import catalogue
from simulator import build as simulator
from simulator.serve import Served
from tests import lab, pages
from tests.documented_commands import ROWS, SHARED_RUN, SHOWN, Elsewhere, Tried
from tests.pages import Command, Shown

pytestmark = pytest.mark.docs

TABLE = "tests/documented_commands.py"
TIMEOUT_S = 300
LAB_ALONE = re.compile(r"\./lab [^|&;<>$`*?~{}()\[\]#!\\\n]*")
"""A command that no shell needs to read."""
WHAT_WAS_TRIED = "#what-was-tried"
TRIED = [row for row in ROWS if isinstance(row, Tried)]
ELSEWHERE = [row for row in ROWS if isinstance(row, Elsewhere)]


def found() -> Iterator[Command | Shown]:
    for path in pages.pages():
        yield from pages.read(str(path.relative_to(ROOT)), path.read_text(encoding="utf-8"))


FOUND = list(found())
COMMANDS = [one for one in FOUND if isinstance(one, Command)]


def unknown(commands: Iterable[Command]) -> list[str]:
    """A sentence for each command that the table does not know.

    In a sentence, the beginning of a command that is in the table names it: `./lab explain`.
    """
    known = {row.command for row in ROWS}
    return [
        f"{one}\n    is not in {TABLE}: add a row that runs it (Tried), or names what does (Elsewhere)."
        for one in commands
        if one.text not in known
        and not (one.in_a_sentence and any(row.startswith(f"{one.text} ") for row in known))
    ]


def test_every_command_of_the_pages_is_in_the_table() -> None:
    sentences = unknown(COMMANDS)
    assert not sentences, "\n".join(sentences)


def test_every_row_of_the_table_is_in_a_page() -> None:
    there = {one.text for one in COMMANDS}
    sentences = [
        f"No page has {row.command!r}: take it out of {TABLE}." for row in ROWS if row.command not in there
    ]
    assert not sentences, "\n".join(sentences)


def test_the_table_names_each_command_once() -> None:
    commands = [row.command for row in ROWS]
    assert len(set(commands)) == len(commands)


def test_every_other_block_of_code_is_known_as_no_command() -> None:
    there = {(one.page, one.text): one for one in FOUND if isinstance(one, Shown)}
    strange = [
        f"{there[key]}\n    begins a block in which tests/pages.py sees no command: add its program to "
        f"PROGRAMS there, or the block to SHOWN in {TABLE}."
        for key in there.keys() - SHOWN
    ]
    gone = [f"{page} has no block that begins with {text!r}." for page, text in SHOWN - there.keys()]
    assert not strange and not gone, "\n".join([*strange, *gone])


@pytest.mark.parametrize("row", ELSEWHERE, ids=str)
def test_what_is_run_elsewhere_is_still_run_there(row: Elsewhere) -> None:
    assert row.words in (ROOT / row.place).read_text(encoding="utf-8"), f"{row.place} has no {row.words!r}."


@pytest.mark.parametrize("row", [row for row in ELSEWHERE if "./lab" in row.command], ids=str)
def test_a_task_has_the_words_and_options_of_its_command(row: Elsewhere) -> None:
    words = shlex.split(row.command.partition("./lab")[2].translate(str.maketrans("", "", "[]")))
    assert completing.candidates(start.lab(), [], words[0])


@pytest.mark.parametrize("row", [row for row in ELSEWHERE if "python -m" in row.command], ids=str)
def test_a_module_is_there_to_be_run(row: Elsewhere) -> None:
    spec = find_spec(row.command.split()[2])
    assert spec and spec.origin
    assert '__name__ == "__main__"' in Path(spec.origin).read_text(encoding="utf-8")


def test_what_was_not_tried_on_a_board_says_so() -> None:
    """Where a page means a board on the desk, it leads to the account of what was tried instead."""
    of_a_board = {row.command for row in ROWS if row.of_a_board}
    for page in {one.page for one in COMMANDS if one.text in of_a_board}:
        text = (ROOT / page).read_text(encoding="utf-8")
        assert WHAT_WAS_TRIED in text or "\n## What was tried\n" in text, page


@dataclass
class Checkout:
    """A folder that looks like the repository to who types commands in
    it, so that its own runs and builds stay as they are. `./lab` goes
    straight to `python -m cli`: what is missing is not installed.
    """

    folder: Path
    tried: dict[str, subprocess.CompletedProcess[str]] = field(default_factory=dict)
    typed: dict[tuple[str, str], subprocess.CompletedProcess[str]] = field(default_factory=dict)
    """What came of each script in its folder: several rows may have the same one."""

    def __post_init__(self) -> None:
        (self.folder / "build" / "firmware").mkdir(parents=True)
        for name in ("docs", "runs", "simulator", "tests"):
            (self.folder / name).mkdir()
        shutil.copy(ROOT / "tasks.py", self.folder)  # it keeps runs and dashboards beside itself
        lab = self.folder / "lab"
        lab.write_text(f'#!/bin/sh\nexec {sys.executable} -m cli "$@"\n', encoding="utf-8")
        lab.chmod(0o755)
        self._link(".venv", Path(sys.prefix))
        linked = ("decoders", "docs/examples", "firmware", "pyocd_user.py", "simulator/target")
        for name in (*linked, "tests/masked_sections"):
            self._link(name, ROOT / name)
        for allocator in ("seglist", "tlsf"):
            self._link(f"build/firmware/{allocator}", firmware.build(allocator).elf.parent)
        operations = self.folder / "operations.bin"
        operations.write_bytes(catalogue.load("mem_frag").compile().image)
        for place in ("", "simulator/"):
            self._link(f"{place}fw.elf", firmware.build("seglist").elf)
            self._link(f"{place}ops.bin", operations)

    def _link(self, name: str, target: Path) -> None:
        (self.folder / name).symlink_to(target)

    def result(self, command: str) -> subprocess.CompletedProcess[str]:
        """What came of the row with this command, which is tried once."""
        if command not in self.tried:
            row = next(row for row in TRIED if row.command == command)
            if row.after:
                self.result(row.after)
            self.tried[command] = self._try(row)
        return self.tried[command]

    def _try(self, row: Tried) -> subprocess.CompletedProcess[str]:
        script = row.typed or next(one.script for one in COMMANDS if one.text == row.command)
        then = row.then
        if not LAB_ALONE.fullmatch(script) or row is SHARED_RUN:
            script, then = "\n".join([script, then]).strip(), ""
        if row is not SHARED_RUN:
            script, then = self._with_run(script), self._with_run(then)
        done = self._typed(script, row)
        if not then or done.returncode != 0:
            return done
        behind = self._in_shell(then, row.folder)
        said = done.stdout + behind.stdout, done.stderr + behind.stderr
        return subprocess.CompletedProcess(script, behind.returncode, *said)

    def _with_run(self, script: str) -> str:
        """With the folder of the shared run, as a reader would type it, where the page has RUN."""
        there = re.compile(r"(?<!\$)\bRUN\b(?!=)")
        return there.sub(self._run_folder(), script) if there.search(script) else script

    def _typed(self, script: str, row: Tried) -> subprocess.CompletedProcess[str]:
        with ExitStack() as opened:
            if "127.0.0.1:5555" in script or "PORT" in script:
                board = opened.enter_context(Served(firmware.build("tlsf").elf, probe=True))
                script = script.replace("127.0.0.1:5555", board.probe)
                script = script.replace("PORT", board.analyzer.rpartition(":")[2])
            key = (script, row.folder)
            if key not in self.typed:
                alone = LAB_ALONE.fullmatch(script) and row is not SHARED_RUN
                self.typed[key] = self._alone(script) if alone else self._in_shell(*key)
            return self.typed[key]

    def _alone(self, script: str) -> subprocess.CompletedProcess[str]:
        words = shlex.split(script)[1:]
        return lab.run(*words, folder=self.folder, environment=self._environment(), within_s=TIMEOUT_S)

    def _in_shell(self, script: str, folder: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["bash", "-c", f"set -e\n{script}"],
            cwd=self.folder / folder,
            env=self._environment(),
            capture_output=True,
            text=True,
            errors="replace",
            timeout=TIMEOUT_S,
            check=False,
            stdin=subprocess.DEVNULL,
        )

    def _run_folder(self) -> str:
        return f"runs/{Path(self.result(SHARED_RUN.command).stdout.split()[-1]).name}"

    def _environment(self) -> dict[str, str]:
        programs = (Path(sys.prefix, "bin"), ROOT / "simulator" / "target" / "release")
        path = os.pathsep.join([*map(str, programs), os.environ["PATH"]])
        return {**os.environ, "PATH": path, "PYTHONPATH": str(ROOT)}


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Checkout:
    simulator.build()
    return Checkout(tmp_path_factory.mktemp("checkout"))


@pytest.mark.parametrize("row", TRIED, ids=str)
def test_a_command_does_what_its_page_says(row: Tried, checkout: Checkout) -> None:
    if row.tool and shutil.which(row.tool) is None:
        pytest.skip(f"needs {row.tool}")
    done = checkout.result(row.command)
    said = done.stdout + done.stderr
    assert done.returncode == row.status, said
    assert re.search(row.says, said, re.MULTILINE), said
    assert "Traceback" not in said


@pytest.mark.parametrize("row", [row for row in TRIED if row.why.startswith("a synopsis")], ids=str)
def test_the_help_knows_every_option_of_a_synopsis(row: Tried, checkout: Checkout) -> None:
    for option in re.findall(r"--[a-z-]+", row.command):
        assert re.search(rf"-?{option[1:]}\b", checkout.result(row.command).stdout), option


ART = "./lab scenario mem_frag --art off"
PAGE = """
# A page

`./lab explain` a run, with `./lab scenario
mem_frag --art off`; `cargo` and `lab` are names.

    ./lab demo     # build, run
    ./lab redecode runs/…    # again

1. An output:

        fx2lafw:conn=1.12 - Saleae

   ```sh
   export WHERE=decoders
   RUN=runs/<run folder>/capture.sr
   sigrok-cli -i $RUN \\
       -P critical_section
   python -c "
   print('#')"
   ```
"""


def test_a_page_is_read_from_top_to_bottom() -> None:
    setup = "export WHERE=decoders\nRUN=RUN/capture.sr\n"
    assert list(pages.read("page.md", PAGE)) == [
        Command("page.md", 4, "./lab explain", "./lab explain", in_a_sentence=True),
        Command("page.md", 4, ART, ART, in_a_sentence=True),
        Command("page.md", 7, "./lab demo", "./lab demo"),
        Command("page.md", 8, "./lab redecode RUN", "./lab redecode RUN"),
        Shown("page.md", 12, "fx2lafw:conn=1.12 - Saleae"),
        Command(
            "page.md",
            17,
            "sigrok-cli -i $RUN -P critical_section",
            f"{setup}sigrok-cli -i $RUN \\\n    -P critical_section",
        ),
        Command("page.md", 19, "python -c \" print('#')\"", f"{setup}python -c \"\nprint('#')\""),
    ]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("    ./lab list", []),
        ("    ./lab lst", ["page.md:1: ./lab lst"]),
        ("    ./lab explain", ["page.md:1: ./lab explain"]),
        ("`./lab explain` it", []),
        ("`./lab explian` it", ["page.md:1: ./lab explian"]),
        ("`./lab scenario mem_frag --art onn`", ["page.md:1: ./lab scenario mem_frag --art onn"]),
        ("    ./lab list\n    west build", ["page.md:2: west build"]),
    ],
)
def test_a_command_without_a_row_is_told_with_its_place(text: str, told: list[str]) -> None:
    commands = [one for one in pages.read("page.md", text) if isinstance(one, Command)]
    assert [sentence.splitlines()[0] for sentence in unknown(commands)] == told
