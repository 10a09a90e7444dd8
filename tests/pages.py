"""The commands that the project's Markdown pages tell a reader to type, and how each is tried.

A command in a block of code is run as it stands. A comment before the block says otherwise:

    <!-- run: in=FOLDER with="MORE WORDS" as="OTHER WORDS" status=1 says="REGULAR EXPRESSION" -->
    <!-- elsewhere: tests/test_desk.py::test_name -->      that test runs it
    <!-- parsed: needs a board -->                         only its words and options are checked

`<!-- parsed (--board nucleo): needs a board -->` is for every command of the page that contains
these words. A marker counts in all pages that have the same command.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from textwrap import dedent

from markdown_it import MarkdownIt
from markdown_it.token import Token

from base.paths import ROOT

HISTORY = "CHANGELOG.md"
"""It tells of commands as they were, which need not be there any more."""
_NOT_OURS = {"build", "runs", "target", "node_modules"}

SAFE = {"arm-none-eabi-gcc", "cmake", "lab", "pyocd", "python", "python3", "sigrok-cli", "virtual-nucleo"}
"""Programs that may be run without a marker: they leave the machine as it is."""
_OTHERS = {
    *("arm-none-eabi-addr2line", "cargo", "ctest", "gdb-multiarch", "git", "invoke"),
    *("mkdir", "mkdocs", "pip", "pre-commit", "pulseview", "pytest", "tailscope"),
}
PROGRAMS = SAFE | _OTHERS
"""What a command begins with, wherever the program lies."""

_MARKER = re.compile(
    r"<!--\s*(?P<kind>run|elsewhere|parsed)\b(?:\s*\((?P<words>.*?)\))?(?::\s*(?P<detail>.*?))?\s*-->",
    re.DOTALL,
)
_LEFT_OUT = re.compile(r"[…<]|[ \[]\[")
_STANDS_FOR_OTHERS = re.compile(r"(?<![\w=.,:/$-])(?!RUN\b)[A-Z]+\b(?![=\w])")
_NAME = r"[A-Za-z_]\w*"
_ASSIGNMENT = re.compile(rf"(export )?{_NAME}=(\"[^\"]*\"|\S*)")
_COMMENT = re.compile(r"(^|\s+)#\s.*$", re.MULTILINE)
_RUN_FOLDER = re.compile(r"runs/(…|<run folder>)|(?<![$\w])RUN(?![=\w])")
_PARSER = MarkdownIt("commonmark").enable("table")


@dataclass(frozen=True)
class Marker:
    """How commands are tried. `words` choose them; without any, it is for the next block."""

    kind: str = ""
    words: str = ""
    detail: str = ""

    @property
    def settings(self) -> dict[str, str]:
        """Of a marker `run`: what is other than usual."""
        return dict(word.split("=", 1) for word in shlex.split(self.detail)) if self.kind == "run" else {}


@dataclass(frozen=True)
class Command:
    """`text` is the command in one line, with RUN for any run folder. `script` is what a shell is
    given: the assignments before the command in its block, and the command as it stands in the
    page. In a sentence, `line` is where the paragraph begins.
    """

    page: str
    line: int
    text: str
    script: str
    in_a_sentence: bool = False
    marker: Marker = field(default=Marker(), compare=False)

    def __str__(self) -> str:
        return f"{self.page}:{self.line}: {self.text}"

    @property
    def kind(self) -> str:
        """run, elsewhere, parsed; mentioned: in a sentence, without a marker."""
        if self.marker.kind:
            return self.marker.kind
        if is_general(self.text):
            return "parsed"
        return "mentioned" if self.in_a_sentence else "run"


def pages() -> Iterator[Path]:
    """Every page of the project but its history."""
    for folder, folders, files in os.walk(ROOT):
        folders[:] = sorted(name for name in folders if name not in _NOT_OURS and not name.startswith("."))
        yield from (Path(folder, name) for name in sorted(files) if name.endswith(".md") and name != HISTORY)


def read(page: str, text: str) -> Iterator[Command]:
    """The commands in the blocks of code and in the sentences of a page, from top to bottom."""
    tokens = _PARSER.parse(text)
    markers = [marker for token in tokens if token.type == "html_block" for marker in _markers(token.content)]
    chosen = sorted((marker for marker in markers if marker.words), key=lambda marker: -len(marker.words))
    for command in _commands(page, tokens):
        of_the_page = next((marker for marker in chosen if marker.words in command.text), Marker())
        yield command if command.marker.kind else replace(command, marker=of_the_page)


def program(text: str) -> str:
    """The name of what a line starts, without its folder; "" if that is nothing."""
    words = [word for word in text.split() if not re.match(rf"{_NAME}=", word)]
    if words[:1] == ["$run"]:
        return "virtual-nucleo"
    if words[:1] == ["cd"] and "&&" in words:
        words = words[words.index("&&") + 1 :]
    return words[0].rpartition("/")[2] if words else ""


def is_general(text: str) -> bool:
    """Whether a command is shown in its general form, with words that stand for others."""
    name = program(text)
    if name == "lab" and _STANDS_FOR_OTHERS.search(text):
        return True
    return name in ("lab", "virtual-nucleo") and bool(_LEFT_OUT.search(text))


def _markers(text: str) -> list[Marker]:
    return [Marker(**match.groupdict(default="")) for match in _MARKER.finditer(text)]


def _commands(page: str, tokens: list[Token]) -> Iterator[Command]:
    marker = Marker()
    for token in tokens:
        first = 1 + (token.map or [0])[0]
        if token.type == "html_block":
            marker = next((marker for marker in _markers(token.content) if not marker.words), marker)
        elif token.type in ("code_block", "fence"):
            first += token.type == "fence"
            yield from (replace(command, marker=marker) for command in _of_block(page, first, token.content))
            marker = Marker()
        elif token.type == "inline":
            for child in token.children or []:
                if child.type == "code_inline" and _is_command_in_a_sentence(child.content):
                    text, script = _one_line(child.content), _with_run(child.content)
                    yield Command(page, first, text, script, in_a_sentence=True, marker=marker)
            marker = Marker()


def _of_block(page: str, first: int, block: str) -> Iterator[Command]:
    """A block in which anything is a command has nothing but commands and assignments."""
    lines = list(_logical_lines(_COMMENT.sub("", dedent(block))))
    if not any(program(text) in PROGRAMS or text.startswith(("./", ".venv/")) for _, text in lines):
        return
    setup: list[str] = []
    for offset, text in ((offset, _with_run(text)) for offset, text in lines):
        if _ASSIGNMENT.fullmatch(text):
            setup.append(text)
        else:
            yield Command(page, first + offset, _one_line(text), "\n".join([*setup, text]))


def _logical_lines(block: str) -> Iterator[tuple[int, str]]:
    """Number of the first line, and text, of each command. One goes on behind a backslash, within
    quotes, and in lines that are indented.
    """
    start = 0
    text = ""
    for number, line in enumerate(block.splitlines()):
        if text and (text.endswith("\\") or _has_open_quote(text) or line.startswith(" ")):
            text += f"\n{line}"
            continue
        if text:
            yield start, text
        start, text = number, line.rstrip()
    if text:
        yield start, text


def _has_open_quote(text: str) -> bool:
    return text.count('"') % 2 == 1 or text.count("'") % 2 == 1


def _is_command_in_a_sentence(code: str) -> bool:
    """`cargo` alone is the name of a program; `./lab` alone is a command."""
    return program(code) in PROGRAMS and (" " in code or code == "./lab")


def _one_line(text: str) -> str:
    return " ".join(_with_run(text).replace("\\\n", " ").split())


def _with_run(text: str) -> str:
    return _RUN_FOLDER.sub("RUN", text)
