"""Standard input, output and error, whatever the shell made of them."""

from __future__ import annotations

import errno
import io
import os
import re
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import Any, NoReturn, TextIO

from base.files.printable import printable_lines
from base.files.whole import why

_PIPE_GONE_STATUS = 128 + 13
"""What a shell tells of a command that SIGPIPE ended: nobody reads on, as behind `head -1`."""


class OutputError(Exception):
    """Standard output cannot be written."""

    def __init__(self, cause: OSError) -> None:
        super().__init__(f"The output cannot be written: {why(cause)}.")
        self.exit_status = _PIPE_GONE_STATUS if cause.errno == errno.EPIPE else 1


def take_over() -> None:
    """From now on a print that fails raises OutputError, and words on stderr that fail are lost.

    A stream that is closed would else lend its number to the next file that is opened, and a
    child's words would end in it. It is led nowhere.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # it takes the least number that is free
            os.set_inheritable(number, True)
    sys.stdout = _stream(sys.stdout, 1, _complain)
    sys.stderr = _stream(sys.stderr, 2, lambda _: None)


def _complain(error: OSError) -> NoReturn:
    raise OutputError(error) from None


class _Guarded(io.FileIO):
    """A descriptor whose failed writes are told to `failed`, and then count as written."""

    def __init__(self, number: int, failed: Callable[[OSError], None]) -> None:
        super().__init__(number, "wb", closefd=False)
        self._failed = failed

    def write(self, data: Any, /) -> int:
        """All of `data`, or what the system took of it."""
        try:
            return super().write(data) or 0
        except OSError as error:
            self._failed(error)
            return len(data)


_OF_RICH = re.compile("(\x1b\\[[?0-9;]*[A-Za-z]|\r)")
"""What Rich has a terminal do: colours, and lines that are written anew."""


class _Shown(io.TextIOWrapper):
    """A stream of which nothing is hidden: whatever a name holds, a terminal is shown its letters.

    Colours reach a terminal, and nothing else does.
    """

    def write(self, text: str, /) -> int:
        """All of `text`, control characters as Python writes them."""
        if self.isatty():
            parts = _OF_RICH.split(text)
            parts[::2] = map(printable_lines, parts[::2])
            super().write("".join(parts))
        else:
            super().write(printable_lines(text))
        return len(text)


def _stream(before: TextIO | None, number: int, failed: Callable[[OSError], None]) -> TextIO:
    """What writes to `number` from now on, in the encoding of `before`;
    line by line on a terminal.
    """
    if before is not None:
        with suppress(OSError):
            before.flush()
    guarded = _Guarded(number, failed)
    return _Shown(
        io.BufferedWriter(guarded),
        encoding=before.encoding if before is not None else "utf-8",
        errors="backslashreplace",
        line_buffering=number == 2 or guarded.isatty(),
    )
