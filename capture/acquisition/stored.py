"""A stored run, read again from what was observed and kept in its folder.

run.json adds what only the bench knew: how many samples were asked for, what the tools said, which
firmware it was. The folder of a run that was killed has no run.json. Then this is unknown, and the
verdict says so: it cannot be complete, since the tools may have said that they lost something, and
it is truncated only where something is seen to be missing. Where the run was killed while it was
captured, the edges are in edges.stream, which says how many samples were asked for.

plan.parquet has what the scenario knew of the operations, and their image does not carry: with it a
run is decoded again as it was decoded first, whatever has become of its scenario since
(docs/reference/operations.md).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Literal

import polars as pl

from base.files.documents import Table
from base.files.errors import CaptureError, RunError
from base.run_folder import folder as names
from base.run_folder.edge_stream import read_stream
from base.run_folder.edges import NS_PER_S, EdgeList, read_parquet
from base.run_folder.folder import RunName, read_observed
from base.run_folder.kept import read_kept
from base.run_folder.manifest import AskedFirmware, ToolReport, check_has_operations, read_origin
from base.run_folder.observed import Asked, read_asked, read_observed_manifest
from base.run_folder.session_file import read_sr
from base.run_folder.tables import (
    MOST_OPERATIONS,
    PLAN,
    Memory,
    read_memory,
    read_metadata,
    read_table,
    write_table,
)
from capture.acquisition.keeper import NO_ROWS
from capture.acquisition.observe import Observation
from capture.acquisition.source import Account, Taken
from scenarios.errors import ImageError
from scenarios.generator import Step
from scenarios.operations import Image, Mark, body_crc32, decode
from scenarios.plan import Plan, table

_NOTHING = EdgeList(*NO_ROWS, NS_PER_S, 0)


def read_stored(folder: Path) -> Taken:
    """Reads the run in `folder`. Raises TailscopeError where a file is missing or damaged, or where
    the run is from the wire alone.
    """
    check_has_operations(folder)
    origin = read_origin(folder / names.MANIFEST) if (folder / names.MANIFEST).exists() else None
    edges, asked_samples = _capture(folder, origin.files if origin else {})
    plan = read_plan(folder / names.PLAN, read_observed(folder, names.IMAGE))
    if origin:
        path = folder / names.OPERATIONS  # which alone tells where the blocks lay
        memory = read_memory(path, origin.memory)
        if memory and not memory.figures.why_not and names.digest(path) != origin.files.get(path.name):
            memory = Memory.unknown("The table of operations was damaged, and with it where the blocks lay.")
        account = Account(
            allocator=origin.allocator,
            board=origin.board,
            analyzer=origin.analyzer,
            elf_sha256=origin.firmware.elf_sha256,
            tools=origin.tools,
            bounds=origin.bounds,
            memory=memory,
            footprint=origin.footprint,
            imported=origin.imported,
            ignore_glitches=origin.glitches is not None,
            plan=plan,
            asked=origin.asked,
        )
    elif name := RunName.of(folder):
        # A run that was killed tells no more of what was asked for than the allocator.
        asked = AskedFirmware(allocator=name.allocator)
        account = Account(name.allocator, name.board, "unknown", "unknown", plan=plan, asked=asked)
    else:
        raise CaptureError(
            f"{folder} has neither a run.json nor the name of a run folder; give a folder of runs/."
        )
    return Taken(
        account,
        Observation(
            edges,
            serial_bytes=read_observed(folder, names.SERIAL_LOG),
            report=origin.tool_report if origin else _unknown_report(edges.total_samples, asked_samples),
            counts=read_observed(folder, names.COUNTS) if (folder / names.COUNTS).exists() else None,
        ),
    )


def read_stored_pins(folder: Path) -> tuple[Asked, Observation]:
    """Reads the run from the wire alone in `folder`. Raises as read_stored()."""
    request = read_asked(folder / names.OBSERVED)
    if request.keep and not (folder / names.KEPT).exists():
        raise CaptureError(
            f"{folder} has no {names.KEPT}: its run was killed in its first minute; run it again."
        )
    windows = read_kept(folder) if request.keep else None
    edges, asked_samples = (_NOTHING, windows.asked_samples) if windows else _capture(folder, {})
    return request, Observation(
        edges,
        b"",
        read_observed_manifest(folder / names.MANIFEST).tool_report
        if (folder / names.MANIFEST).exists()
        else _unknown_report((windows or edges).total_samples, asked_samples),
        kept=windows,
    )


def _capture(folder: Path, digests: Mapping[str, str]) -> tuple[EdgeList, int | None]:
    """The capture, and how many samples were asked for, where it tells.

    Where the edge list is missing, damaged or another than that of `digests`, what reached the disk
    before it serves, or its copy for PulseView.
    """
    if not (folder / names.EDGES).exists() and (folder / names.EDGE_STREAM).exists():
        streamed = read_stream(folder / names.EDGE_STREAM)
        return streamed.edges, streamed.asked_samples
    if not any((folder / name).exists() for name in (names.EDGES, names.SESSION, names.MANIFEST)):
        raise CaptureError(
            f"{folder} has no {names.EDGES}: its run was killed before the first sample; run it again."
        )
    try:
        edge_digests = {name: digest for name, digest in digests.items() if name == names.EDGES}
        names.check_digests(folder, edge_digests, "restore it, or run the scenario again")
        return read_parquet(folder / names.EDGES), None
    except (CaptureError, RunError):
        with suppress(CaptureError):
            return read_sr(folder / names.SESSION), None
        raise


def _unknown_report(got_samples: int, asked_samples: int | None) -> ToolReport:
    expected_samples = got_samples if asked_samples is None else asked_samples
    return ToolReport(
        asked_samples=expected_samples,
        interrupted=got_samples < expected_samples,
        oddities=(
            "The bench was killed before it wrote run.json: what the tools said of the capture, and which "
            "firmware it was, is not known; run again.",
        ),
    )


Schema = Literal[2]
SCHEMA: Schema = 2


class _Metadata(Table):
    """What plan.parquet says of the plan as a whole."""

    schema_: Schema
    scenario: str
    parameters: dict[str, int | str]
    seed: int | None
    sha256: str


def write_plan(path: Path, plan: Plan) -> None:
    """Writes the table of `plan`, with the scenario's name, parameters and seed as metadata."""
    columns = plan.operations.select(PLAN.names())
    facts = {"scenario": plan.name, "parameters": plan.parameters, "seed": plan.seed}
    facts["sha256"] = _digest(plan.image, columns, *facts.values())
    write_table(path, columns, {"schema": SCHEMA, **facts})


def _digest(image_bytes: bytes, columns: pl.DataFrame, *facts: object) -> str:
    """Ties what the image does not carry to it: also name, parameters and seed of the scenario."""
    text = json.dumps([facts, columns.rows()], ensure_ascii=False, separators=(",", ":"), sort_keys=True)
    return hashlib.sha256(hashlib.sha256(image_bytes).digest() + text.encode()).hexdigest()


def read_plan(path: Path, image_bytes: bytes) -> Plan:
    """Reads the plan at `path`, whose image is `image_bytes`.

    Raises RunError where the file is missing or damaged, and CaptureError where the image is, or
    where the two tell of different operations.
    """
    image = decode_image(image_bytes)
    columns = read_table(path, PLAN, MOST_OPERATIONS)
    metadata = read_metadata(path, _Metadata)
    operations = table(Step(operation) for operation in image.operations if not isinstance(operation, Mark))
    if metadata.sha256 != _digest(
        image_bytes, columns, metadata.scenario, metadata.parameters, metadata.seed
    ):
        raise CaptureError(f"{path} is not the plan of {names.IMAGE} beside it; restore one of them.")
    return Plan(
        name=image.name,
        parameters=metadata.parameters,
        seed=metadata.seed,
        stimulus=image.stimulus,
        image=image_bytes,
        image_crc32=body_crc32(image_bytes),
        operations=operations.with_columns(columns[name] for name in ("label", "trial", "depth")),
        records=image.records,
    )


def decode_image(image_bytes: bytes) -> Image:
    """The image of a run folder, decoded. Raises CaptureError where it is damaged."""
    try:
        return decode(image_bytes)
    except ImageError as error:
        raise CaptureError(f"{names.IMAGE} is damaged: {error}") from None
