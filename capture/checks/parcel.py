"""What the owner of a board can send: page and last run, without names and serial numbers."""

from __future__ import annotations

import getpass
import os
import re
import shutil
import socket
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path

HIDDEN = b"(hidden)"
LEAST_CHARACTERS = 4
"""A shorter name would be found where it is none."""
NOBODYS = {"root", "localhost", "/root"}
_SERIAL_NUMBER = re.compile(rb"\b[0-9A-F]{24}\b")
"""An ST-Link's has 24 digits (hexadecimal)."""


def make(page: Path, run: Path | None, names: Sequence[str] = ()) -> Path:
    """The folder beside `page` with page, JSON and the files of `run`, each name hidden.

    `names` are hidden beside those of the user, the host and the home folder. A file that is no
    text and has one is left out. Raises OSError.
    """
    folder = page.with_suffix("")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    hidden = [*_names_here(), *(name for name in names if len(name) >= LEAST_CHARACTERS)]
    for file in [page, page.with_suffix(".json"), *(sorted(run.iterdir()) if run else ())]:
        if file.is_file():
            content = file.read_bytes()
            cleaned = _cleaned(content, hidden)
            if cleaned == content or _is_text(content):
                (folder / file.name).write_bytes(cleaned)
    return folder


def _names_here() -> Iterable[str]:
    names = [str(Path.home()), socket.gethostname()]
    with suppress(KeyError, OSError):
        names.append(getpass.getuser())
    names.append(os.environ.get("USER", ""))
    named = {name for name in names if len(name) >= LEAST_CHARACTERS and name not in NOBODYS}
    return sorted(named, key=len, reverse=True)


def _cleaned(content: bytes, names: Iterable[str]) -> bytes:
    for name in names:
        content = re.sub(rb"(?<!\w)" + re.escape(name.encode()) + rb"(?!\w)", HIDDEN, content)
    return _SERIAL_NUMBER.sub(HIDDEN, content)


def _is_text(content: bytes) -> bool:
    try:
        content.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return b"\0" not in content
