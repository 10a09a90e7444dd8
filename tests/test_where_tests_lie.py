"""A room's test lies in `<room>/tests/test_<module>.py`, so that whoever changes a module finds it.

The module is a file or folder of the room, or of a room below it. A test of several says so in its
first line: `# spans: analysis/campaign, capture/store.py`. What spans rooms may lie in tests/ here.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from base.paths import ROOT

ROOMS = sorted(path.parent for path in ROOT.glob("*/__init__.py") if path.parent.name != "tests")
SOURCES = {".py", ".c", ".h", ".rs", ""}
SPANS = "# spans: "


def modules(room: Path) -> set[str]:
    """The names of what the room has: stems of sources and names of folders, but no tests."""
    found = (path.relative_to(room) for path in room.rglob("*") if path.suffix in SOURCES)
    return {path.stem for path in found if not {"tests", "target", "__pycache__"} & set(path.parts)}


def misplaced(room: Path) -> list[str]:
    """The tests of the room that are of no module, and that name none."""
    wrong = []
    for tests in sorted(path for path in room.rglob("tests") if path.is_dir()):
        known = modules(tests.parent)
        for test in sorted(tests.glob("test_*.py")):
            head = test.read_text(encoding="utf-8").partition("\n")[0]
            named = head.removeprefix(SPANS).split(", ") if head.startswith(SPANS) else []
            if named:
                wrong += [f"{test}: {name} is not there" for name in named if not (ROOT / name).exists()]
            elif test.stem.removeprefix("test_") not in known:
                wrong.append(
                    f"{test}: {tests.parent.name} has no module of this name, and no first line `{SPANS}…`"
                )
    return wrong


@pytest.mark.parametrize("room", ROOMS, ids=lambda room: room.name)
def test_each_test_is_named_after_what_it_tests(room: Path) -> None:
    assert misplaced(room) == []


def test_no_test_lies_beside_its_module() -> None:
    tests = [path for room in ROOMS for path in room.rglob("test_*.py")]
    assert [test for test in tests if test.parent.name != "tests"] == []
