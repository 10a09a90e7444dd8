"""The scenarios that come with the bench, and a user's own by path."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from scenarios.errors import unknown
from scenarios.scenario import Scenario
from scenarios.scenario_file import read

_FOLDER = Path(__file__).parent
_NOTHING: Mapping[str, str | int] = MappingProxyType({})


def names() -> tuple[str, ...]:
    """Names of the scenarios in this folder, sorted: each is that of its file."""
    return tuple(sorted(path.stem for path in _FOLDER.glob("*.toml")))


def load(
    name: str,
    overrides: Mapping[str, str | int] = _NOTHING,
    seed: int | None = None,
    stimulus: str | None = None,
) -> Scenario:
    """The scenario called `name`, or that of the TOML file at the path `name` (it ends in .toml).

    `overrides` replaces parameters by name, `seed` the parameter of that name; for `stimulus` see
    stimulus.override. Raises ScenarioError with one sentence, with the near miss and what there is.
    """
    return _find(name).changed(overrides, seed, stimulus)


def _find(name: str) -> Scenario:
    if name.endswith(".toml"):
        return read(Path(name))
    if name not in names():
        raise unknown("scenario", name, names())
    return read(_FOLDER / f"{name}.toml")
