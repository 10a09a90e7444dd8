"""A scenario: what its TOML file says, checked, with whatever the person at the bench wants otherwise."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from scenarios.errors import ScenarioError, quoted, unknown
from scenarios.generators import GENERATORS
from scenarios.generators.generator import Generator
from scenarios.operations import MAX_NAME_BYTES
from scenarios.parameters import bind
from scenarios.plan import Plan, compile_steps
from scenarios.stimulus import NO_STIMULUS, PARAMETERS, Stimulus, override, playable

# The name stands in records (ASCII, fields parted by commas) and in the names of run folders.
_NAME = re.compile(rf"[A-Za-z0-9_-]{{1,{MAX_NAME_BYTES}}}")


@dataclass(frozen=True)
class Scenario:
    """A generator with all its parameters set, and the stimulus it runs under."""

    name: str
    description: str
    generator: Generator
    stimulus: Stimulus

    @property
    def parameters(self) -> dict[str, int]:
        return asdict(self.generator)

    def changed(
        self, overrides: Mapping[str, str | int], seed: int | None = None, stimulus: str | None = None
    ) -> Scenario:
        """The same scenario with other parameters, seed or stimulus; ScenarioError says what cannot be."""
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
        )

    def compile(self) -> Plan:
        """Image and table of operations; see plan.compile_steps for what it refuses."""
        return compile_steps(self.name, self.parameters, self.stimulus, self.generator.steps())


def read(path: Path) -> Scenario:
    """Reads a scenario's TOML file. Raises ScenarioError, naming the file, for whatever is wrong with it."""
    table = _parse(path)
    try:
        return from_table(table)
    except ScenarioError as error:
        raise ScenarioError(f"{path.name}: {error}") from None


def _parse(path: Path) -> dict[str, object]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ScenarioError(f"The scenario {path} cannot be read: {error.strerror}.") from None
    except UnicodeDecodeError:
        raise ScenarioError(f"The scenario {path} is not UTF-8 text; save it as UTF-8.") from None
    except ValueError as error:  # also an integer of more digits than Python reads
        raise ScenarioError(f"The scenario {path} is not valid TOML: {error}.") from None


def from_table(table: Mapping[str, object]) -> Scenario:
    """The scenario that a parsed TOML document describes."""
    _refuse_unknown("key", table, ("name", "description", "generator", "parameters", "stimulus"))
    name, generator = _text(table, "name"), _text(table, "generator")
    if not _NAME.fullmatch(name):
        raise ScenarioError(
            f"The name {quoted(name)} must be 1 to {MAX_NAME_BYTES} letters, digits, hyphens and underscores."
        )
    if generator not in GENERATORS:
        raise unknown("generator", generator, GENERATORS)
    return Scenario(
        name,
        _text(table, "description"),
        bind(GENERATORS[generator], _subtable(table, "parameters"), {}),
        _stimulus(_subtable(table, "stimulus")),
    )


def _stimulus(table: Mapping[str, object]) -> Stimulus:
    _refuse_unknown(
        "key under [stimulus]", table, ("mode", "period_ticks", "control_period_ticks", *PARAMETERS.values())
    )
    if not table:
        return NO_STIMULUS
    mode = _text(table, "mode")
    for key in set(PARAMETERS.values()) & set(table):
        if key != PARAMETERS.get(mode):
            raise ScenarioError(f"A stimulus of mode {quoted(mode)} has no {key}; drop it.")
    parameter = _ticks(table, PARAMETERS[mode]) if mode in PARAMETERS else 0
    periods = _ticks(table, "period_ticks"), _ticks(table, "control_period_ticks")
    return playable(Stimulus(mode, *periods, parameter))


def _refuse_unknown(what: str, table: Mapping[str, object], known: tuple[str, ...]) -> None:
    for key in table:
        if key not in known:
            raise unknown(what, key, known)


def _text(table: Mapping[str, object], key: str) -> str:
    value = table.get(key)
    if not isinstance(value, str):
        raise ScenarioError(f"{key} must be given, as a text in quotation marks.")
    return value.strip()


def _subtable(table: Mapping[str, object], key: str) -> Mapping[str, object]:
    value = table.get(key, {})
    if not isinstance(value, dict):
        raise ScenarioError(f"{key} must be a table: write [{key}] on a line of its own.")
    return value


def _ticks(table: Mapping[str, object], key: str) -> int:
    value = table.get(key, 0)
    if not isinstance(value, int) or isinstance(value, bool):
        raise ScenarioError(f"{key} must be a whole number, not {quoted(value)}.")
    return value
