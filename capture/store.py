"""What a run leaves in its folder: first what was observed, then what was found in it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from capture.joining.evidence import Evidence
from capture.plan_file import write_plan
from capture.run_folder import folder as names
from capture.run_folder.edges import EdgeList
from capture.run_folder.folder import RunFolder
from capture.run_folder.manifest import Manifest, Verdict
from capture.run_folder.session_file import write_sr
from capture.run_folder.tables import write_table
from capture.summary.summary import Setting, summarise_run
from scenarios.plan import Plan


@dataclass(frozen=True)
class RunResult:
    """A finished run: its folder, its verdict and one sentence per reason; `interrupted` by Ctrl-C or not."""

    folder: Path
    verdict: Verdict
    reasons: tuple[str, ...]
    interrupted: bool = False


def store_observation(
    folder: RunFolder, plan: Plan, edges: EdgeList, serial_bytes: bytes, counts: bytes | None = None
) -> None:
    """Writes what cannot be had again: records, edges, image and plan, what the virtual board counted, and
    the session for PulseView.
    """
    folder.write_bytes(names.SERIAL_LOG, serial_bytes)
    folder.write(names.EDGES, edges.write_parquet)
    folder.write_bytes(names.IMAGE, plan.image)
    folder.write(names.PLAN, lambda path: write_plan(path, plan))
    if counts is not None:
        folder.write_bytes(names.COUNTS, counts)
    folder.write(names.SESSION, lambda path: write_sr(path, edges))


def store_findings(folder: RunFolder, evidence: Evidence, setting: Setting) -> RunResult:
    """Writes the tables and, last of all, run.json."""
    manifest = summarise_run(evidence, setting)
    folder.write(names.OPERATIONS, _writer(evidence.joined.operations))
    folder.write(names.INTERRUPTS, _writer(evidence.joined.interrupts))
    folder.write_json(names.MANIFEST, manifest.as_json())
    return _result(folder, manifest)


def _writer(table: pl.DataFrame) -> Callable[[Path], None]:
    return lambda path: write_table(path, table)


def _result(folder: RunFolder, manifest: Manifest) -> RunResult:
    return RunResult(folder.path, manifest.verdict, tuple(manifest.reasons), manifest.tool_report.interrupted)
