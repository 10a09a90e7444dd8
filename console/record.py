"""`./lab record`: reads the options, and says on standard error what was recorded."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from console import options
from console.options import OptionError
from recording.process_file import MOST_OPERATIONS
from recording.record import record, sentences


def run(command: Sequence[str], *, output: str, every: bool = False, most: str = "") -> int:
    """Records what the words of the command line ask for, and returns the command's exit status.

    Raises TailscopeError.
    """
    if not command:
        raise OptionError("Say what to record, behind --: `./lab record -- COMMAND…`.")
    kept = options.whole("most", most) if most else MOST_OPERATIONS
    if kept > MOST_OPERATIONS:
        raise OptionError(f"--most {most}: a trace has {MOST_OPERATIONS:,} operations at most.")
    found = record(command, Path(output), every=every, most=kept)
    _tell(sentences(found))
    return found.exit_status


def _tell(said: Iterable[str]) -> None:
    for sentence in said:
        print(sentence, file=sys.stderr)
