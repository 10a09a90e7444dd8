"""A scenario, how the person at the bench changes it, and what its TOML file may say."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, Field, StringConstraints, model_validator

from base import heap_size
from base.files.complaints import WrongValueError, among, expecting, not_among, quoted
from base.files.documents import Table, open_toml
from base.tell import Tell
from scenarios.errors import ScenarioError
from scenarios.generator import Generator
from scenarios.generators import GENERATORS, of_users_file
from scenarios.operations import MAX_NAME_BYTES
from scenarios.parameters import Value, bind, located, model
from scenarios.place import LARGE, Place
from scenarios.plan import Plan, compile_steps, seed_of
from scenarios.stimulus import MODES, NO_STIMULUS, PARAMETERS, Stimulus, playable


@dataclass(frozen=True)
class Scenario:
    """A generator with all its parameters set, and the stimulus that disturbs it.

    `heap_bytes` is the size of the heap's region; None is the board's own.
    """

    name: str
    description: str
    generator: Generator
    stimulus: Stimulus
    heap_bytes: int | None = None
    chosen: frozenset[str] = frozenset()
    """The parameters that the user set: they stay as they are on every board."""

    @property
    def parameters(self) -> dict[str, Value]:
        return asdict(self.generator)

    @property
    def seed(self) -> int | None:
        """None for a scenario that draws no random numbers."""
        return seed_of(self.parameters)

    def compile(self, place: Place = LARGE) -> Plan:
        """The image and the table of operations, for a board with such a place for them.

        plan.compile_steps says what it refuses.
        """
        heap_bytes = self.heap_on(place)
        generator = self.generator
        if place.is_small:
            chosen = {name: value for name, value in self.parameters.items() if name in self.chosen}
            scaled = asdict(generator) | generator.on_small(place)
            generator = bind(type(generator), scaled, chosen)
        generator = generator.fitted(heap_bytes, place)
        parameters = {**asdict(generator), **generator.origin()}
        plan = compile_steps(self.name, parameters, self.stimulus, generator.steps(), place.entries)
        may_fill = not place.is_small or self.heap_bytes is not None or generator.FILLS
        if not may_fill and (live := plan.live_bytes) > heap_bytes:
            raise ScenarioError(
                f"{self.name} does not fit the board: {live:,} bytes live at once, and its heap has "
                f"{heap_bytes:,}; lower the scenario's parameters, or run another one."
            )
        return replace(plan, heap_bytes=heap_bytes)

    def heap_on(self, place: Place = LARGE) -> int:
        """The size of the heap's region on such a board, in bytes."""
        return place.heap_bytes if self.heap_bytes is None else self.heap_bytes


# The name stands in records, which are ASCII with commas between fields, and in run folders' names.
Name = Annotated[
    str,
    StringConstraints(strip_whitespace=True, pattern=rf"^[A-Za-z0-9_-]{{1,{MAX_NAME_BYTES}}}$"),
    expecting(f"1 to {MAX_NAME_BYTES} letters, digits, hyphens and underscores in quotation marks"),
]


def _region(value: int) -> int:
    if range_ := heap_size.refused(value):
        raise WrongValueError(f"must be {range_}, not {quoted(value)}")
    return value


def _generator(value: str) -> str:
    if not value.endswith(".py") and value not in GENERATORS:
        raise not_among(value, GENERATORS)
    return value


HeapBytes = Annotated[int, AfterValidator(_region)]
Text = Annotated[str, StringConstraints(strip_whitespace=True)]


class StimulusTable(Table):
    """[stimulus]: periods in ticks of the core. Only random has a seed, only burst a spacing."""

    mode: Annotated[str, among(MODES)] = NO_STIMULUS.mode
    """What the timer does (docs/reference/wire.md); required in this table."""
    period_ticks: int = 0
    """From 2,000, of `random` from 4,000: of the timer that critical sections mask. Of `sweep` what
    the offsets are spread over, or 0.
    """
    control_period_ticks: int = 0
    """0, or from 1,000: of the control, which is never masked; 0: no control."""
    seed: int = 0
    """0 to 65,535, of `random` only."""
    spacing_ticks: int = 0
    """From 16, and 2,000 less than the period: between the two edges of `burst` only."""

    @model_validator(mode="after")
    def _of_its_mode(self) -> StimulusTable:
        if self.model_fields_set and "mode" not in self.model_fields_set:
            raise WrongValueError("is missing", "mode", remedy="add it")
        for key in PARAMETERS.values():
            if key in self.model_fields_set and key != PARAMETERS.get(self.mode):
                raise WrongValueError(
                    f"means nothing to a stimulus of mode {self.mode}", key, remedy="drop it"
                )
        return self

    def stimulus(self) -> Stimulus:
        """The stimulus that the table describes.

        Raises ScenarioError if its numbers contradict each other or leave the bench no time to run.
        """
        parameter = getattr(self, PARAMETERS[self.mode]) if self.mode in PARAMETERS else 0
        return playable(Stimulus(self.mode, self.period_ticks, self.control_period_ticks, parameter))


class ScenarioTable(Table):
    """The whole file. The generator says what [parameters] may hold (parameters.model)."""

    name: Name
    """Up to 31 letters, digits, `-` and `_`; stands in records and in the names of run folders."""
    description: Text
    """For `./lab list`."""
    generator: Annotated[str, AfterValidator(_generator)]
    """What makes the operations: a name of scenarios/generators, or the path of a Python file
    beside this one.
    """
    heap_bytes: HeapBytes | None = None
    """A multiple of 8, from 64: the region; without it the board's."""
    parameters: dict[str, object] = Field(default_factory=dict)
    """All parameters of the generator, none else."""
    stimulus: StimulusTable = StimulusTable()


def read(path: Path, tell: Tell | None = None) -> Scenario:
    """Reads a scenario's TOML file. Raises ScenarioError, which names file, line and key.

    A generator that is a Python file beside it is run, and `tell` hears of it in a sentence. None
    refuses one.
    """
    document = open_toml(path, ScenarioError)
    scenario_table = document.check(ScenarioTable)
    word = scenario_table.generator
    with document.located():
        if word in GENERATORS:
            generator = GENERATORS[word]
        elif tell:
            generator = of_users_file(path.parent / word, tell)
        else:
            raise ScenarioError(
                f"The generator {quoted(word)} is a program of the user's, and is run only where the "
                "scenario's file is named on the command line; name it there."
            )
    given = document.check(model(generator), "parameters").model_dump()
    with document.located():
        return Scenario(
            scenario_table.name,
            scenario_table.description,
            generator(**located(generator, given, path.parent)),
            scenario_table.stimulus.stimulus(),
            scenario_table.heap_bytes,
        )
