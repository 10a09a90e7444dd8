"""The tools that the bench calls, as cli/tools.tsv lists them."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from base.paths import ROOT

_FILE = ROOT / "cli/tools.tsv"


@dataclass(frozen=True)
class Tool:
    """One line of cli/tools.tsv.

    `command` is a name on the PATH, or the places of a file, which | separates: one must exist.
    `needed` is "always", "optional", "builds" for what compiles, or the words of a command line
    that need it, with commas: "test,desk".
    """

    command: str
    packages: str
    needed: str
    purpose: str

    @property
    def is_file(self) -> bool:
        return self.command.startswith("/")


@cache
def tools() -> tuple[Tool, ...]:
    """Every tool, in the order of the file."""
    lines = _FILE.read_text(encoding="utf-8").splitlines()
    return tuple(Tool(*line.split("\t")) for line in lines if line and not line.startswith("#"))


def is_installed(command: str) -> bool:
    """Whether the command is on the PATH, or one of the files exists."""
    if command.startswith("/"):
        return any(any(Path("/").glob(place[1:])) for place in command.split("|"))
    return shutil.which(command) is not None
