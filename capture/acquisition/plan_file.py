"""plan.parquet: what the scenario knew of the operations, and their image does not carry.

With it a run is decoded again as it was decoded first, whatever has become of its scenario since
(docs/reference/operations.md).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal

import polars as pl
from pydantic import Field

from base.files.documents import Table
from base.files.errors import CaptureError
from base.run_folder import folder as names
from base.run_folder.tables import MOST_OPERATIONS, PLAN, read_metadata, read_table, write_table
from scenarios.errors import ImageError
from scenarios.generator import Step
from scenarios.operations import Image, Mark, body_crc32, decode
from scenarios.plan import Plan, table

Schema = Literal[2]
SCHEMA: Schema = 2


class _Metadata(Table):
    """What plan.parquet says of the plan as a whole."""

    schema_: Annotated[Schema, Field(alias="schema")]
    scenario: str
    parameters: dict[str, int | str]
    seed: int | None
    sha256: str


def write_plan(path: Path, plan: Plan) -> None:
    """Writes the table of `plan`, with the scenario's name, parameters and seed as metadata."""
    columns, facts = plan.operations.select(PLAN.names()), (plan.name, plan.parameters, plan.seed)
    facts_by_name = dict(zip(("scenario", "parameters", "seed"), facts, strict=True))
    write_table(
        path, columns, {"schema": SCHEMA, **facts_by_name, "sha256": _digest(plan.image, columns, facts)}
    )


_Facts = tuple[str, Mapping[str, int | str], int | None]
"""Name, parameters and seed of the scenario."""


def _digest(image_bytes: bytes, columns: pl.DataFrame, facts: _Facts) -> str:
    """Ties what the image does not carry to it."""
    text = json.dumps([facts, columns.rows()], ensure_ascii=False, separators=(",", ":"), sort_keys=True)
    return hashlib.sha256(hashlib.sha256(image_bytes).digest() + text.encode()).hexdigest()


def read_plan(path: Path, image_bytes: bytes) -> Plan:
    """Reads the plan at `path`, whose image is `image_bytes`.

    Raises RunError where the file is missing or damaged, and CaptureError where the image is, or
    where the two tell of different operations.
    """
    image = decode_image(image_bytes)
    metadata = read_metadata(path, _Metadata)
    columns = read_table(path, PLAN, MOST_OPERATIONS)
    operations = table(Step(operation) for operation in image.operations if not isinstance(operation, Mark))
    facts = (metadata.scenario, metadata.parameters, metadata.seed)
    if metadata.sha256 != _digest(image_bytes, columns, facts):
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
