"""matrix.toml: what a campaign runs (docs/reference/campaign-folder.md)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
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
_SHARE = 0.01
MOST_POINTS = 100_000
"""Each leaves a file; a direct run takes about 0.3 s of a core."""

Capture = Literal["sigrok", "direct"]
"""By the real tools, or straight from the simulator (capture/acquisition/direct.py)."""

T = TypeVar("T")
Listed = Annotated[list[T], Field(min_length=1)]


def _one_of(names: Callable[[], Collection[str]]) -> AfterValidator:
    def check(word: str) -> str:
        if not _is_path(word) and word not in names():
            raise not_among(word, names())
        return word

    return AfterValidator(check)


def _is_path(word: str) -> bool:
    return word.endswith(".toml") or outside.is_path(word)


ScenarioName = Annotated[str, _one_of(catalogue.names)]
AllocatorName = Annotated[str, _one_of(lambda: (EVERY, *allocators_of.own()))]
BoardName = Annotated[str, _one_of(boards.names)]
"""Of the boards that come with the bench: a worker of a cluster has no other ones."""
HeapBytes = Annotated[int, Field(gt=0, le=1 << 32)]
Samplerate = Annotated[int, Field(ge=10, le=200_000_000)]
"""What the virtual analyzer can have: servers/beaglelogic.rs of the simulator."""


class _Settings(Table):
    """Lists of settings: at the top of the file what is run, in `exclude` what is left out."""

    allocators: Listed[AllocatorName] = Field(default=["seglist", "tlsf"])
    """Of the catalogue, or PATH or NAME=PATH of a C file, which begins at the matrix; `all` is
    every one that can run all of it.
    """
    boards: Listed[BoardName] = Field(default=[boards.DEFAULT])
    """Of firmware/boards, simulated."""
    seeds: Listed[Annotated[int, Field(ge=1, lt=1 << 32)] | None] = Field(default=[None])
    """For scenarios that have a seed; any other runs once."""
    parameters: Listed[dict[str, int | str]] = Field(default=[{}])
    """Tables NAME = VALUE of the scenarios."""
    heap_bytes: Listed[HeapBytes | None] = Field(default=[None])
    """Of the region."""
    art: Listed[Literal["on", "off"]] = Field(default=["on"])
    locking: Listed[Locking | None] = Field(default=[None])
    knobs: Listed[dict[str, int]] = Field(default=[{}])
    """Tables NAME = VALUE of the allocators' builds."""
    samplerate: Listed[Samplerate | None] = Field(default=[None])
    """Samples per second."""


class _Exclude(_Settings):
    placement: Listed[Annotated[int, Field(ge=0, lt=MOST_PLACEMENTS)]] = Field(default_factory=list)
    scenarios: Listed[ScenarioName] = Field(default_factory=list)


class File(_Settings):
    """The whole of matrix.toml."""

    scenarios: Listed[ScenarioName]
    """Names, or paths that end in .toml and begin at the matrix."""
    placements: Annotated[int, Field(ge=1, le=MOST_PLACEMENTS)] = 1
    """How many times each image is linked."""
    capture: Capture = "sigrok"
    verify: Annotated[float, Field(ge=0, le=1)] = _SHARE
    """The share of the direct runs that sigrok-cli makes, too."""
    exclude: list[_Exclude] = Field(default_factory=list)
    """A combination is left out where each key of such a table lists its value."""

    @model_validator(mode="after")
    def _verifies_direct_runs(self) -> File:
        if "verify" in self.model_fields_set and self.capture != "direct":
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
        """A few words for people: what is not the default."""
        usual = asdict(Point(self.scenario, self.allocator, self.parameters, knobs=self.knobs))
        other = {name: value for name, value in asdict(self).items() if value != usual[name]}
        words = [f"{name}={value}" for name, value in {**self.parameters, **self.knobs, **other}.items()]
        return ", ".join([f"{self.scenario} on {self.allocator}", *words])


@dataclass(frozen=True)
class Matrix:
    """A matrix that was read: `text` is the file's bytes. `draws` has the scenarios that draw
    random numbers, `names` what the allocators that are given by path are called, and `left_out`
    those that cannot run what is asked, where all were asked for.
    """

    path: Path
    text: bytes
    _document: Document
    file: File
    draws: Collection[str]
    names: Mapping[str, str]
    left_out: frozenset[str] = frozenset()

    def without(self, allocators: Iterable[str]) -> Matrix:
        """The same matrix without some allocators. Raises CampaignError if nothing is left."""
        matrix = replace(self, left_out=frozenset(allocators))
        if next(matrix.points(), None) is None:
            raise self._document.complain(
                "There is nothing to run: everything is excluded, or no allocator can run it."
            )
        return matrix

    def points(self) -> Iterator[Point]:
        """All that is to be run, those of one plan together. Two may come to the same run."""
        file = self.file
        for scenario in _distinct(file.scenarios):
            lists: dict[str, Iterable[Any]] = {
                "parameters": file.parameters,
                "heap_bytes": file.heap_bytes,
                "board": file.boards,
                # A scenario that draws nothing runs once, whatever the seeds.
                "seed": file.seeds if scenario in self.draws else [None],
                "allocator": self._allocators(file.allocators),
                "locking": file.locking,
                "art": file.art,
                "knobs": file.knobs,
                "samplerate": file.samplerate,
                "placement": range(file.placements),
            }
            for values in product(*map(_distinct, lists.values())):
                point = Point(scenario, **dict(zip(lists, values, strict=True)))
                excluded = any(self._excludes(table, point) for table in file.exclude)
                if not excluded and point.allocator not in self.left_out:
                    yield point

    def _excludes(self, table: _Exclude, point: Point) -> bool:
        """True if each key that the table has lists the value of the point."""
        values: dict[str, Any] = {_KEYS.get(name, name): value for name, value in asdict(point).items()}
        lists = table.model_dump(exclude_unset=True)
        if "allocators" in lists:
            lists["allocators"] = self._allocators(lists["allocators"])
        return bool(lists) and all(values[key] in listed for key, listed in lists.items())

    def _allocators(self, wanted: list[str]) -> list[str]:
        """Each once; `all` is every one of the catalogue that can be linked here."""
        every = [name for name, row in allocators_of.own().items() if row.missing_checkout() is None]
        names = [self.names.get(word, word) for word in wanted]
        return _distinct([each for name in names for each in (every if name == EVERY else [name])])

    def count(self) -> int:
        """How many points there are; of more than MOST_POINTS it counts no further."""
        return sum(1 for _ in islice(self.points(), MOST_POINTS + 1))

    def scenario(self, point: Point) -> Scenario:
        """The scenario of a point. A path is that beside the matrix. Raises TailscopeError."""
        return catalogue.load(
            _place(self.path, point.scenario),
            point.parameters,
            seed=point.seed,
            heap_bytes=point.heap_bytes,
            core_hz=boards.board(point.board).core_hz,
        )

    def refusal(self, point: Point, why: TailscopeError) -> CampaignError:
        """The error that a point cannot be run, and what to do."""
        words = f"{point.title} cannot be run: {why} Mend it, or leave it out by [[exclude]]."
        return CampaignError(str(self._document.complain(words)))


def _place(matrix: Path, name: str) -> str:
    return str(matrix.parent / name) if name.endswith(".toml") else name


def read(path: Path) -> Matrix:
    """Reads and checks a matrix. Raises CampaignError with file and key."""
    document = open_toml(path, CampaignError)
    file = document.check(File)
    # The allocators that are given by path this process knows from now on.
    paths = [word for word in file.allocators if outside.is_path(word)]
    try:
        admitted = outside.admit_each([outside.beside(word, path.parent) for word in paths])
        draws = {name for name in file.scenarios if catalogue.load(_place(path, name)).seed is not None}
    except TailscopeError as error:
        raise document.complain(str(error)) from None
    matrix = Matrix(path, path.read_bytes(), document, file, draws, dict(zip(paths, admitted, strict=True)))
    if matrix.count() > MOST_POINTS:
        raise document.complain(
            f"The lists have more than {MOST_POINTS:,} combinations: shorten them, or give several campaigns "
            "a part each."
        )
    return matrix.without(())


def _distinct(listed: Iterable[T]) -> list[T]:
    """Each once, in their order."""
    return list({repr(value): value for value in listed}.values())


_KEYS = {"scenario": "scenarios", "allocator": "allocators", "seed": "seeds", "board": "boards"}
