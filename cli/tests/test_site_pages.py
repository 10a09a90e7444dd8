"""Pages of the site: of commands, and tables of a small model and a small file, by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import click
from pydantic import Field

from base.files.documents import Table
from cli.dev import _pages


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
    assert _pages.of_model("cli/tests/test_site_pages.py", "Whole").splitlines()[2:] == [
        "| `begin` | object | An end. |",
        "| `begin.at` | integer, to 9 |  |",
        "| `end` | object or null | Where it stops. The same fields as `begin`. |",
        "| `by_name{}[]` | object | The same fields as `begin`. |",
        "| `rate` | number; `1.5` if absent |  |",
    ]


def test_a_file_stands_in_place_of_a_link_that_is_a_paragraph(tmp_path: Path) -> None:
    (tmp_path / "r.csv").write_text("name,cycles\na|b,12345\nc,7\n", encoding="utf-8")
    assert _pages.of_csv(tmp_path / "r.csv").splitlines() == [
        "| name | cycles |",
        "| --- | ---: |",
        "| a\\|b | 12,345 |",
        "| c | 7 |",
    ]
    page = "See [it](../results/tlsf.csv).\n\n[It](../results/tlsf.csv)\n\n[Gone](gone.csv)\n"
    shown = _pages.with_tables(page, "docs/reference/x.md")
    assert shown.startswith("See [it](../results/tlsf.csv).\n\n[It](../results/tlsf.csv)\n\n| allocator |")
    assert shown.endswith("\n\n[Gone](gone.csv)\n")


@click.group(help="Measure heaps.")
def lab() -> None: ...


@lab.group(help="Ask about allocators.")
def heap() -> None: ...


@heap.command(help="Find the worst case.\n\nIt tries each construction.")
@click.argument("allocator")
@click.option("--way", type=click.Choice(["fast", "exact"]), default="fast", show_default=True, help="how")
@click.option("--secret", hidden=True)
def worst(allocator: str, way: str, secret: str) -> None: ...


@lab.command(hidden=True)
def old() -> None: ...


PAGES = _pages.of_commands(lab, "./lab")


def test_each_command_that_the_help_lists_has_a_page() -> None:
    assert list(PAGES) == ["README.md", "heap/README.md", "heap/worst.md"]


def test_a_group_leads_to_its_commands() -> None:
    assert "# ./lab\n\nMeasure heaps.\n" in PAGES["README.md"]
    assert "| [heap](heap/README.md) | Ask about allocators. |" in PAGES["README.md"]
    assert "| [worst](worst.md) | Find the worst case. |" in PAGES["heap/README.md"]


def test_a_page_has_usage_help_and_options() -> None:
    page = PAGES["heap/worst.md"]
    assert page.startswith("# ./lab heap worst\n\nFind the worst case.\n\nIt tries each construction.\n\n")
    assert "\n    ./lab heap worst [OPTIONS] ALLOCATOR\n" in page
    assert r"| `--way [fast\|exact]` | how [default: fast] |" in page
    assert "secret" not in page
