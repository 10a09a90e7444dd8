"""Pages of commands: one for each, with what its declaration says."""

from __future__ import annotations

import click

from cli.work import command_pages


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


PAGES = command_pages.pages(lab, "./lab")


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
