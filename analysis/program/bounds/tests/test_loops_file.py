"""What a user says of loops and calls: the file, what is refused of it, and pragmas in a source."""

from __future__ import annotations

from pathlib import Path

import pytest

from analysis.errors import NoBoundError
from analysis.explain.program import Program
from analysis.program.bounds.loops_file import pragma_laps, read
from tests import masked_sections
from tests.tables import table

GOOD = """
schema = 1
[[loops]]
function = "walk"
line = "a.c:3"
at_most = 7
why = "x"
[[loops]]
function = "walk"
at_most = 20
why = "x"
[[loops]]
line = "b.c:9"
at_most = 0
why = "x"
[[calls]]
function = "short_section"
to = ["levels", "doze"]
why = "x"
[[untaken]]
function = "on_fault"
why = "x"
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Program:
    return Program(masked_sections.build(tmp_path_factory.mktemp("program")))


def written(folder: Path, text: str) -> Path:
    path = folder / "loops.toml"
    path.write_text(text, encoding="utf-8")
    return path


def address(program: Program, name: str) -> int:
    (function,) = program.functions_named(name)
    return function.address


def test_a_loop_is_found_by_function_and_line_and_its_head_is_passed_once_more(
    program: Program, tmp_path: Path
) -> None:
    statements = read(written(tmp_path, GOOD), program, {})
    assert statements.passes("walk", {"a.c:3", "a.c:4"}) == 8
    assert statements.passes("walk", {"a.c:5"}) == 21
    assert statements.passes("other", {"b.c:9"}) == 1
    assert statements.passes("other", {"a.c:3"}) is None
    assert statements.hints("walk", {"a.c:3"}, []) is None


@table
def test_what_a_file_must_not_say_is_told_in_one_sentence(
    program: Program, tmp_path: Path, text: str, words: str
) -> None:
    with pytest.raises(NoBoundError) as raised:
        read(written(tmp_path, text), program, {})
    assert words in str(raised.value)
    assert "\n" not in str(raised.value) and len(str(raised.value)) < 1000


SOURCE = """int f(int n) {
    _Pragma("loopbound min 1 max 100")
    for (int i = 0; i < n; i++) {
        g(i);
        _Pragma( "loopbound min 0 max 8" )
        while (n)
            n = h("}", n);
    }
    _Pragma("loopbound min 1 max 5")
    do {
        n--;
    } while (n > 3);
    // _Pragma("loopbound min 1 max 1")
    while (n) n--;
    /* _Pragma("loopbound min 1 max 2")
    */ for (;;) n++;
    _Pragma("unroll 4")
    for (;;) n++;
}
"""


@table
def test_a_pragma_is_for_the_innermost_loop_around_the_lines(
    tmp_path: Path, lines: tuple[int, ...], at_most: int
) -> None:
    path = tmp_path / "f.c"
    path.write_text(SOURCE, encoding="utf-8")
    assert pragma_laps({"f.c": path})({f"f.c:{line}" for line in lines}) == at_most


def test_a_source_that_changed_is_read_anew(tmp_path: Path) -> None:
    path = tmp_path / "f.c"
    for most in (7, 70):
        path.write_text(f'_Pragma("loopbound min 1 max {most}")\nfor (;;) x++;\n', encoding="utf-8")
        assert pragma_laps({"f.c": path})({"f.c:2"}) == most


def test_a_function_that_calls_itself_is_stated_by_its_calls(program: Program, tmp_path: Path) -> None:
    text = 'schema = 1\n[[recursions]]\nfunction = "levels"\ncalls = 7\nwhy = "x"\n'
    assert read(written(tmp_path, text), program, {}).recursions == {"levels": 7}
