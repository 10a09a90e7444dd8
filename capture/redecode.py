"""A stored run decoded again, offline: from the observation in its folder alone.

What only the bench knew (how many samples were asked, what the tools said, which firmware it was) is taken
from run.json. A folder of an interrupted run has none: then it is unknown, and the verdict says so.
"""

from __future__ import annotations

import re
from pathlib import Path

from capture.files.errors import CaptureError
from capture.joining.evidence import Evidence, decode
from capture.plan_file import decode_image, read_plan
from capture.run_folder import folder as names
from capture.run_folder.edges import EdgeList, read_parquet
from capture.run_folder.folder import RunFolder
from capture.run_folder.manifest import Origin, ToolReport, read_origin
from capture.run_folder.session_file import read_sr
from capture.store import RunResult, store_findings
from capture.summary.summary import Setting
from scenarios import catalogue
from scenarios.errors import ScenarioError
from scenarios.plan import Plan

_FOLDER_NAME = re.compile(r"\d{8}T\d{6}Z-(?P<scenario>.+)-(?P<allocator>[^-]+)-(?P<board>[^-]+?)(-\d+)?")


def redecode(folder: Path) -> RunResult:
    """Decodes, joins and judges the run in `folder` again and replaces what was found in it.

    What was observed stays as it is. Raises TailscopeError where a file is missing or damaged.
    """
    evidence, setting = reread(folder)
    return store_findings(RunFolder(folder), evidence, setting)


def reread(folder: Path) -> tuple[Evidence, Setting]:
    """The evidence of a stored run and where it took place, without writing anything."""
    origin = read_origin(folder / names.MANIFEST) if (folder / names.MANIFEST).exists() else None
    edges = _edges(folder)
    plan = _plan(folder, origin)
    counts = _bytes(folder / names.COUNTS) if (folder / names.COUNTS).exists() else None
    report = origin.tool_report if origin else _interrupted(edges.total_samples)
    evidence = decode(plan, report, edges, _bytes(folder / names.SERIAL_LOG), counts)
    return evidence, _setting(folder, origin)


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise CaptureError(
            f"{path} cannot be read ({error.strerror}); without it the run cannot be decoded."
        ) from None


def _edges(folder: Path) -> EdgeList:
    """The capture; its copy for PulseView serves where the edge list is missing or damaged."""
    try:
        return read_parquet(folder / names.EDGES)
    except CaptureError:
        try:
            return read_sr(folder / names.SESSION)
        except CaptureError:
            pass
        raise


def _interrupted(total_samples: int) -> ToolReport:
    sentence = "The run was interrupted before its end; what is known of it is incomplete."
    return ToolReport(asked_samples=total_samples, losses=(sentence,))


def _setting(folder: Path, origin: Origin | None) -> Setting:
    if origin:
        return Setting(
            allocator=origin.allocator,
            board=origin.board,
            analyzer=origin.analyzer,
            elf_sha256=origin.firmware.elf_sha256,
            tools=origin.tools,
            bounds=origin.bounds,
        )
    named = _FOLDER_NAME.fullmatch(folder.resolve().name)
    if named is None:
        raise CaptureError(
            f"{folder} has neither a run.json nor the name of a run folder; give a folder of runs/."
        )
    return Setting(named["allocator"], named["board"], analyzer="unknown", elf_sha256="unknown")


def _plan(folder: Path, origin: Origin | None) -> Plan:
    """The plan as it was stored. Runs of before that are compiled again, if that gives the same image."""
    image_bytes = _bytes(folder / names.IMAGE)
    if (folder / names.PLAN).exists():
        return read_plan(folder / names.PLAN, image_bytes)
    image = decode_image(image_bytes)
    try:
        parameters = origin.parameters if origin else {}
        scenario = catalogue.load(image.name, parameters, stimulus=str(image.stimulus))
        plan = scenario.compile().recorded_by(image.records)
    except ScenarioError:
        plan = None
    if plan is None or plan.image != image_bytes:
        raise CaptureError(
            f"{folder / names.PLAN} is missing, and {image.name} does not compile to the same operations: "
            "its labels, trials and depths are not known; run the scenario again."
        )
    return plan
