"""matrix.toml: what a campaign runs (docs/reference/campaign-folder.md)."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import product
from math import prod
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

from pydantic import AfterValidator, Field, model_validator

from analysis.errors import CampaignError
from base.files.complaints import WrongValueError, not_among
from base.files.documents import Document, Table, open_toml
from base.files.errors import TailscopeError
from base.run_folder.records import Locking
from firmware.build import boards, outside
from firmware.build import catalogue as allocators_of
from firmware.build.outside_file import OutsideError
from firmware.build.placement import MOST as MOST_PLACEMENTS
from scenarios import catalogue
from scenarios.parameters import Value
from scenarios.scenario import Scenario

EVERY = "all"
DEFAULT_ALLOCATORS = ("seglist", "tlsf")
DEFAULT_SHARE = 0.01
MOST_COMBINATIONS = 10_000_000
"""Above what a hundred cores do in a week."""

Capture = Literal["sigrok", "direct"]
"""By the real tools, or straight from the simulator (capture/acquisition/direct.py)."""

T = TypeVar("T")
Listed = Annotated[list[T], Field(min_length=1)]


def _check_scenario(name: str) -> str:
    if not name.endswith(".toml") and name not in catalogue.names():
        raise not_among(name, catalogue.names())
    return name


def _check_allocator(word: str) -> str:
    known = (EVERY, *allocators_of.own())
    if not outside.is_path(word) and word not in known:
        raise not_among(word, known)
    return word


def _check_board(name: str) -> str:
    if name not in boards.names():
        raise not_among(name, boards.names())
    return name


ScenarioName = Annotated[str, AfterValidator(_check_scenario)]
AllocatorName = Annotated[str, AfterValidator(_check_allocator)]
BoardName = Annotated[str, AfterValidator(_check_board)]
"""Of the boards that come with the bench: a worker of a cluster has no other ones."""
HeapBytes = Annotated[int, Field(gt=0, le=1 << 32)]
Samplerate = Annotated[int, Field(ge=10, le=200_000_000)]
"""What the virtual analyzer can have: servers/beaglelogic.rs of the simulator."""


class _Settings(Table):
    """Lists of settings: at the top of the file what is run, in `exclude` what is left out."""

    allocators: Listed[AllocatorName] | None = None
    boards: Listed[BoardName] | None = None
    seeds: Listed[int] | None = None
    parameters: Listed[dict[str, int | str]] | None = None
    heap_bytes: Listed[HeapBytes] | None = None
    art: Listed[Literal["on", "off"]] | None = None
    locking: Listed[Locking] | None = None
    knobs: Listed[dict[str, int]] | None = None
    samplerate: Listed[Samplerate] | None = None


class _Exclude(_Settings):
    placement: Listed[Annotated[int, Field(ge=0, lt=MOST_PLACEMENTS)]] | None = None
    scenarios: Listed[ScenarioName] | None = None


class _File(_Settings):
    scenarios: Listed[ScenarioName]
    placements: Annotated[int, Field(ge=1, le=MOST_PLACEMENTS)] = 1
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
    placement: int = 0
    board: str = boards.DEFAULT

    @property
    def title(self) -> str:
        """A few words for people."""
        chosen = [*self.parameters.items(), *self.knobs.items(), ("seed", self.seed)]
        words = [f"{name}={value}" for name, value in chosen if value is not None]
        words += [word for word in (self.locking, "" if self.art == "on" else "ART off") if word]
        words += [f"heap {self.heap_bytes:,}"] if self.heap_bytes else []
        words += [f"placement {self.placement}"] if self.placement else []
        words += [] if self.board == boards.DEFAULT else [self.board]
        return ", ".join([f"{self.scenario} on {self.allocator}", *words])


@dataclass(frozen=True)
class Matrix:
    """A matrix that was read: `text` is the file's bytes."""

    path: Path
    text: bytes
    _document: Document
    _file: _File
    names: Mapping[str, str] = field(default_factory=dict)
    """What the allocators that are given by path are called."""
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
        """True if every allocator is asked for that can run it."""
        return self._file.allocators == [EVERY]

    def without(self, allocators: Iterable[str]) -> Matrix:
        """The same matrix without some allocators. Raises CampaignError if nothing is left."""
        matrix = replace(self, left_out=frozenset(allocators))
        if next(matrix.points(), None) is None:
            words = "There is nothing to run: everything is excluded, or no allocator can run it."
            raise self._document.complain(words)
        return matrix

    def points(self) -> Iterator[Point]:
        """All that is to be run, each once, those of one plan together."""
        file = self._file
        draws = {name: self._draws(name) for name in file.scenarios}
        allocators = self._allocators(file.allocators)
        knobs_of = {name: _distinct(file.knobs or [{}], _knobs_key(name)) for name in allocators}
        for (name, parameters), heap in product(self._asked_plans(), _or_default(file.heap_bytes)):
            # One that draws nothing runs once, whatever the seeds.
            seeds = _or_default(file.seeds if draws[name] else None)
            for board, seed, allocator, locking, art in product(
                _distinct(file.boards or [boards.DEFAULT]),
                seeds,
                allocators,
                _or_default(file.locking),
                _distinct(file.art or ["on"]),
            ):
                for knobs, rate, place in product(
                    knobs_of[allocator], _or_default(file.samplerate), range(file.placements)
                ):
                    asked = (name, allocator, parameters, seed, heap, art, locking, knobs, rate, place)
                    point = Point(*asked, board)
                    if not self._leaves_out(point):
                        yield point

    def _asked_plans(self) -> list[tuple[str, dict[str, Value]]]:
        """Scenarios and parameters: of those that come to the same only the first."""
        asked = product(self._file.scenarios, self._file.parameters or [{}])
        return _distinct(list(asked), lambda pair: self._plan_key(*pair))

    def _plan_key(self, name: str, parameters: dict[str, Value]) -> str:
        """Equal where the plans are equal, whatever the seed and the heap."""
        try:
            found = catalogue.load(self._place(name), parameters)
        except TailscopeError:  # it is refused, or left out, where it is to be run
            return repr((name, parameters))
        generator = found.generator
        return repr((found.name, found.stimulus, type(generator), asdict(generator), generator.origin()))

    def _leaves_out(self, point: Point) -> bool:
        excluded = any(self._excludes(table, point) for table in self._file.exclude)
        return excluded or point.allocator in self.left_out

    def _excludes(self, table: _Exclude, point: Point) -> bool:
        """True if each key that the table has lists the value of the point."""
        values: dict[str, Any] = {_KEYS.get(name, name): value for name, value in asdict(point).items()}
        asked = table.model_dump(exclude_none=True)
        if "allocators" in asked:
            asked["allocators"] = self._allocators(asked["allocators"])
        return bool(asked) and all(values[key] in listed for key, listed in asked.items())

    def _allocators(self, wanted: list[str] | None) -> list[str]:
        """Each once; `all` is every one of the catalogue that can be linked here."""
        if wanted is None:
            return list(DEFAULT_ALLOCATORS)
        own = allocators_of.own()
        every = [name for name, row in own.items() if row.missing_checkout() is None]
        named = [self.names.get(one, one) for one in wanted]
        return _distinct([name for one in named for name in (every if one == EVERY else [one])])

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
        return CampaignError(str(self._document.complain(words, *self._culprit(point))))

    def _culprit(self, point: Point) -> tuple[str | int, ...]:
        """The place in the file of parameters or knobs that nobody has, else of the scenarios."""
        file = self._file
        try:
            catalogue.load(self._place(point.scenario), point.parameters)
        except TailscopeError:
            if file.parameters and point.parameters in file.parameters:
                return "parameters", file.parameters.index(point.parameters)
        known = allocators_of.allocators()[point.allocator].knobs
        if file.knobs and point.knobs in file.knobs and {name.upper() for name in point.knobs} - known.keys():
            return "knobs", file.knobs.index(point.knobs)
        return ("scenarios",)

    def _check_seeds(self, name: str) -> None:
        """Tries the least and the greatest. Raises CampaignError."""
        seeds = self._file.seeds or []
        for seed in {min(seeds), max(seeds)} if seeds and self._draws(name) else ():
            try:
                catalogue.load(self._place(name), seed=seed)
            except TailscopeError as error:
                raise self._document.complain(str(error), "seeds", seeds.index(seed)) from None

    def _draws(self, name: str) -> bool:
        """True if a scenario draws random numbers. Raises TailscopeError."""
        return catalogue.load(self._place(name)).seed is not None

    def _place(self, name: str) -> str:
        return str(self.path.parent / name) if name.endswith(".toml") else name


def read(path: Path) -> Matrix:
    """Reads and checks a matrix. Raises CampaignError with file, line and key."""
    document = open_toml(path, CampaignError)
    file = document.check(_File)
    _check_size(document, file)
    matrix = Matrix(path, path.read_bytes(), document, file, _admitted(document, file))
    for number, name in enumerate(file.scenarios):
        try:
            matrix._draws(name)
        except TailscopeError as error:
            raise document.complain(str(error), "scenarios", number) from None
        matrix._check_seeds(name)
    return matrix.without(())


def _check_size(document: Document, file: _File) -> None:
    """Raises CampaignError where even to count the combinations would take too long."""
    every = len(allocators_of.own())
    allocators = [every if one == EVERY else 1 for one in file.allocators or DEFAULT_ALLOCATORS]
    lists = (file.seeds, file.parameters, file.heap_bytes, file.art, file.locking, file.knobs, file.boards)
    sizes = [len(listed or [None]) for listed in (file.scenarios, *lists, file.samplerate)]
    count = prod(sizes) * sum(allocators) * file.placements
    if count > MOST_COMBINATIONS:
        raise document.complain(
            f"The lists have {count:,} combinations, and a campaign has at most {MOST_COMBINATIONS:,}: "
            "shorten them, or give several campaigns a part each.",
            "scenarios",
        )


def _admitted(document: Document, file: _File) -> dict[str, str]:
    """The names of the allocators that are given by path, which this process knows from now on."""
    lists = [("allocators", file.allocators)]
    paths = [word for _, listed in lists for word in listed or () if outside.is_path(word)]
    beside = [outside.beside(word, document.path.parent) for word in paths]
    try:
        return dict(zip(paths, outside.admit_each(beside), strict=True))
    except OutsideError as error:
        raise document.complain(str(error), "allocators") from None


def _or_default(listed: Sequence[T] | None) -> Sequence[T | None]:
    """Each once. None is the default of whoever is asked next."""
    return _distinct(listed) if listed is not None else [None]


def _distinct(listed: Iterable[T], key: Callable[[T], Hashable] = repr) -> list[T]:
    """The first of those that have the same key, in their order."""
    found: dict[Hashable, T] = {}
    for one in listed:
        found.setdefault(key(one), one)
    return list(found.values())


def _knobs_key(allocator: str) -> Callable[[dict[str, int]], Hashable]:
    """Equal where knobs come to the same build."""
    defaults = allocators_of.allocators()[allocator].knobs
    return lambda knobs: repr(
        sorted({**defaults, **{name.upper(): value for name, value in knobs.items()}}.items())
    )


_KEYS = {"scenario": "scenarios", "allocator": "allocators", "seed": "seeds", "board": "boards"}
