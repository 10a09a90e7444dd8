"""matrix.toml: what a campaign runs (docs/SPEC.md, section 26)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import product
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

from pydantic import AfterValidator, Field, model_validator

from analysis.campaign.errors import CampaignError
from capture.files.documents import Document, Table, open_toml
from capture.files.errors import TailscopeError
from capture.files.faults import WrongValueError, among, not_among
from capture.run_folder.records import Locking
from firmware import catalogue as allocators_of
from scenarios import catalogue
from scenarios.parameters import Value
from scenarios.scenario import Scenario

EVERY = "all"
DEFAULT_ALLOCATORS = ("seglist", "tlsf")
DEFAULT_SHARE = 0.01

Capture = Literal["sigrok", "direct"]
"""By the real tools, or straight from the simulator (capture/direct_run.py)."""

T = TypeVar("T")
Listed = Annotated[list[T], Field(min_length=1)]


def _check_scenario(name: str) -> str:
    if not name.endswith(".toml") and name not in catalogue.names():
        raise not_among(name, catalogue.names())
    return name


ScenarioName = Annotated[str, AfterValidator(_check_scenario)]
AllocatorName = Annotated[str, among((EVERY, *allocators_of.allocators()))]
Whole = Annotated[int, Field(gt=0)]


class _Settings(Table):
    """Lists of settings: at the top of the file what is run, in `exclude` what is left out."""

    allocators: Listed[AllocatorName] | None = None
    seeds: Listed[int] | None = None
    parameters: Listed[dict[str, int | str]] | None = None
    heap_bytes: Listed[Whole] | None = None
    art: Listed[Literal["on", "off"]] | None = None
    locking: Listed[Locking] | None = None
    knobs: Listed[dict[str, int]] | None = None
    samplerate: Listed[Whole] | None = None


class _Exclude(_Settings):
    scenarios: Listed[ScenarioName] | None = None


class _File(_Settings):
    scenarios: Listed[ScenarioName]
    capture: Capture = "sigrok"
    verify: Annotated[float, Field(ge=0, le=1)] | None = None
    exclude: list[_Exclude] = Field(default_factory=list)

    @model_validator(mode="after")
    def _verifies_direct_runs(self) -> _File:
        if self.verify is not None and self.capture != "direct":
            raise WrongValueError(
                "compares direct runs with those by the real tools, and there are none",
                "verify",
                remedy='drop it, or give capture = "direct"',
            )
        return self


@dataclass(frozen=True)
class Point:
    """The settings of one run. None leaves a choice to scenario, allocator or bench.toml."""

    scenario: str
    allocator: str
    parameters: dict[str, Value] = field(default_factory=dict)
    seed: int | None = None
    heap_bytes: int | None = None
    art: str = "on"
    locking: str | None = None
    knobs: dict[str, int] = field(default_factory=dict)
    samplerate: int | None = None

    @property
    def title(self) -> str:
        """A few words for people."""
        chosen = [*self.parameters.items(), *self.knobs.items(), ("seed", self.seed)]
        words = [f"{name}={value}" for name, value in chosen if value is not None]
        words += [word for word in (self.locking, "" if self.art == "on" else "ART off") if word]
        words += [f"heap {self.heap_bytes:,}"] if self.heap_bytes else []
        return ", ".join([f"{self.scenario} on {self.allocator}", *words])


@dataclass(frozen=True)
class Matrix:
    """A matrix that was read: `text` is the file's bytes."""

    path: Path
    text: bytes
    _document: Document
    _file: _File
    left_out: frozenset[str] = frozenset()
    """Allocators that cannot run what is asked, where all were asked for."""

    @property
    def capture(self) -> Capture:
        """How all of its runs are captured."""
        return self._file.capture

    @property
    def verify(self) -> float:
        """The share of the runs that is also captured by the real tools; 0 where all are."""
        if self.capture != "direct":
            return 0.0
        return DEFAULT_SHARE if self._file.verify is None else self._file.verify

    @property
    def takes_all(self) -> bool:
        """Whether every allocator is asked for that can run it."""
        return self._file.allocators == [EVERY]

    def without(self, allocators: Iterable[str]) -> Matrix:
        """The same matrix without some allocators. Raises CampaignError if nothing is left."""
        matrix = replace(self, left_out=frozenset(allocators))
        if next(matrix.points(), None) is None:
            words = "There is nothing to run: everything is excluded, or no allocator can run it."
            raise self._document.complain(words)
        return matrix

    def points(self) -> Iterator[Point]:
        """All that is to be run, one after another, those of one plan together."""
        file = self._file
        for name, parameters, heap in product(
            file.scenarios, file.parameters or [{}], _or_default(file.heap_bytes)
        ):
            # One that draws nothing runs once, whatever the seeds.
            seeds = _or_default(file.seeds if self._draws(name) else None)
            for seed, allocator, locking, art, knobs, rate in product(
                seeds,
                _allocators(file.allocators),
                _or_default(file.locking),
                file.art or ["on"],
                file.knobs or [{}],
                _or_default(file.samplerate),
            ):
                point = Point(name, allocator, parameters, seed, heap, art, locking, knobs, rate)
                if not self._leaves_out(point):
                    yield point

    def _leaves_out(self, point: Point) -> bool:
        excluded = any(_excludes(table, point) for table in self._file.exclude)
        return excluded or point.allocator in self.left_out

    def count(self) -> int:
        """How many points there are."""
        return sum(1 for _ in self.points())

    def scenario(self, point: Point) -> Scenario:
        """The scenario of a point. A path is that beside the matrix. Raises TailscopeError."""
        return catalogue.load(
            self._place(point.scenario), point.parameters, seed=point.seed, heap_bytes=point.heap_bytes
        )

    def refusal(self, point: Point, why: TailscopeError) -> CampaignError:
        """The error that a point cannot be run, with its line and what to do."""
        words = f"{point.title} cannot be run: {why} Mend it, or leave it out by [[exclude]]."
        return CampaignError(str(self._document.complain(words, "scenarios")))

    def _draws(self, name: str) -> bool:
        """Whether a scenario draws random numbers. Raises TailscopeError."""
        return catalogue.load(self._place(name)).seed is not None

    def _place(self, name: str) -> str:
        return str(self.path.parent / name) if name.endswith(".toml") else name


def read(path: Path) -> Matrix:
    """Reads and checks a matrix. Raises CampaignError with file, line and key."""
    document = open_toml(path, CampaignError)
    file = document.check(_File)
    matrix = Matrix(path, path.read_bytes(), document, file)
    for number, name in enumerate(file.scenarios):
        try:
            matrix._draws(name)
        except TailscopeError as error:
            raise document.complain(str(error), "scenarios", number) from None
    return matrix.without(())


def _or_default(listed: Sequence[T | None] | None) -> Sequence[T | None]:
    """None is the default of whoever is asked next."""
    return listed if listed is not None else [None]


def _allocators(wanted: list[str] | None) -> Sequence[str]:
    """Each once; `all` is every one of the catalogue that can be linked here."""
    if wanted is None:
        return DEFAULT_ALLOCATORS
    every = [name for name, row in allocators_of.allocators().items() if row.missing_checkout() is None]
    return list(dict.fromkeys(name for one in wanted for name in (every if one == EVERY else [one])))


_KEYS = {"scenario": "scenarios", "allocator": "allocators", "seed": "seeds"}


def _excludes(table: _Exclude, point: Point) -> bool:
    """Whether each key that the table has lists the value of the point."""
    values: dict[str, Any] = {_KEYS.get(name, name): value for name, value in asdict(point).items()}
    asked = table.model_dump(exclude_none=True)
    return bool(asked) and all(values[key] in listed or listed == [EVERY] for key, listed in asked.items())
