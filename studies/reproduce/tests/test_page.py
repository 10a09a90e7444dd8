"""The page of published tables: what it shows of each."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from pathlib import Path

import pytest

from dashboards.tests.as_plotly import as_plotly
from studies.reproduce import figures, page, published
from studies.reproduce.beside import Beside, MadeFigure, Remade, beside

HOSTILE = '</script><img src="http://127.0.0.1:9/x">'


def made(name: str, scale: float = 1.1, rows: Sequence[str] = ()) -> Beside:
    """The table of this name, as if every figure had come out `scale` times as large, with a range;
    and with further `rows`.
    """
    source, table = published.find(name)
    here = {
        (part.title, row, column): MadeFigure(scale * (part.printed(row, column) or 1), 32, 1, 1, 1000)
        for part in table.part
        for row in part.rows
        for column in part.columns
    }
    first = table.part[0]
    here |= {(first.title, row, first.columns[0]): MadeFigure(5, 1, 1) for row in rows}
    return beside(source, table, (), Remade({"here": here}, f"a test {HOSTILE}"))


def unmade(name: str) -> Beside:
    source, table = published.find(name)
    return beside(source, table, (), None)


def test_a_section_begins_with_the_conclusions() -> None:
    """Ten per cent more each: TLSF's p99 stays below SEGLIST's."""
    shown = page.html([made("article-9")]).split('<section id="article-9">')[1]
    assert shown.index("<strong>Holds.</strong>") < shown.index("In the publication")


def test_results_are_data_and_the_same_as_a_page(tmp_path: Path) -> None:
    files = page.results([made("article-9"), unmade("thesis-3")])
    assert list(files) == ["reproduced.csv", "reproduced/article.json", "reproduced/thesis.json"]
    summary = list(csv.DictReader(io.StringIO(files["reproduced.csv"])))
    assert [(row["table"], row["conclusions"], row["figures"]) for row in summary] == [
        ("article-9", "holds", "+10.0 % (6 figures)"),
        ("thesis-3", "cannot be told", "nothing to compare"),
    ]
    path = tmp_path / "article.json"
    path.write_text(files["reproduced/article.json"], encoding="utf-8")
    first = page.markdown(path).split("## article-9\n")[1].lstrip()
    assert first.startswith("- TLSF's p99 is below SEGLIST's: 468 against 490. **Holds.** TLSF 514.8")
    assert "| SEGLIST | published | 415 |" in first


def test_a_table_has_a_section_with_its_figures_or_the_reason() -> None:
    text = page.html([made("article-9"), unmade("thesis-2")])
    assert '<section id="article-9">' in text
    assert 'id="plot-article-9-0"' in text
    assert "Nothing is compared." in text
    assert 'id="plot-thesis-2' not in text
    assert HOSTILE not in text


def test_points_stand_where_the_figures_are() -> None:
    """Published 415, 490 and 428 of SEGLIST; here a tenth more, between 1 and 1,000."""
    (chart,) = figures.charts(made("article-9", rows=["avl"]))
    diamonds, here = as_plotly(chart.figure).data[:2]
    assert (list(diamonds.x), list(diamonds.y)) == ([415, 422], ["SEGLIST", "TLSF"])
    assert list(here.x) == pytest.approx([456.5, 464.2, 5])
    assert list(here.y) == ["SEGLIST", "TLSF", "avl"]
    assert here.x[0] + here.error_x.array[0] == 1000
    assert here.x[0] - here.error_x.arrayminus[0] == 1
