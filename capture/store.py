"""What a run leaves in its folder: first what was observed, then what was found in it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from capture.joining.evidence import Evidence
from capture.run_folder import folder as names
from capture.run_folder.edges import EdgeList
from capture.run_folder.folder import RunFolder
from capture.run_folder.session_file import write_sr
from capture.summary.summary import Setting, summarise_run
from capture.verdict.verdict import Verdict


@dataclass(frozen=True)
class RunResult:
    """A finished run: its folder, its verdict and one sentence per reason; `interrupted` by Ctrl-C or not."""

    folder: Path
    verdict: Verdict
    reasons: tuple[str, ...]
    interrupted: bool = False


def keep_observation(
    folder: RunFolder, image: bytes, edges: EdgeList, serial_bytes: bytes, counts: bytes | None = None
) -> None:
    """Writes what cannot be had again: records, edges, the image, what the virtual board counted, and the
    session for PulseView.
    """
    folder.write_bytes(names.SERIAL_LOG, serial_bytes)
    folder.write(names.EDGES, edges.write_parquet)
    folder.write_bytes(names.IMAGE, image)
    if counts is not None:
        folder.write_bytes(names.COUNTS, counts)
    folder.write(names.SESSION, lambda path: write_sr(path, edges))


def keep_findings(folder: RunFolder, evidence: Evidence, setting: Setting) -> RunResult:
    """Writes the tables and, last of all, run.json."""
    manifest = summarise_run(evidence, setting)
    folder.write(names.OPERATIONS, _parquet(evidence.joined.operations))
    folder.write(names.INTERRUPTS, _parquet(evidence.joined.interrupts))
    folder.write_json(names.MANIFEST, manifest)
    return _result(folder, manifest)


def _parquet(table: pl.DataFrame) -> Any:
    """A writer whose bytes depend on the table alone."""
    return lambda path: table.write_parquet(path, compression="zstd", compression_level=3)


def _result(folder: RunFolder, manifest: dict[str, Any]) -> RunResult:
    interrupted = bool(manifest["tool_report"]["interrupted"])
    return RunResult(folder.path, manifest["verdict"], tuple(manifest["reasons"]), interrupted)
