"""The commands that the project's Markdown pages tell a reader to type."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from textwrap import dedent

from markdown_it import MarkdownIt

from base.paths import ROOT

HISTORY = "CHANGELOG.md"
"""It tells of commands as they were, which need not be there any more."""
_NOT_OURS = {"build", "runs", "target", "node_modules"}

PROGRAMS = {
    "arm-none-eabi-addr2line",
    "arm-none-eabi-gcc",
    "cargo",
    "cmake",
    "ctest",
    "fuzz_operations",
    "gdb-multiarch",
    "git",
    "lab",
    "mkdir",
    "pip",
    "pre-commit",
    "pulseview",
    "pyocd",
    "pytest",
    "python",
    "python3",
    "replay",
    "sigrok-cli",
    "virtual-nucleo",
}
"""What a command begins with, wherever the program lies."""

_NAME = r"[A-Za-z_]\w*"
_ASSIGNMENT = re.compile(rf"(export )?{_NAME}=(\"[^\"]*\"|\S*)")
_COMMENT = re.compile(r"(^|\s+)#\s.*$", re.MULTILINE)
_RUN_FOLDER = re.compile(r"runs/(…|<run folder>)|(?<![$\w])RUN(?![=\w])")
_PARSER = MarkdownIt("commonmark").enable("table")


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

    def __str__(self) -> str:
        return f"{self.page}:{self.line}: {self.text}"


@dataclass(frozen=True)
class Shown:
    """A block of code without any command: a file, a picture, an
    output. `text` is its first line.
    """

    page: str
    line: int
    text: str

    def __str__(self) -> str:
        return f"{self.page}:{self.line}: {self.text}"


def pages() -> Iterator[Path]:
    """Every page of the project but its history."""
    for folder, folders, files in os.walk(ROOT):
        folders[:] = sorted(name for name in folders if name not in _NOT_OURS and not name.startswith("."))
        yield from (Path(folder, name) for name in sorted(files) if name.endswith(".md") and name != HISTORY)


def read(page: str, text: str) -> Iterator[Command | Shown]:
    """What the blocks of code of a page say, and the commands in its
    sentences, from top to bottom.
    """
    for token in _PARSER.parse(text):
        first = 1 + (token.map or [0])[0]
        if token.type == "code_block":
            yield from _of_block(page, first, token.content)
        elif token.type == "fence":
            yield from _of_block(page, first + 1, token.content)
        elif token.type == "inline":
            for child in token.children or []:
                if child.type == "code_inline" and _is_command_in_a_sentence(child.content):
                    yield Command(page, first, _one_line(child.content), _with_run(child.content), True)


def _of_block(page: str, first: int, block: str) -> Iterator[Command | Shown]:
    """A block in which anything is a command has nothing but commands and assignments."""
    lines = list(_logical_lines(_COMMENT.sub("", dedent(block))))
    if not any(_program(text) in PROGRAMS for _, text in lines):
        yield Shown(page, first, block.splitlines()[0].strip())
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
    begun = 0
    text = ""
    for number, line in enumerate(block.splitlines()):
        if text and (text.endswith("\\") or _has_open_quote(text) or line.startswith(" ")):
            text += f"\n{line}"
            continue
        if text:
            yield begun, text
        begun, text = number, line.rstrip()
    if text:
        yield begun, text


def _has_open_quote(text: str) -> bool:
    return text.count('"') % 2 == 1 or text.count("'") % 2 == 1


def _is_command_in_a_sentence(code: str) -> bool:
    """`cargo` alone is the name of a program; `./lab` alone is a command."""
    return _program(code) in PROGRAMS and (" " in code or code == "./lab")


def _program(text: str) -> str:
    """The name of what a line starts, without its folder; "" if that is nothing."""
    words = [word for word in text.split() if not re.match(rf"{_NAME}=", word)]
    if words[:1] == ["cd"] and "&&" in words:
        words = words[words.index("&&") + 1 :]
    return words[0].rpartition("/")[2] if words else ""


def _one_line(text: str) -> str:
    return " ".join(_with_run(text).replace("\\\n", " ").split())


def _with_run(text: str) -> str:
    return _RUN_FOLDER.sub("RUN", text)
