"""A stored run decoded again, offline: from edges.parquet, uart.log and operations.bin alone.

What only the bench knew (how many samples were asked, what the tools said, which firmware it was) is taken
from run.json. A folder of an interrupted run has none: then it is unknown, and the verdict says so.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from capture.files.errors import CaptureError
from capture.joining.evidence import Evidence, ToolReport, weigh
from capture.run_folder import folder as names
from capture.run_folder.edges import read_parquet
from capture.run_folder.folder import RunFolder
from capture.store import RunResult, keep_findings
from capture.summary.summary import SCHEMA, Setting
from scenarios import catalogue
from scenarios.errors import ImageError, ScenarioError
from scenarios.generators.generator import Step
from scenarios.operations import Image, Mark, body_crc32, decode
from scenarios.plan import Plan, table

_FOLDER_NAME = re.compile(r"\d{8}T\d{6}Z-(?P<scenario>.+)-(?P<allocator>[^-]+)-(?P<board>[^-]+?)(-\d+)?")

# What is taken over from run.json, and the type that each must have.
_NEEDED = {
    "allocator": str,
    "board": str,
    "analyzer": str,
    "asked_samples": int,
    "parameters": dict,
    "firmware": dict,
    "tools": dict,
    "tool_report": dict,
    "warnings": list,
}


def redecode(folder: Path) -> RunResult:
    """Decodes, joins and judges the run in `folder` again and replaces what was found in it.

    What was observed stays as it is. Raises CaptureError where a file is missing or damaged.
    """
    evidence, setting = reread(folder)
    return keep_findings(RunFolder(folder), evidence, setting)


def reread(folder: Path) -> tuple[Evidence, Setting]:
    """The evidence of a stored run and where it took place, without writing anything."""
    manifest = _manifest(folder)
    edges = read_parquet(folder / names.EDGES)
    plan = _plan(_bytes(folder / names.IMAGE), manifest)
    report = _tool_report(manifest, edges.total_samples)
    counts = _bytes(folder / names.COUNTS) if (folder / names.COUNTS).exists() else None
    evidence = weigh(plan, report, edges, _bytes(folder / names.SERIAL_LOG), counts)
    return evidence, _setting(folder, manifest)


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise CaptureError(
            f"{path} cannot be read ({error.strerror}); without it the run cannot be decoded."
        ) from None


def _manifest(folder: Path) -> dict[str, Any]:
    """The content of run.json; empty where the run was interrupted before it was written."""
    path = folder / names.MANIFEST
    if not path.exists():
        return {}
    try:
        content = json.loads(_bytes(path))
    except (ValueError, RecursionError):
        raise CaptureError(f"{path} is not JSON; remove it to decode the run without it.") from None
    if not isinstance(content, dict) or content.get("schema") != SCHEMA:
        raise CaptureError(f"{path} is not of schema {SCHEMA}, the only one this version reads.")
    missing = [key for key, kind in _NEEDED.items() if not isinstance(content.get(key), kind)]
    if missing:
        raise CaptureError(f"{path} lacks a usable {missing[0]!r}; remove it to decode the run without it.")
    return content


def _tool_report(manifest: dict[str, Any], total_samples: int) -> ToolReport:
    if not manifest:
        return ToolReport(
            total_samples,
            losses=("The run was interrupted before its end; what is known of it is incomplete.",),
        )
    report = manifest["tool_report"]
    return ToolReport(
        asked_samples=manifest["asked_samples"],
        interrupted=bool(report.get("interrupted")),
        losses=tuple(map(str, report.get("losses", ()))),
        oddities=tuple(map(str, report.get("oddities", ()))),
    )


def _setting(folder: Path, manifest: dict[str, Any]) -> Setting:
    if manifest:
        return Setting(
            allocator=manifest["allocator"],
            board=manifest["board"],
            analyzer=manifest["analyzer"],
            elf_sha256=str(manifest["firmware"].get("elf_sha256")),
            tools=manifest["tools"],
            warnings=manifest["warnings"],
            bounds=manifest.get("bounds") or {},
        )
    named = _FOLDER_NAME.fullmatch(folder.resolve().name)
    if named is None:
        raise CaptureError(
            f"{folder} has neither a run.json nor the name of a run folder; give a folder of runs/."
        )
    return Setting(named["allocator"], named["board"], analyzer="unknown", elf_sha256="unknown")


def _plan(image_bytes: bytes, manifest: dict[str, Any]) -> Plan:
    """The plan behind the image, where it can be compiled again; else what the image itself tells."""
    try:
        image = decode(image_bytes)
    except ImageError as error:
        raise CaptureError(f"{names.IMAGE} is damaged: {error}") from None
    compiled = _compiled_again(image, manifest)
    if compiled is not None and (plan := compiled.recorded_by(image.records)).image == image_bytes:
        return plan
    return Plan(
        name=image.name,
        parameters=manifest.get("parameters", {}),
        seed=manifest.get("seed"),
        stimulus=image.stimulus,
        labels=(),
        image=image_bytes,
        image_crc32=body_crc32(image_bytes),
        operations=table(_steps(image)),
        records=image.records,
    )


def _compiled_again(image: Image, manifest: dict[str, Any]) -> Plan | None:
    stimulus = image.stimulus
    try:
        return catalogue.load(
            image.name,
            manifest.get("parameters", {}),
            stimulus=str(stimulus),
        ).compile()
    except ScenarioError:
        return None


def _steps(image: Image) -> Iterator[Step]:
    """The operations of an image; labels are known by number only, trials and depths not at all."""
    label: str | None = None
    for operation in image.operations:
        if isinstance(operation, Mark):
            label = f"mark {operation.label}"
        else:
            yield Step(operation, label)
