"""matrix.toml: what a campaign runs (docs/reference/campaign-folder.md)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import islice, product
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
from firmware.build.placement import MOST as MOST_PLACEMENTS
from scenarios import catalogue
from scenarios.parameters import Value
from scenarios.scenario import Scenario

EVERY = "all"
DEFAULT_ALLOCATORS = ("seglist", "tlsf")
DEFAULT_SHARE = 0.01
MOST_POINTS = 100_000
"""Each leaves a file; a direct run takes about 0.3 s of a core."""

Capture = Literal["sigrok", "direct"]
"""By the real tools, or straight from the simulator (capture/acquisition/direct.py)."""

T = TypeVar("T")
Listed = Annotated[list[T], Field(min_length=1)]


def _one_of(
    names: Callable[[], Collection[str]], is_path: Callable[[str], bool] = lambda _: False
) -> AfterValidator:
    def check(word: str) -> str:
        if not is_path(word) and word not in names():
            raise not_among(word, names())
        return word

    return AfterValidator(check)


ScenarioName = Annotated[str, _one_of(catalogue.names, lambda name: name.endswith(".toml"))]
AllocatorName = Annotated[str, _one_of(lambda: (EVERY, *allocators_of.own()), outside.is_path)]
BoardName = Annotated[str, _one_of(boards.names)]
"""Of the boards that come with the bench: a worker of a cluster has no other ones."""
HeapBytes = Annotated[int, Field(gt=0, le=1 << 32)]
Samplerate = Annotated[int, Field(ge=10, le=200_000_000)]
"""What the virtual analyzer can have: servers/beaglelogic.rs of the simulator."""


class _Settings(Table):
    """Lists of settings: at the top of the file what is run, in `exclude` what is left out."""

    allocators: Listed[AllocatorName] | None = None
    """Of the catalogue, or PATH or NAME=PATH of a C file, which begins at the matrix; `all` is
    every one that can run all of it; seglist and tlsf if absent.
    """
    boards: Listed[BoardName] | None = None
    """Of firmware/boards, simulated; nucleo-f401re if absent."""
    seeds: Listed[int] | None = None
    """For scenarios that have a seed; any other runs once."""
    parameters: Listed[dict[str, int | str]] | None = None
    """Tables NAME = VALUE of the scenarios."""
    heap_bytes: Listed[HeapBytes] | None = None
    """Of the region."""
    art: Listed[Literal["on", "off"]] | None = None
    locking: Listed[Locking] | None = None
    knobs: Listed[dict[str, int]] | None = None
    """Tables NAME = VALUE of the allocators' builds."""
    samplerate: Listed[Samplerate] | None = None
    """Samples per second."""


class _Exclude(_Settings):
    placement: Listed[Annotated[int, Field(ge=0, lt=MOST_PLACEMENTS)]] | None = None
    scenarios: Listed[ScenarioName] | None = None


class _File(_Settings):
    scenarios: Listed[ScenarioName]
    """Names, or paths that end in .toml and begin at the matrix."""
    placements: Annotated[int, Field(ge=1, le=MOST_PLACEMENTS)] = 1
    """How many times each image is linked."""
    capture: Capture = "sigrok"
    verify: Annotated[float, Field(ge=0, le=1)] | None = None
    """The share of the direct runs that sigrok-cli makes, too; 0.01 if absent."""
    exclude: list[_Exclude] = Field(default_factory=list)
    """A combination is left out where each key of such a table lists its value."""

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
        """All that is to be run, those of one plan together. Two may come to the same run."""
        file = self._file
        draws = {name: self._draws(name) for name in file.scenarios}
        for name, parameters, heap_bytes in product(
            _distinct(file.scenarios), _distinct(file.parameters or [{}]), _or_default(file.heap_bytes)
        ):
            for board, seed, allocator, locking, art, knobs, samplerate, placement in product(
                _distinct(file.boards or [boards.DEFAULT]),
                # A scenario that draws nothing runs once, whatever the seeds.
                _or_default(file.seeds if draws[name] else None),
                self._allocators(file.allocators),
                _or_default(file.locking),
                _distinct(file.art or ["on"]),
                _distinct(file.knobs or [{}]),
                _or_default(file.samplerate),
                range(file.placements),
            ):
                point = Point(
                    name, allocator, parameters, seed, heap_bytes, art, locking, knobs, samplerate,
                    placement, board,
                )  # fmt: skip
                excluded = any(self._excludes(table, point) for table in file.exclude)
                if not excluded and point.allocator not in self.left_out:
                    yield point

    def _excludes(self, table: _Exclude, point: Point) -> bool:
        """True if each key that the table has lists the value of the point."""
        values: dict[str, Any] = {_KEYS.get(name, name): value for name, value in asdict(point).items()}
        lists = table.model_dump(exclude_none=True)
        if "allocators" in lists:
            lists["allocators"] = self._allocators(lists["allocators"])
        return bool(lists) and all(values[key] in listed for key, listed in lists.items())

    def _allocators(self, wanted: list[str] | None) -> list[str]:
        """Each once; `all` is every one of the catalogue that can be linked here."""
        if wanted is None:
            return list(DEFAULT_ALLOCATORS)
        own = allocators_of.own()
        every = [name for name, row in own.items() if row.missing_checkout() is None]
        names = [self.names.get(word, word) for word in wanted]
        return _distinct([each for name in names for each in (every if name == EVERY else [name])])

    def count(self) -> int:
        """How many points there are; of more than MOST_POINTS it counts no further."""
        return sum(1 for _ in islice(self.points(), MOST_POINTS + 1))

    def scenario(self, point: Point) -> Scenario:
        """The scenario of a point. A path is that beside the matrix. Raises TailscopeError."""
        return catalogue.load(
            self._place(point.scenario),
            point.parameters,
            seed=point.seed,
            heap_bytes=point.heap_bytes,
            core_hz=boards.board(point.board).core_hz,
        )

    def refusal(self, point: Point, why: TailscopeError) -> CampaignError:
        """The error that a point cannot be run, and what to do."""
        words = f"{point.title} cannot be run: {why} Mend it, or leave it out by [[exclude]]."
        return CampaignError(str(self._document.complain(words)))

    def _draws(self, name: str) -> bool:
        """True if a scenario draws random numbers. Raises TailscopeError."""
        return catalogue.load(self._place(name)).seed is not None

    def _place(self, name: str) -> str:
        return str(self.path.parent / name) if name.endswith(".toml") else name


def read(path: Path) -> Matrix:
    """Reads and checks a matrix. Raises CampaignError with file and key."""
    document = open_toml(path, CampaignError)
    file = document.check(_File)
    # The allocators that are given by path this process knows from now on.
    paths = [word for word in file.allocators or () if outside.is_path(word)]
    beside = [outside.beside(word, path.parent) for word in paths]
    try:
        admitted = dict(zip(paths, outside.admit_each(beside), strict=True))
        matrix = Matrix(path, path.read_bytes(), document, file, admitted)
        for name in file.scenarios:
            seeds = file.seeds if matrix._draws(name) and file.seeds else ()
            for seed in {min(seeds), max(seeds)} if seeds else ():
                catalogue.load(matrix._place(name), seed=seed)
    except TailscopeError as error:
        raise document.complain(str(error)) from None
    if matrix.count() > MOST_POINTS:
        raise document.complain(
            f"The lists have more than {MOST_POINTS:,} combinations: shorten them, or give several campaigns "
            "a part each."
        )
    return matrix.without(())


def _or_default(listed: Sequence[T] | None) -> Sequence[T | None]:
    """Each once. None is the default of whoever is asked next."""
    return _distinct(listed) if listed is not None else [None]


def _distinct(listed: Iterable[T]) -> list[T]:
    """Each once, in their order."""
    return list({repr(value): value for value in listed}.values())


_KEYS = {"scenario": "scenarios", "allocator": "allocators", "seed": "seeds", "board": "boards"}
