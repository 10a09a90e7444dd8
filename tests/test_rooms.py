"""Each room imports only the rooms that stand above it in this list (docs/DESIGN.md)."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent

# The lowest room comes first. Rooms in one line do not import each other. A file belongs to the
# room with the longest name that its own name begins with.
ORDER: tuple[tuple[str, ...], ...] = (
    ("capture.processes",),
    ("capture.files",),
    ("analysis.metrology",),
    ("capture.run_folder",),
    ("scenarios", "firmware"),
    ("simulator", "analysis.timeline"),
    ("recording",),
    ("capture.desk", "capture.reading", "capture.importing"),
    ("capture.acquisition", "capture.instruments"),
    ("capture.joining", "capture.survey", "capture.wiring"),
    ("capture.verdict",),
    ("capture.summary",),
    ("capture",),
    ("analysis.explain",),
    ("analysis.bounds",),
    ("dashboards.caveats", "dashboards.formatting"),
    ("dashboards.loaded", "dashboards.index"),
    ("dashboards.waveforms",),
    ("dashboards.figures",),
    ("dashboards.pages.blocks",),
    ("dashboards.tables",),
    ("dashboards.headline", "dashboards.page"),
    ("dashboards.pages",),
    (
        "analysis",
        *("analysis.studies", "analysis.faults", "analysis.fragmentation", "analysis.mutants"),
        *("analysis.worst", "analysis.twin", "analysis.soak", "analysis.masks", "analysis.compare"),
        *("decoders", "dashboards"),
    ),
    ("dashboards.tradeoff", "analysis.adversary", "analysis.latency", "analysis.gate", "analysis.campaign"),
    ("dashboards.twin", "dashboards.masks", "dashboards.compare"),
    ("analysis.reproduce",),
    ("dashboards.reproduced",),
    ("console",),
    ("tasks",),
)
LEVEL = {room: level for level, rooms in enumerate(ORDER) for room in rooms}


def room_of(module: str) -> str | None:
    """The room that a module belongs to; None if it is not of this project."""
    parts = module.split(".")
    names = (".".join(parts[:length]) for length in range(len(parts), 0, -1))
    return next((name for name in names if name in LEVEL), None)


def sources() -> Iterator[Path]:
    """All Python files of the rooms except tests, which may import anything."""
    tops = sorted({room.split(".")[0] for room in LEVEL} - {"tasks"})
    yield ROOT / "tasks.py"
    for top in tops:
        for path in sorted((ROOT / top).rglob("*.py")):
            if not {"tests", "target", "build"} & set(path.relative_to(ROOT).parts):
                yield path


def imported(path: Path) -> set[str]:
    """The modules that a file imports, also inside functions."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
    return found


def upward(path: Path) -> list[str]:
    """A sentence for each import of a file that leads to a room above its own, or beside it."""
    module = ".".join(path.relative_to(ROOT).with_suffix("").parts)
    own = room_of(module)
    assert own is not None
    return [
        f"{module} ({own}) imports {name} ({other})"
        for name in sorted(imported(path))
        if (other := room_of(name)) is not None and other != own and LEVEL[other] >= LEVEL[own]
    ]


def test_no_import_runs_back_up() -> None:
    found = [sentence for path in sources() for sentence in upward(path)]
    assert not found, "\n".join(found)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("from capture.summary import summary", 1),
        ("import dashboards.report", 1),
        ("from analysis.metrology import quantiles", 0),
        ("from scenarios.plan import Plan", 0),
        ("def late():\n    from console import options", 1),
    ],
)
def test_an_import_that_runs_up_is_found(
    line: str, expected: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "capture" / "joining" / "join.py"
    path.parent.mkdir(parents=True)
    path.write_text(line, encoding="utf-8")
    monkeypatch.setattr("tests.test_rooms.ROOT", tmp_path)
    assert len(upward(path)) == expected


def test_every_file_has_a_room() -> None:
    assert all(room_of(".".join(path.relative_to(ROOT).with_suffix("").parts)) for path in sources())


def test_the_order_names_each_room_once() -> None:
    names = sorted(room for rooms in ORDER for room in rooms)
    assert all(one != other for one, other in pairwise(names))
