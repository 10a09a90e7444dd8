"""What the words of a page mean, read from docs/reference/words.md, where each has its one home."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import NamedTuple

from base.paths import ROOT

HOME = ROOT / "docs" / "reference" / "words.md"
_SECTION = "## Words that pages explain"
_HEAD, _CELLS = "word", 4


class Word(NamedTuple):
    """One spelling of a word. `everyday` ones are English too, and are marked in tables only."""

    spelling: str
    means: str
    everyday: bool


@cache
def glossary() -> Mapping[str, Word]:
    """The words by their spelling in lower case; nothing without the page."""
    return parse(HOME.read_text(encoding="utf-8")) if HOME.is_file() else {}


def parse(page: str) -> dict[str, Word]:
    """The glossary that a page such as HOME has. A word without a meaning of its own has that of
    the tables above.
    """
    before, _, section = page.partition(_SECTION)
    above = {row[0]: row[1] for row in reversed([*_rows(before)])}
    words = {}
    for row in _rows(section.partition("\n## ")[0]):
        if len(row) == _CELLS and row[0] != _HEAD:
            word, others, where, means = row
            for spelling in filter(None, (word, *map(str.strip, others.split(",")))):
                words[spelling.lower()] = Word(spelling, means or above.get(word, ""), where == "tables")
    return words


def _rows(text: str) -> Iterator[list[str]]:
    """The cells of the tables' rows as plain text, without links and marks of Markdown."""
    plain = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", text).replace("`", "").replace("*", "")
    for line in plain.splitlines():
        if line.startswith("|") and not line.startswith("|--"):
            yield [cell.strip() for cell in line.strip().strip("|").split("|")]


@cache
def _spellings() -> re.Pattern[str]:
    spellings = "|".join(map(re.escape, sorted(glossary(), key=len, reverse=True)))
    return re.compile(rf"(?<![\w.-])(?:{spellings})(?![\w-]|\.\w)", re.IGNORECASE)


def marked(text: str, *, prose: bool = False) -> Iterator[tuple[str, str]]:
    """`text` in pieces, and what each means: each word of the glossary where it first stands, and
    what is between, which means nothing.

    Capitals are told apart where the glossary has them: ART is no art.
    """
    met, at = set(), 0
    for match in _spellings().finditer(text):
        word = glossary().get(match[0].lower())
        capital = word is not None and word.spelling.isupper() and match[0] != word.spelling
        if word is None or word.means in met or capital or (prose and word.everyday):
            continue
        met.add(word.means)
        yield text[at : match.start()], ""
        yield match[0], word.means
        at = match.end()
    yield text[at:], ""
