"""docs/how-to/troubleshooting.md quotes what the bench says: each must stand in its source."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from base.paths import ROOT
from tests.tables import table

pytestmark = pytest.mark.docs

PAGE = ROOT / "docs" / "how-to" / "troubleshooting.md"
ROOMS = ("base", "scenarios", "firmware", "simulator", "capture", "analysis", "cli")
QUOTED = re.findall(r"^> (.+)$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
VALUE = "…"


def literals(source: str) -> Iterator[str]:
    """Each text of a program, with VALUE for what is filled in."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value
        elif isinstance(node, ast.JoinedStr):
            yield "".join(
                str(part.value) if isinstance(part, ast.Constant) else VALUE for part in node.values
            )


@cache
def said() -> tuple[str, ...]:
    """All that the bench can say, from its sources without their tests."""
    paths = (path for room in ROOMS for path in sorted((ROOT / room).rglob("*.py")))
    sources = [path for path in paths if not {"tests", "target"} & set(path.relative_to(ROOT).parts)]
    texts = (text for path in sources for text in literals(Path(path).read_text(encoding="utf-8")))
    return tuple({text for text in texts if " " in text})


def stands(quote: str) -> bool:
    """Whether a text of the bench reads so; values of both may stand for more, or for nothing."""
    pattern = re.compile(".*".join(re.escape(part) for part in quote.split(VALUE)))
    return any(pattern.fullmatch(text) for text in said())


def test_the_page_quotes_something() -> None:
    assert len(QUOTED) >= 20
    assert len(set(QUOTED)) == len(QUOTED)


@pytest.mark.parametrize("quote", QUOTED)
def test_each_sentence_still_stands_in_the_source(quote: str) -> None:
    assert stands(quote), "The bench says this no more: mend docs/how-to/troubleshooting.md."


@table
def test_a_sentence_that_reads_otherwise_is_told(quote: str, expected: bool) -> None:
    assert stands(quote) is expected
