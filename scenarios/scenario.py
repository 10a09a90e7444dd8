"""A scenario, and how the person at the bench changes it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace

from base import heap_size
from scenarios.errors import ScenarioError
from scenarios.generators.generator import Generator
from scenarios.parameters import Value, bind
from scenarios.plan import Plan, compile_steps, seed_of
from scenarios.stimulus import Stimulus, override


@dataclass(frozen=True)
class Scenario:
    """A generator with all its parameters set, and the stimulus that disturbs it.

    `heap_bytes` is the size of the heap's region.
    """

    name: str
    description: str
    generator: Generator
    stimulus: Stimulus
    heap_bytes: int = heap_size.DEFAULT_BYTES

    @property
    def parameters(self) -> dict[str, Value]:
        return asdict(self.generator)

    @property
    def seed(self) -> int | None:
        """None for a scenario that draws no random numbers."""
        return seed_of(self.parameters)

    def changed(
        self,
        overrides: Mapping[str, str | int],
        seed: int | None = None,
        stimulus: str | None = None,
        heap_bytes: int | None = None,
    ) -> Scenario:
        """The same scenario with other parameters, seed, stimulus or heap. Raises ScenarioError."""
        wanted: dict[str, object] = dict(overrides)
        if seed is not None:
            if "seed" not in self.parameters:
                raise ScenarioError(f"{self.name} draws no random numbers; leave the seed out.")
            if "seed" in overrides:
                raise ScenarioError(
                    "The seed is given twice, as the seed and as a parameter; drop one of them."
                )
            wanted["seed"] = seed
        return replace(
            self,
            generator=bind(type(self.generator), self.parameters, wanted),
            stimulus=self.stimulus if stimulus is None else override(self.stimulus, stimulus),
            heap_bytes=self.heap_bytes if heap_bytes is None else heap_bytes,
        )

    def compile(self) -> Plan:
        """The image and the table of operations. plan.compile_steps says what it refuses."""
        generator = self.generator.fitted(self.heap_bytes)
        parameters = {**asdict(generator), **generator.origin()}
        plan = compile_steps(self.name, parameters, self.stimulus, generator.steps())
        return replace(plan, heap_bytes=self.heap_bytes)
