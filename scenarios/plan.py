"""The compiler: it turns a generator's steps into the firmware's image and the host's table."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import islice

import polars as pl

from base import heap_size
from base.run_folder.records import CLOCKS
from base.run_folder.tables import schema_of
from scenarios.errors import ScenarioError
from scenarios.generator import Step
from scenarios.operations import (
    CALLS,
    DEFAULT_BAUD,
    EXTRAS,
    MAX_ENTRIES,
    Allocate,
    Call,
    Image,
    Mark,
    Operation,
    body_crc32,
    decode,
    encode,
)
from scenarios.parameters import Value
from scenarios.stimulus import SWEEP_LEAD_TICKS, Stimulus

# The fraction of the golden ratio, times 2^32. The firmware's phases use it too
# (docs/reference/wire.md).
GOLDEN_RATIO = 0x9E3779B9


@dataclass(frozen=True)
class Plan:
    """All that a run needs to know of its scenario. Equal inputs give equal bytes.

    `image` is that of docs/reference/operation-image.md. `image_crc32` is its body_crc32, which the
    firmware repeats. `operations` has one row for each operation; marks are left out:

    - seq UInt32;
    - kind String: `A` for an allocation, `F` for a free, `K` for a call;
    - id UInt32: the slot;
    - size UInt32: bytes; of a free those of its allocation; of a call its number;
    - offset UInt32: ticks of a swept stimulus, 0 without one;
    - measured Boolean;
    - label String, trial UInt32 (from 1) and depth UInt32: null where there is none.

    `heap_bytes` is the size of the heap's region. It is no part of what is stored of a plan: what
    the firmware was built to be stands in run.json.
    """

    name: str
    parameters: dict[str, Value]
    seed: int | None
    stimulus: Stimulus
    image: bytes
    image_crc32: int
    operations: pl.DataFrame = field(compare=False, repr=False)
    records: str = "uart"
    heap_bytes: int = field(default=heap_size.DEFAULT_BYTES, compare=False)

    @property
    def slots(self) -> int:
        """How many slots the firmware must have: the greatest in use + 1."""
        return decode(self.image).slot_count

    @cached_property
    def live_bytes(self) -> int:
        """The most payload that lives at once, where every allocation is served."""
        signed = pl.when(pl.col("kind") == "A").then(pl.col("size")).otherwise(-pl.col("size").cast(pl.Int64))
        live = self.operations.filter(pl.col("kind") != "K").select(signed.cum_sum())
        return int(live.to_series().max() or 0)  # type: ignore[arg-type]

    @cached_property
    def extras(self) -> tuple[str, ...]:
        """What the firmware must be built with for the calls that are made, sorted."""
        calls = self.operations.filter(pl.col("kind") == "K")["size"].unique()
        return tuple(sorted({EXTRAS[CALLS[call]] for call in calls if CALLS[call] in EXTRAS}))

    @property
    def ramp(self) -> bool:
        """Whether measured operations have several depths, so that their cost changes by design."""
        return self.operations.filter("measured")["depth"].n_unique() > 1

    @property
    def baud(self) -> int:
        """The serial line's rate in baud, as the image says it."""
        return decode(self.image).baud

    def recorded_by(
        self,
        records: str,
        baud: int = DEFAULT_BAUD,
        clock: str = CLOCKS[0],
        debugger_leaves: bool = False,
    ) -> Plan:
        """The same plan, with its records carried by `records`: uart or rtt.

        It tells the firmware the serial line's `baud`, what feeds the core's `clock`, and whether
        it is to wait until a debugger has let go of the core. Raises ImageError for what there is
        not.
        """
        image = replace(
            decode(self.image), records=records, baud=baud, clock=clock, debugger_leaves=debugger_leaves
        )
        return replace(self, image=encode(image), records=records)

    def without_control(self) -> Plan:
        """The same plan for a board that has no control interrupt."""
        if not self.stimulus.control_period_ticks:
            return self
        stimulus = replace(self.stimulus, control_period_ticks=0)
        return replace(self, stimulus=stimulus, image=encode(replace(decode(self.image), stimulus=stimulus)))


def seed_of(parameters: Mapping[str, Value]) -> int | None:
    """The parameter of that name; None where there is none."""
    seed = parameters.get("seed")
    return seed if isinstance(seed, int) else None


def compile_steps(
    name: str,
    parameters: Mapping[str, Value],
    stimulus: Stimulus,
    generated: Iterable[Step],
    most_entries: int = MAX_ENTRIES,
) -> Plan:
    """The plan of the steps `generated`, for an image of `most_entries` at most.

    Raises ScenarioError if they outgrow an image, ImageError if they are not well-formed.
    """
    steps = tuple(_with_offsets(islice(generated, most_entries + 1), stimulus))
    entries = tuple(_entries(steps))
    if len(entries) > most_entries:
        raise ScenarioError(
            f"{name} needs more than the {most_entries:,} entries of an image (operations and marks); "
            "lower its parameters."
        )
    image = encode(Image(name, stimulus, entries))
    return Plan(
        name=name,
        parameters=dict(parameters),
        seed=seed_of(parameters),
        stimulus=stimulus,
        image=image,
        image_crc32=body_crc32(image),
        operations=table(steps),
    )


def _with_offsets(steps: Iterable[Step], stimulus: Stimulus) -> Iterator[Step]:
    """Gives every measured operation of a sweep its offset. Without a sweep, no operation has one.

    The offsets are the generator's, unless the stimulus asks for a span. Then they are multiples of
    the golden ratio within it: these divide it evenly after any number of operations.
    """
    span, number = stimulus.period_ticks, 0
    for step in steps:
        operation = step.operation
        offset = operation.stimulus_offset if stimulus.mode == "sweep" else 0
        if stimulus.mode == "sweep" and span and operation.measured:
            offset = SWEEP_LEAD_TICKS + (number * GOLDEN_RATIO % 2**32 * span >> 32)
            number += 1
        if offset == operation.stimulus_offset:
            yield step
        else:
            yield replace(step, operation=replace(operation, stimulus_offset=offset))


def _entries(steps: Iterable[Step]) -> Iterator[Operation]:
    """The steps, with a mark wherever the label changes. Labels are numbered as they come."""
    numbers: dict[str, int] = {}
    current: str | None = None
    for step in steps:
        if step.label != current:
            if step.label is None:
                raise ScenarioError(
                    f"A step without a label follows phase {current}; a phase ends only in another."
                )
            yield Mark(numbers.setdefault(step.label, len(numbers)))
            current = step.label
        yield step.operation


def table(steps: Iterable[Step]) -> pl.DataFrame:
    """The table `operations` of a Plan. The steps must be well-formed."""
    sizes: dict[int, int] = {}
    rows = []
    for seq, step in enumerate(steps):
        operation = step.operation
        if isinstance(operation, Call):
            what = ("K", 0, CALLS.index(operation.name))
        elif isinstance(operation, Allocate):
            sizes[operation.id] = operation.size
            what = ("A", operation.id, operation.size)
        else:
            what = ("F", operation.id, sizes[operation.id])
        place = (step.label, step.trial, step.depth)
        rows.append((seq, *what, operation.stimulus_offset, operation.measured, *place))
    return pl.DataFrame(rows, schema=schema_of("image"), orient="row")
