"""Tables of the site: by hand, of a small model and a small file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from pydantic import Field

from base.files.documents import Table
from cli.work import site_tables


class Part(Table):
    """An end."""

    at: Annotated[int, Field(ge=0, le=9)]


class Whole(Table):
    begin: Part
    end: Part | None = None
    """Where it stops."""
    by_name: dict[str, list[Part]] = Field(default_factory=dict)
    rate: float = 1.5


def test_the_fields_of_a_model_are_rows_each_part_once() -> None:
    assert site_tables.of_model("cli/tests/test_site_tables.py", "Whole").splitlines()[2:] == [
        "| `begin` | object | An end. |",
        "| `begin.at` | integer, to 9 |  |",
        "| `end` | object or null | Where it stops. The same fields as `begin`. |",
        "| `by_name{}[]` | object | The same fields as `begin`. |",
        "| `rate` | number; `1.5` if absent |  |",
    ]


def test_a_file_stands_in_place_of_a_link_that_is_a_paragraph(tmp_path: Path) -> None:
    (tmp_path / "r.csv").write_text("name,cycles\na|b,12345\nc,7\n", encoding="utf-8")
    assert site_tables.of_csv(tmp_path / "r.csv").splitlines() == [
        "| name | cycles |",
        "| --- | ---: |",
        "| a\\|b | 12,345 |",
        "| c | 7 |",
    ]
    page = "See [it](../results/tlsf.csv).\n\n[It](../results/tlsf.csv)\n\n[Gone](gone.csv)\n"
    shown = site_tables.with_tables(page, "docs/reference/x.md")
    assert shown.startswith("See [it](../results/tlsf.csv).\n\n[It](../results/tlsf.csv)\n\n| allocator |")
    assert shown.endswith("\n\n[Gone](gone.csv)\n")
