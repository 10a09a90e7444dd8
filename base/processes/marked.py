"""Finds processes that somebody started by a mark that they inherit: a word of the environment."""

from __future__ import annotations

import os
from pathlib import Path


def marked(word: str) -> tuple[str, ...]:
    """The command lines of all other live processes with `word`, NAME=VALUE, in the environment."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        if process.name == str(os.getpid()):
            continue
        try:
            if word.encode() in (process / "environ").read_bytes().split(b"\0"):
                found.append((process / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace"))
        except OSError:
            continue  # it has ended, or is another user's
    return tuple(found)
