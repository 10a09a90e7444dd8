"""A folder with all that a bound rests on, for who must defend or assess it.

Equal inputs, options and versions give equal bytes: no time and no name of a machine is in it.
"""

from __future__ import annotations

import hashlib
import json
import platform
from collections.abc import Iterable, Mapping, Sequence
from csv import writer as csv_writer
from importlib.metadata import version
from io import StringIO
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field

from analysis.errors import NoBoundError
from analysis.outcomes import read as read_outcome
from analysis.program.bounds import text
from analysis.program.bounds.explained import Explained
from analysis.program.bounds.measure import BoundsReport
from base.files.documents import Table, open_toml
from base.files.formats import cell
from base.files.whole import read_bytes, write_all
from simulator import build as simulator

SCHEMA = 1
MANIFEST = "manifest.json"
_INPUTS = "inputs"
_MOST_BYTES = 1 << 30
_PRESUMED = Path(__file__).parent / "presumed.toml"
_LIBRARIES = ("capstone", "pyelftools")
"""The libraries that read the program."""
TESTS = (
    ("tests/test_bounds.py", "small programs, each with a bound or a sentence why not"),
    ("tests/test_bounded_programs.py", "programs with locks of many kinds, and random ones, run to find one"),
    ("analysis/bounds/tests/test_longest.py", "the longest path, against all paths tried one by one"),
)
"""What in the sources of the bench holds bounds against runs, or the method against a slow twin."""
_OUTCOMES = "outcomes"
_FILES = ("--loops", "--kernel", "--chip")
"""Options that may name a file."""


class _Statement(Table):
    what: Annotated[str, Field(min_length=1)]
    page: Annotated[str, Field(min_length=1)]


class _File(Table):
    schema_: Annotated[Literal[1], Field(alias="schema")]
    presumed: list[_Statement]
    unseen: list[_Statement]


def write(
    report: BoundsReport,
    explanation: Explained | None,
    folder: Path,
    *,
    typed: Mapping[str, object],
    tool: str,
    outcomes: Sequence[Path],
    page: bytes,
) -> None:
    """Writes the folder, with the `page` beside the rest. `typed` are the options of the command
    that decide what comes out, by name; a file that one names is copied. `tool` is the program with
    its version. `outcomes` are files of what trials of the bench itself found
    (analysis/outcomes.py). Raises NoBoundError as check(), and WriteError.
    """
    check(folder)
    given = {
        f"--{name}": value
        for name, value in sorted(typed.items())
        if value not in ("", None, ()) and value is not False
    }
    paths = {name: Path(str(given[name])) for name in _FILES if name in given}
    inputs = {name: path for name, path in paths.items() if path.is_file()}
    options = {name: "" if value is True else _words(value) for name, value in given.items()}
    options |= {name: path.name for name, path in inputs.items()}
    tried = [(read_outcome(path, NoBoundError), path) for path in outcomes]
    files: dict[str, bytes] = {
        "bounds.json": _json({**text.as_json(report, explanation), "elf": report.subject.name}),
        "bounds.txt": f"{text.as_text(report, True, explanation)}\n".encode(),
        "measured.csv": _measured(report),
        "annotations.csv": _annotations(report),
        "presumed.md": _presumed(report).encode(),
        **{f"{_INPUTS}/{name.strip('-')}/{path.name}": _content(path) for name, path in inputs.items()},
        **{f"{_OUTCOMES}/{outcome.of}.json": _content(path) for outcome, path in tried},
        "page.html": page,
    }
    says = {f"{_OUTCOMES}/{outcome.of}.json": outcome.says for outcome, _ in tried}
    files["README.md"] = _readme(report, tool, options, files, says).encode()
    simulated = simulator.build()
    manifest = {
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
    files[MANIFEST] = _json(manifest)
    write_all({folder / name: content for name, content in files.items()})
    for old in (*(folder / _INPUTS).rglob("*"), *(folder / _OUTCOMES).rglob("*")):
        if old.is_file() and str(old.relative_to(folder)) not in files:
            old.unlink()


def _words(value: object) -> str:
    """An option's value; of one that may be repeated, all of them."""
    return " ".join(map(str, value)) if isinstance(value, tuple) else str(value)


def check(folder: Path, outcomes: Sequence[Path] = ()) -> None:
    """Raises NoBoundError if the folder holds other files, which would be taken for evidence; and
    for a file that is no outcome of a trial, or one of other sources.
    """
    for path in outcomes:
        read_outcome(path, NoBoundError)
    try:
        there = {path.name for path in folder.iterdir()} if folder.is_dir() else set()
    except OSError as error:
        raise NoBoundError(f"--evidence {folder}: {error.strerror}.") from None
    if there and MANIFEST not in there:
        raise NoBoundError(f"--evidence {folder}: it holds other files; name a new or an empty folder.")


def _json(value: object) -> bytes:
    return (json.dumps(value, indent=2, ensure_ascii=False) + "\n").encode()


def _content(path: Path) -> bytes:
    try:
        return read_bytes(path, _MOST_BYTES)
    except OSError as error:
        raise NoBoundError(f"{path}: {error.strerror or error}.") from None


def _digest(content: bytes) -> dict[str, Any]:
    return {"sha256": hashlib.sha256(content).hexdigest(), "bytes": len(content)}


def _table(rows: Iterable[Sequence[object]]) -> bytes:
    file = StringIO()
    csv_writer(file, lineterminator="\n").writerows(rows)
    return file.getvalue().encode()


def _measured(report: BoundsReport) -> bytes:
    """Each bound beside what the run saw."""
    rows: list[Sequence[object]] = [
        (
            *("kind", "level", "function", "begin", "caller", "what", "cycles"),
            *("seen_cycles", "slack_cycles", "seen_share", "count", "why_not"),
        )
    ]
    for row in report.all:
        slack, share = None, ""
        if row.cycles and row.seen is not None:
            slack, share = row.cycles - row.seen, f"{row.seen / row.cycles:.4f}"
        what = "none" if row.cycles is None else "estimate" if row.presumed else "bound"
        places = (str(row.begin), str(row.caller or ""))
        figures = (row.cycles, row.seen, slack, share, row.count)
        rows.append((row.kind, row.level, row.function, *places, what, *figures, " ".join(row.why_not)))
    return _table(rows)


def _annotations(report: BoundsReport) -> bytes:
    """What somebody stated, with why; and what was taken from the source or the library."""
    rows: list[Sequence[object]] = [("from", "kind", "function", "line", "says", "used", "why")]
    for note in report.annotations:
        used = "yes" if note.used else "no"
        rows.append((note.source, note.kind, note.function, note.line, note.says, used, note.why))
    for loop in report.counted:
        why = f"seen {loop.passes} in a row, times {report.margin:g}: an estimate"
        says = f"at most {loop.taken} passes"
        rows.append(("the run", "loop", loop.function, loop.place, says, "yes", why))
    return _table(rows)


def _presumed(report: BoundsReport) -> str:
    file = open_toml(_PRESUMED, NoBoundError).check(_File)
    lines = [
        "# What the figures presume, and do not see",
        "",
        text.presumes(report),
        "",
        "## Presumed",
        "",
        *(f"- {statement.what}" for statement in file.presumed),
        "",
        "## Not seen",
        "",
        *(f"- {statement.what}" for statement in file.unseen),
    ]
    if report.estimates:
        lines += ["", "## Estimates", ""]
        lines += [f"- {row} is no bound. {' '.join(row.presumed)}" for row in report.estimates]
    if report.endless:
        lines += ["", "## Held off for ever, without a figure", ""]
        lines += [
            f"- {section.kind}, raised by {report.subject.elf.place(section.begin.address)}"
            for section in report.endless
        ]
    return "\n".join(lines) + "\n"


_ANSWERS: Mapping[str, str] = {
    "manifest.json": "Of which program, with which options, tool and libraries? Are the files whole?",
    "bounds.json": "What are the figures? Which loops and calls stop the others?",
    "bounds.txt": "The same to read.",
    "page.html": "The same to look at, with the longest path by calls and lines.",
    "measured.csv": "What did a run see beside each bound?",
    "annotations.csv": "What did somebody state that the code does not tell, and why is it true?",
    "presumed.md": "What must be so for the figures to hold? What do they leave out?",
}


def _readme(
    report: BoundsReport,
    tool: str,
    options: Mapping[str, str],
    files: Iterable[str],
    outcomes: Mapping[str, str],
) -> str:
    words = " ".join(f"{name} {value}".strip() for name, value in options.items())
    seen = [section for section in report.all if section.cycles is not None and section.seen is not None]
    without = sum(section.cycles is None for section in report.all)
    # What was tried with these very sources of the bench; or how to try it.
    trials = ["No trial of the method came with it: `lab dev soundness --json` makes one for --outcome."]
    if outcomes:
        trials = ["With the sources that made this folder:", ""]
        trials += [f"- {name}: {says}" for name, says in outcomes.items()]
    lines = [
        f"# Evidence for {cell(report.subject.name)}",
        "",
        cell(text.headline(report)),
        "",
        "| file | the question that it answers |",
        "|---|---|",
        *(f"| {name} | {answer} |" for name, answer in _ANSWERS.items()),
        *(f"| {name} | a file that was given, as it was |" for name in sorted({*files} - {*_ANSWERS})),
        "",
        f"Made by {cell(tool)}: `bounds {report.subject.name} {words}`.",
        "",
        "## Held against the run",
        "",
        f"{len(seen)} of {len(report.all)} sections and handlers have a figure and ran by themselves. Of",
        f"these {len(report.violations)} took longer. {_many(without)} no figure, and "
        f"{_many(len(report.estimates))} an estimate only.",
        "",
        "## Tests of the method",
        "",
        *trials,
        "",
        "These tests lie in the sources of the bench. They were not run for this folder: run them at the",
        "version of the manifest.",
        "",
        *(f"- `{name}`: {what}" for name, what in TESTS),
        "",
        "The bench is not qualified for any standard. docs/how-to/bounds.md says what remains to do.",
    ]
    return "\n".join(lines) + "\n"


def _many(count: int) -> str:
    return f"{count} {'has' if count == 1 else 'have'}"
