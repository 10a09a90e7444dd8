"""The compiler: from a generator's steps to the image for the firmware and the table for the host."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice

import polars as pl

from scenarios.errors import ScenarioError
from scenarios.generators.generator import Step
from scenarios.operations import (
    MAX_ENTRIES,
    Allocate,
    Image,
    Mark,
    Operation,
    body_crc32,
    encode,
    with_records,
)
from scenarios.stimulus import Stimulus

OPERATIONS_SCHEMA = {
    "seq": pl.UInt32,
    "kind": pl.String,
    "id": pl.UInt32,
    "size": pl.UInt32,
    "measured": pl.Boolean,
    "label": pl.String,
    "trial": pl.UInt32,
    "depth": pl.UInt32,
}


@dataclass(frozen=True)
class Plan:
    """All that a run needs to know of its scenario; equal inputs give equal bytes.

    `image` is docs/SPEC.md section 3 and `image_crc32` its body_crc32, which the firmware repeats. `labels`
    are in the order of their numbers. `operations` has one row per operation, marks left out: seq UInt32;
    kind String, `A` or `F`; id UInt32; size UInt32 in bytes, for a free that of its allocation; measured
    Boolean; label String, trial UInt32 (from 1) and depth UInt32, null where there is none.
    """

    name: str
    parameters: dict[str, int]
    seed: int | None
    stimulus: Stimulus
    labels: tuple[str, ...]
    image: bytes
    image_crc32: int
    operations: pl.DataFrame = field(compare=False, repr=False)
    records: str = "uart"

    @property
    def ramp(self) -> bool:
        """Whether what is measured changes by design from one depth to the next."""
        return self.operations.filter("measured")["depth"].n_unique() > 1

    def recorded_by(self, records: str) -> Plan:
        """The same plan with its records carried by `records`: uart or rtt."""
        return replace(self, image=with_records(self.image, records), records=records)


def compile_steps(
    name: str, parameters: dict[str, int], stimulus: Stimulus, generated: Iterable[Step]
) -> Plan:
    """Raises ScenarioError where the steps outgrow an image, ImageError where they are not well-formed."""
    steps = tuple(islice(generated, MAX_ENTRIES + 1))
    labels = tuple(dict.fromkeys(step.label for step in steps if step.label is not None))
    entries = tuple(_entries(steps, labels))
    if len(entries) > MAX_ENTRIES:
        raise ScenarioError(
            f"{name} needs more than the {MAX_ENTRIES:,} entries of an image (operations and marks); "
            "lower its parameters."
        )
    image = encode(Image(name, stimulus, entries))
    return Plan(
        name=name,
        parameters=parameters,
        seed=parameters.get("seed"),
        stimulus=stimulus,
        labels=labels,
        image=image,
        image_crc32=body_crc32(image),
        operations=_table(steps),
    )


def _entries(steps: Sequence[Step], labels: Sequence[str]) -> Iterator[Operation]:
    """The steps, with a mark wherever the label changes."""
    numbers = {label: number for number, label in enumerate(labels)}
    current: str | None = None
    for step in steps:
        if step.label != current:
            if step.label is None:
                raise ScenarioError(
                    f"A step without a label follows phase {current}; a phase ends only in another."
                )
            yield Mark(numbers[step.label])
            current = step.label
        yield step.operation


def _table(steps: Sequence[Step]) -> pl.DataFrame:
    sizes: dict[int, int] = {}
    rows = []
    for seq, step in enumerate(steps):
        operation = step.operation
        if isinstance(operation, Allocate):
            sizes[operation.id] = operation.size
        rows.append(
            (
                seq,
                "A" if isinstance(operation, Allocate) else "F",
                operation.id,
                sizes[operation.id],
                operation.measured,
                step.label,
                step.trial,
                step.depth,
            )
        )
    return pl.DataFrame(rows, schema=OPERATIONS_SCHEMA, orient="row")
