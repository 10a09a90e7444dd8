"""What the words of a page mean, read from docs/reference/words.md, where each has its one home."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache

from base.paths import ROOT

HOME = ROOT / "docs" / "reference" / "words.md"
_SECTION = "## Words that pages explain"
_HEAD, _CELLS = "word", 4


@dataclass(frozen=True)
class Piece:
    """A stretch of a text; `means` is empty where it is no word of the glossary."""

    text: str
    means: str = ""


@dataclass(frozen=True)
class Word:
    """One spelling of a word. `everyday` ones are English too, and are marked in tables only."""

    spelling: str
    means: str
    everyday: bool


@cache
def glossary() -> Mapping[str, Word]:
    """The words by their spelling in lower case; nothing without the page."""
    return parse(HOME.read_text(encoding="utf-8")) if HOME.is_file() else {}


def parse(page: str) -> dict[str, Word]:
    """The glossary that a page such as HOME has."""
    before, _, section = page.partition(_SECTION)
    above: dict[str, str] = {}
    for row in _rows(before):
        if len(row) > 1:
            above.setdefault(row[0], row[1])
    words = {}
    for row in _rows(section.partition("\n## ")[0]):
        if len(row) != _CELLS or row[0] == _HEAD:
            continue
        word, others, where, means = row
        for spelling in (
            word,
            *(other_spelling.strip() for other_spelling in others.split(",") if other_spelling.strip()),
        ):
            words[spelling.lower()] = Word(spelling, means or above.get(word, ""), where == "tables")
    return words


def _rows(text: str) -> Iterator[list[str]]:
    """The cells of the tables' rows, without the lines below their heads, as plain text."""
    for line in text.splitlines():
        if line.startswith("|") and not line.startswith("|--"):
            yield [_plain(cell) for cell in line.strip().strip("|").split("|")]


def _plain(cell: str) -> str:
    """A cell without Markdown's links and marks."""
    return re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", cell).replace("`", "").replace("*", "").strip()


@cache
def _pattern() -> re.Pattern[str] | None:
    words = sorted(glossary(), key=len, reverse=True)
    if not words:
        return None
    return re.compile(rf"(?<![\w.-])(?:{'|'.join(map(re.escape, words))})(?![\w-]|\.\w)", re.IGNORECASE)


def marked(text: str, *, prose: bool = False) -> list[Piece]:
    """`text` in pieces: each word of the glossary where it first stands, and what is between.

    Capitals are told apart where the glossary has them: ART is no art.
    """
    pattern, met, at = _pattern(), set(), 0
    pieces: list[Piece] = []
    for match in pattern.finditer(text) if pattern else ():
        word = glossary()[match[0].lower()]
        capital = word.spelling.isupper() and match[0] != word.spelling
        if word.means in met or capital or (prose and word.everyday):
            continue
        met.add(word.means)
        pieces += [Piece(text[at : match.start()])] if match.start() > at else []
        pieces.append(Piece(match[0], word.means))
        at = match.end()
    return [*pieces, *([Piece(text[at:])] if at < len(text) else [])]
