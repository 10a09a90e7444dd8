"""What a check of the desk finds, of devices, clips and captures alike; and a bring-up as far as it
went, for its page and its JSON; and what of it the owner of a board can send: page and last run,
without names and serial numbers (an ST-Link's has 24 digits, hexadecimal).
"""

from __future__ import annotations

import getpass
import os
import re
import shutil
import socket
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

State = Literal["right", "odd", "wrong", "skipped"]
ClipState = Literal["right", "noisy", "missing", "swapped", "shorted"]


@dataclass(frozen=True)
class Figure:
    """A value in its `unit`, `plus_minus` what it may be off, of `n` measured things.

    None for `plus_minus` or `n` is not known, or has no meaning.
    """

    name: str
    value: float | int | str
    unit: str = ""
    plus_minus: float | None = None
    n: int | None = None


@dataclass(frozen=True)
class ClippedInput:
    """An input, the channel whose pin it belongs on, and the channels whose pins it sees."""

    input: str
    channel: str
    state: ClipState
    sees: tuple[str, ...]


@dataclass(frozen=True)
class Finding:
    """One thing that is there or is missing, and what to do about it.

    `right` is as it should be, and what the bench takes. `odd` is worth knowing, and keeps nothing
    from running. After what is `wrong` nothing else would mean anything. `skipped` is not needed,
    or means nothing on this board.
    """

    subject: str
    state: State
    words: str
    remedies: tuple[str, ...] = ()
    figures: tuple[Figure, ...] = ()
    clips: tuple[ClippedInput, ...] = ()


SCHEMA = 2


@dataclass(frozen=True)
class Result:
    """What came of a check. `todo` are sentences on what to do."""

    key: str
    question: str
    state: State
    words: str
    todo: tuple[str, ...] = ()
    figures: tuple[Figure, ...] = ()
    clips: tuple[ClippedInput, ...] = ()


@dataclass(frozen=True)
class BringUp:
    """The results of the first of `planned` checks.

    `versions` are of the tools, `wiring` is the plan of the clips (capture/checks/wiring.py), and
    `runs` are the names of the folders of its runs.
    """

    board: str
    steps: Sequence[Result]
    planned: int
    versions: Mapping[str, str] = field(default_factory=dict)
    wiring: Sequence[Mapping[str, str]] = ()
    runs: Sequence[str] = ()
    analyzer: str = ""
    samplerate_hz: int = 0

    @property
    def stopped(self) -> Result | None:
        """The check that it stopped at."""
        return next((result for result in self.steps if result.state == "wrong"), None)

    @property
    def whole(self) -> bool:
        """Whether it came to its end."""
        return self.stopped is None and len(self.steps) == self.planned

    @property
    def verdict(self) -> str:
        """What came of it, in a sentence."""
        if not self.whole:
            at = f", {self.stopped.key}: {self.stopped.words}" if self.stopped else "."
            return f"The bring-up of {self.board} stopped at step {len(self.steps)} of {self.planned}{at}"
        odd = [result.key for result in self.steps if result.state == "odd"]
        seen_to = f"; look at {', '.join(odd)}" if odd else ""
        return f"The board {self.board} measures, and its numbers may be believed{seen_to}."

    def as_json(self) -> dict[str, Any]:
        """The content of the JSON file (docs/reference/first-run.md)."""
        return {"schema": SCHEMA, "verdict": self.verdict, "whole": self.whole, **asdict(self)}


HIDDEN = b"(hidden)"
LEAST_CHARACTERS = 4
"""A shorter name would be found where it is none."""
NOBODYS = {"root", "localhost", "/root"}


def make_parcel(page: Path, run: Path | None, names: Sequence[str] = ()) -> Path:
    """The folder beside `page` with page, JSON and the files of `run`, each name hidden.

    `names` are hidden beside those of the user, the host and the home folder. A file that is no
    text and has one is left out. Raises OSError.
    """
    folder = page.with_suffix("")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    here = {str(Path.home()), socket.gethostname(), os.environ.get("USER", "")}
    with suppress(KeyError, OSError):
        here.add(getpass.getuser())
    every = sorted({*names, *(here - NOBODYS)}, key=len, reverse=True)
    hidden = [
        rb"(?<!\w)" + re.escape(name.encode()) + rb"(?!\w)" for name in every if len(name) >= LEAST_CHARACTERS
    ]
    pattern = re.compile(b"|".join([*hidden, rb"\b[0-9A-F]{24}\b"]))
    for file in [page, page.with_suffix(".json"), *(sorted(run.iterdir()) if run else ())]:
        if file.is_file():
            content = file.read_bytes()
            cleaned = pattern.sub(HIDDEN, content)
            with suppress(UnicodeDecodeError):
                if cleaned == content or "\0" not in content.decode("utf-8"):
                    (folder / file.name).write_bytes(cleaned)
    return folder
