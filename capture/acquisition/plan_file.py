"""plan.parquet: what the scenario knew of the operations, and their image does not carry.

With it a run is decoded again as it was decoded first, whatever has become of its scenario since
(docs/reference/operations.md).
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from base.files.documents import Table
from base.files.errors import CaptureError
from base.run_folder import folder as names
from base.run_folder.tables import MOST_OPERATIONS, PLAN, read_metadata, read_table, write_table
from scenarios.errors import ImageError
from scenarios.generator import Step
from scenarios.operations import Image, Mark, body_crc32, decode
from scenarios.plan import Plan, table

Schema = Literal[1]
SCHEMA: Schema = 1


class _Metadata(Table):
    """What plan.parquet says of the plan as a whole."""

    schema_: Annotated[Schema, Field(alias="schema")]
    scenario: str
    parameters: dict[str, int | str]
    seed: int | None


def write_plan(path: Path, plan: Plan) -> None:
    """Writes the table of `plan`, with the scenario's name, parameters and seed as metadata."""
    metadata = {"schema": SCHEMA, "scenario": plan.name, "parameters": plan.parameters, "seed": plan.seed}
    write_table(path, plan.operations.select(PLAN.names()), metadata)


def read_plan(path: Path, image_bytes: bytes) -> Plan:
    """Reads the plan at `path`, whose image is `image_bytes`.

    Raises RunError where the file is missing or damaged, and CaptureError where the image is, or
    where the two tell of different operations.
    """
    image = decode_image(image_bytes)
    metadata = read_metadata(path, _Metadata)
    known = read_table(path, PLAN, MOST_OPERATIONS)
    operations = table(_steps(image))
    if not operations.select("seq", "measured").equals(known.select("seq", "measured")):
        raise CaptureError(f"{path} tells of other operations than {names.IMAGE}; restore one of them.")
    return Plan(
        name=image.name,
        parameters=metadata.parameters,
        seed=metadata.seed,
        stimulus=image.stimulus,
        image=image_bytes,
        image_crc32=body_crc32(image_bytes),
        operations=operations.with_columns(known[name] for name in ("label", "trial", "depth")),
        records=image.records,
    )


def decode_image(image_bytes: bytes) -> Image:
    """The image of a run folder, decoded. Raises CaptureError where it is damaged."""
    try:
        return decode(image_bytes)
    except ImageError as error:
        raise CaptureError(f"{names.IMAGE} is damaged: {error}") from None


def _steps(image: Image) -> Iterator[Step]:
    """The steps of an image, without what only its plan knows."""
    return (Step(operation) for operation in image.operations if not isinstance(operation, Mark))
