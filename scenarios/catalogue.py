"""The scenarios that come with the bench, and a user's own by path."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from base.microseconds import seconds_of
from base.tell import Tell
from scenarios.errors import ScenarioError, unknown
from scenarios.parameters import bind
from scenarios.scenario import Scenario, read
from scenarios.stimulus import override

_FOLDER = Path(__file__).parent


def names() -> tuple[str, ...]:
    """The names of the scenarios in this folder, sorted. Each is the name of its file."""
    return tuple(sorted(path.stem for path in _FOLDER.glob("*.toml")))


def load(
    name: str,
    overrides: Mapping[str, str | int] = {},
    seed: int | None = None,
    stimulus: str | None = None,
    heap_bytes: int | None = None,
    tell: Tell | None = None,
    core_hz: int | None = None,
) -> Scenario:
    """The scenario called `name`. A `name` that ends in .toml is the path of the scenario's file.

    `overrides` replaces parameters by name, `seed` the parameter of that name. stimulus.override
    says what `stimulus` may be. `heap_bytes` replaces the size of the heap's region. Where a core's
    `core_hz` is given, a parameter in cycles may be a time, `10us`. A
    generator in a user's own Python file is run only where a `tell` is given, which hears of it: by
    commands of which the user named the scenario's file, and never for what a run folder names.

    Raises ScenarioError with one sentence. Of an unknown name it tells what there is, and a near
    miss.
    """
    wanted: dict[str, object] = dict(overrides)
    for key, value in overrides.items():
        if core_hz is not None and isinstance(value, str) and key.endswith("_cycles"):
            wanted[key] = round(seconds_of(value) * core_hz) or value
    if name.endswith(".toml"):
        scenario = read(Path(name), tell)
    elif name in names():
        scenario = read(_FOLDER / f"{name}.toml")
    else:
        raise unknown("scenario", name, names())
    if seed is not None:
        if "seed" not in scenario.parameters:
            raise ScenarioError(f"{scenario.name} draws no random numbers; leave the seed out.")
        if "seed" in overrides:
            raise ScenarioError("The seed is given twice, as the seed and as a parameter; drop one of them.")
        wanted["seed"] = seed
    return replace(
        scenario,
        generator=bind(type(scenario.generator), scenario.parameters, wanted),
        stimulus=scenario.stimulus if stimulus is None else override(scenario.stimulus, stimulus),
        heap_bytes=scenario.heap_bytes if heap_bytes is None else heap_bytes,
        chosen=frozenset(wanted),
    )
