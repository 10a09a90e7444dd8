"""The bench as a process of its own: how it is started, and what it answers."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from tailscope._errors import Error

if TYPE_CHECKING:
    from base.files.printable import printable_values
else:
    from tailscope._program.base.files.printable import printable_values

Document: TypeAlias = dict[str, Any]
"""The JSON that a command prints."""
FilePath: TypeAlias = str | os.PathLike[str]

__tracebackhide__ = True  # pytest shows the line of the test

_WITH_DOCUMENT = (0, 1, 2)
"""All came out; not all, or worse than the baseline; that cannot be said."""
_STOPPED_WITHIN_S = 30.0


def command() -> list[str]:
    """What starts the program; the words of a command come behind it.

    `-P` keeps the working directory out of its imports: a project may have folders of any name.
    """
    return [sys.executable, "-P", "-m", "cli" if _checkout() else "tailscope"]


def ask(*words: str) -> Document:
    """Runs a command with `--json`, and returns the document that it prints.

    Raises Error, with the program's sentence and exit status, where it has none.
    """
    status, output, said = _run([*command(), *words])
    if status not in _WITH_DOCUMENT or not output.strip():
        raise Error(_sentence(said, status), status)
    document: Document = printable_values(json.loads(output))
    return document


def options(**chosen: object) -> list[str]:
    """The words of options, from Python's names for them: what is None or False is left out, True
    is an option without a value, and of a list each is given.
    """
    words = []
    for name, value in chosen.items():
        option = f"--{name.replace('_', '-')}"
        if value is True:
            words.append(option)
        elif isinstance(value, list | tuple):
            words += [f"{option}={item}" for item in value]
        elif value is not None and value is not False:
            words.append(f"{option}={value}")
    return words


def _checkout() -> Path | None:
    """The folder of the sources; None where the package is installed."""
    folder = Path(__file__).resolve().parents[1]
    return folder if (folder / "lab").is_file() else None


def _run(line: Sequence[str]) -> tuple[int, str, str]:
    """The exit status, and what was written to standard output and standard error.

    If this process is stopped meanwhile, the program stores what it has, and then it goes on.
    """
    environment, checkout = dict(os.environ), _checkout()
    if checkout:
        paths = [str(checkout), *filter(None, [os.environ.get("PYTHONPATH")])]
        environment["PYTHONPATH"] = os.pathsep.join(paths)
    try:
        process = subprocess.Popen(
            line,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
            env=environment,
        )
    except (OSError, ValueError) as error:
        raise Error(f"The bench cannot be started: {error}.") from None
    with process:
        try:
            output, said = process.communicate()
        except BaseException:
            process.terminate()
            try:
                process.communicate(timeout=_STOPPED_WITHIN_S)
            except subprocess.TimeoutExpired:
                process.kill()
            raise
    return process.returncode, output, said


def _sentence(said: str, status: int) -> str:
    """The last line of standard error: what comes before tells how far the program was."""
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    if not lines:
        return f"The bench ended with status {status} and said nothing."
    if any(line.startswith("Traceback (") for line in lines):
        return f"The bench ended unexpectedly, with status {status}: {lines[-1]}"
    return lines[-1]
