"""A folder with all that a bound rests on, for who must defend or assess it.

Equal inputs, options and versions give equal bytes: no time and no name of a machine is in it.
"""

from __future__ import annotations

import hashlib
import json
import platform
from collections.abc import Iterator, Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field

from analysis.errors import NoBoundError
from analysis.program.bounds import text
from analysis.program.bounds.measure import BoundsReport, Explained
from base.files import results
from base.files.documents import Table, open_toml
from base.files.whole import read_bytes, write_all
from simulator import build as simulator

SCHEMA = 1
MANIFEST = "manifest.json"
_INPUTS = "inputs"
_MOST_BYTES = 1 << 30
_PRESUMED = Path(__file__).parent / "presumed.toml"
_LIBRARIES = ("capstone", "pyelftools")
"""The libraries that read the program."""
_FILES = ("--loops", "--kernel", "--chip")
"""Options that may name a file."""


class _Statement(Table):
    what: Annotated[str, Field(min_length=1)]
    page: Annotated[str, Field(min_length=1)]


class _File(Table):
    schema_: Literal[1]
    presumed: list[_Statement]
    unseen: list[_Statement]


def write(
    report: BoundsReport,
    explanation: Explained | None,
    folder: Path,
    *,
    typed: Mapping[str, object],
    tool: str,
    page: bytes,
) -> None:
    """Writes the folder, with the `page` beside the rest. `typed` are the options of the command
    that decide what comes out, by name; a file that one names is copied. `tool` is the program with
    its version. Raises NoBoundError as check(), and WriteError.
    """
    check(folder)
    options = {
        f"--{name}": ""
        if value is True
        else " ".join(map(str, value if isinstance(value, tuple) else [value]))
        for name, value in sorted(typed.items())
        if value not in ("", None, ()) and value is not False
    }
    inputs = {name: path for name in _FILES if (path := Path(options.get(name, ""))).is_file()}
    options |= {name: path.name for name, path in inputs.items()}
    files: dict[str, bytes] = {
        "bounds.json": _json({**text.as_json(report, explanation), "elf": report.subject.name}),
        "annotations.csv": _annotations(report),
        "presumed.md": "\n".join([*_presumed(report), ""]).encode(),
        **{f"{_INPUTS}/{name.strip('-')}/{path.name}": _content(path) for name, path in inputs.items()},
        "page.html": page,
    }
    simulated = simulator.build()
    files[MANIFEST] = _json(
        {
            "schema": SCHEMA,
            "tool": tool,
            "simulator": {"version": simulator.version(simulated), **_digest(_content(simulated))},
            "python": platform.python_version(),
            "libraries": {name: version(name) for name in _LIBRARIES},
            "options": options,
            "inputs": {
                option: {"name": path.name, **_digest(_content(path))}
                for option, path in {"ELF": report.subject.user.elf, **inputs}.items()
            },
            "sources": {
                name: _digest(_content(path))
                for name, path in sorted(report.subject.elf.source_files.items())
                if path.is_file()
            },
            "files": {name: _digest(content) for name, content in sorted(files.items())},
        }
    )
    write_all({folder / name: content for name, content in files.items()})
    for old in (folder / _INPUTS).rglob("*"):
        if old.is_file() and str(old.relative_to(folder)) not in files:
            old.unlink()


def check(folder: Path) -> None:
    """Raises NoBoundError if the folder holds other files, which would be taken for evidence."""
    try:
        there = {path.name for path in folder.iterdir()} if folder.is_dir() else set()
    except OSError as error:
        raise NoBoundError(f"--evidence {folder}: {error.strerror}.") from None
    if there and MANIFEST not in there:
        raise NoBoundError(f"--evidence {folder}: it holds other files; name a new or an empty folder.")


def _json(value: object) -> bytes:
    return (json.dumps(value, indent=2, ensure_ascii=False) + "\n").encode(errors="backslashreplace")


def _content(path: Path) -> bytes:
    try:
        return read_bytes(path, _MOST_BYTES)
    except OSError as error:
        raise NoBoundError(f"{path}: {error.strerror or error}.") from None


def _digest(content: bytes) -> dict[str, Any]:
    return {"sha256": hashlib.sha256(content).hexdigest(), "bytes": len(content)}


def _annotations(report: BoundsReport) -> bytes:
    """What somebody stated, with why; and what was taken from the source or the library."""
    notes = report.annotations.items()
    rows = ((*facts, "yes" if used else "no", why) for (*facts, why), used in notes)
    return results.text(("from", "kind", "function", "line", "says", "used", "why"), rows).encode()


def _presumed(report: BoundsReport) -> Iterator[str]:
    """The lines of a page."""
    file = open_toml(_PRESUMED, NoBoundError).check(_File)
    yield from ("# What the figures presume, and do not see", "", text.headline(report), "")
    yield text.presumes(report)
    for heading, statements in (("Presumed", file.presumed), ("Not seen", file.unseen)):
        yield from ("", f"## {heading}", "", *(f"- {statement.what}" for statement in statements))
    if report.endless:
        yield from ("", "## Held off for ever, without a figure", "")
        for section in report.endless:
            yield f"- {section.kind}, raised by {report.subject.elf.place(section.begin.address)}"
