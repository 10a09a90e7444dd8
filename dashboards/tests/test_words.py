"""Words and numbers as pages have them: times, names, the glossary, and the guide to the pages."""

from __future__ import annotations

import re

import pytest

from base.microseconds import digits, microseconds, signed
from base.paths import ROOT
from dashboards.formatting import spoken
from dashboards.glossary import HOME, glossary, marked, parse
from dashboards.page.templates import terms
from dashboards.pages.catalogue import TITLES


@pytest.mark.parametrize(
    ("ns", "read", "change"),
    [
        (33_952.38, "33.95", "+33.95"),
        (1_234_567.8, "1,234.57", "+1,234.57"),
        (11.9, "0.01", "+0.01"),
        # Two decimals would make nothing of these.
        (4.76, "0.005", "+0.005"),
        (-0.43, "-0.0004", "−0.0004"),
        (0.0, "0.00", "0.00"),
        (0.0006, "0.00", "+0.00"),
        (-881.2, "-0.88", "−0.88"),
    ],
)
def test_a_time_has_two_decimals_of_a_microsecond(ns: float, read: str, change: str) -> None:
    assert (digits(ns), signed(ns)) == (read, change)
    assert microseconds(ns) == f"{read} µs"


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("tlsf", "tlsf"),
        ("tlsf, primask, heap 4,096, nucleo-f072rb", "tlsf with primask, heap 4,096 and nucleo-f072rb"),
        ("mine, from outside, 1a2b3c4d, ART off", "mine 1a2b3c4d from outside with ART off"),
        ("tlsf, ART off, imported from x.csv (depth 8)", "tlsf with ART off, imported from x.csv (depth 8)"),
    ],
)
def test_a_run_is_named_with_its_settings(name: str, sentence: str) -> None:
    assert spoken(name) == sentence


PAGE = """\
# Words
| word | what it is | unit |
|---|---|---|
| probes | free blocks that a [search](search.md) looked at | count |
| *other* | never asked for | |

## Words that pages explain
| word | also written | where | on a page it is |
|---|---|---|---|
| probes | probe, looks | | |
| clear | | tables | nothing was met |

## Next
| word | also written | where | on a page it is |
|---|---|---|---|
| not this | | | never |
"""


def test_a_word_without_words_of_its_own_has_those_of_the_table_above() -> None:
    words = parse(PAGE)
    assert {name: (word.means, word.everyday) for name, word in words.items()} == {
        "probes": ("free blocks that a search looked at", False),
        "probe": ("free blocks that a search looked at", False),
        "looks": ("free blocks that a search looked at", False),
        "clear": ("nothing was met", True),
    }
    assert parse("# Words\n") == {}


def test_every_word_of_the_page_says_what_it_is() -> None:
    assert len(glossary()) > 20
    assert [word.spelling for word in glossary().values() if not word.means] == []
    section = HOME.read_text(encoding="utf-8").partition("## Words that pages explain")[2]
    rows = [line for line in section.partition("\n## ")[0].splitlines() if line.startswith("| ")]
    assert {row.split("|")[1].strip().lower() for row in rows[1:]} <= set(glossary())


def test_a_word_is_marked_once_and_as_a_whole() -> None:
    def words(text: str, *, prose: bool = False) -> list[str]:
        return [piece for piece, means in marked(text, prose=prose) if means]

    assert words("Probes: 3 probes, probed") == ["Probes"]
    assert words("critical section hit") == ["critical section hit"]
    assert words("p99.9 of n") == ["p99.9", "n"]
    assert words("the art of ART") == ["ART"]
    assert words("heap_live, live-bytes, live") == ["live"]
    assert words("They met in clear weather", prose=True) == []
    assert "".join(piece for piece, _ in marked("a probe of n and ART")) == "a probe of n and ART"
    assert [*marked("nothing")] == [("nothing", "")]


def test_what_a_file_says_stays_text() -> None:
    assert str(terms("<b>probes")) == (
        f'&lt;b&gt;<dfn class="term" title="{glossary()["probes"].means}">probes</dfn>'
    )


GUIDE = ROOT / "docs" / "how-to" / "dashboard.md"


@pytest.mark.docs
def test_every_page_is_explained_and_no_other() -> None:
    titles = [title for key, title in TITLES.items() if key not in ("runs", "run")]
    matches = re.findall(r"^\*\*([^*]+)\*\*: ", GUIDE.read_text(encoding="utf-8"), re.MULTILINE)
    assert sorted(matches) == sorted(titles)
