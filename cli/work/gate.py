"""`./lab gate`: its options, and the files that it writes."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from analysis.compare.gate import baseline as files
from analysis.compare.gate import gate, limits, text, update
from analysis.compare.gate import text as gate_text
from analysis.compare.gate.baseline import Baseline
from analysis.errors import GateError
from base.files.documents import is_there
from base.files.whole import write_bytes


@dataclass(frozen=True)
class Done:
    """What is to be printed, and the exit status: 0 as good, 1 worse, 2 cannot say."""

    text: str
    exit_status: int = 0


def run(
    folders: Sequence[Path],
    *,
    baseline: Path | None = None,
    renew: bool = False,
    limit: Sequence[str] = (),
    named: int = gate.NAMED,
    as_json: bool = False,
    junit_file: Path | None = None,
    markdown_file: Path | None = None,
) -> Done:
    """Judges run folders, or with `renew` writes the baseline. Raises TailscopeError."""
    held_to = limits.parse_words(limit)
    if baseline is None and (renew or not held_to):
        raise GateError("Say what to judge by: --baseline FILE, or --limit allocate=10us.")
    if renew and baseline:
        if as_json or junit_file or markdown_file:
            raise GateError(
                "--update judges nothing, so there is nothing to write: leave out the other output."
            )
        return _renew(baseline, folders, held_to)
    for output in filter(None, (junit_file, markdown_file)):
        if baseline and output.resolve() == baseline.resolve():
            raise GateError(f"{output} is the baseline itself; give another file to write.")
    if junit_file and markdown_file and junit_file.resolve() == markdown_file.resolve():
        raise GateError(f"--junit and --markdown both name {junit_file}; give each a file of its own.")
    report = gate.judge(files.read(baseline) if baseline else None, folders, held_to, named)
    if junit_file:
        write_bytes(junit_file, gate_text.as_xml(report))
    if markdown_file:
        write_bytes(markdown_file, text.as_markdown(report).encode())
    told = json.dumps(text.as_json(report), indent=2) if as_json else text.as_text(report)
    return Done(told, report.exit_status)


def _renew(path: Path, runs: Sequence[Path], held_to: dict[str, str]) -> Done:
    there = is_there(path, GateError)
    before = files.read(path) if there else Baseline(path)
    new, sentences = update.updated(before, runs, held_to)
    content = files.as_text(new)
    if there and content == files.as_text(before):
        sentences.append(f"{path} is left as it was.")
    else:
        files.write(path, new)
        sentences.append(f"{path}: {len(new.entries):,} entries, {len(content.encode()):,} bytes.")
    return Done("\n".join(sentences))
