"""The scenarios that come with the bench, and a user's own by path."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from base.tell import Tell
from base.times import seconds_of
from scenarios.errors import unknown
from scenarios.scenario import Scenario, read

_FOLDER = Path(__file__).parent
_NOTHING: Mapping[str, str | int] = MappingProxyType({})


def names() -> tuple[str, ...]:
    """The names of the scenarios in this folder, sorted. Each is the name of its file."""
    return tuple(sorted(path.stem for path in _FOLDER.glob("*.toml")))


def load(
    name: str,
    overrides: Mapping[str, str | int] = _NOTHING,
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
    in_cycles = {key: _in_cycles(key, value, core_hz) for key, value in overrides.items()}
    return _find(name, tell).changed(in_cycles, seed, stimulus, heap_bytes)


def _in_cycles(name: str, value: str | int, core_hz: int | None) -> str | int:
    if core_hz is None or isinstance(value, int) or not name.endswith("_cycles"):
        return value
    return round(seconds_of(value) * core_hz) or value


def _find(name: str, tell: Tell | None) -> Scenario:
    if name.endswith(".toml"):
        return read(Path(name), tell)
    if name not in names():
        raise unknown("scenario", name, names())
    return read(_FOLDER / f"{name}.toml")
