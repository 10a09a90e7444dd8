"""Hooks of MkDocs: which files of the repository the site has, each under its own path.

A page may lie in any folder, and links between pages are those that work on a git host. The site
has the pages of the navigation and whatever they lead to: further pages, pictures, and files of
code and of results, which become pages too.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import PurePosixPath
from posixpath import normpath
from typing import Any

from markdown_it import MarkdownIt
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files, InclusionLevel
from mkdocs.structure.pages import Page

from base.files import results
from base.paths import ROOT
from cli.dev import _pages
from cli.shell import start
from studies.reproduce import page as reproduced

COMMANDS = "docs/reference/commands/README.md"
QUESTIONS = "docs/README.md"
"""It leads to all others by the words of its readers, and would be what the search finds first."""
_PARSER = MarkdownIt("commonmark").enable("table")
_ADDRESS = re.compile(r"[a-z]+:|//|#")
_AS_THEY_ARE = {".css", ".js", ".md", ".png", ".svg"}
_LANGUAGES = {".c": "c", ".h": "c", ".py": "python", ".toml": "toml", ".yml": "yaml"}


class Source(File):
    """A file of code or of results, shown as a page under its own name."""

    def is_documentation_page(self) -> bool:
        return True


def on_post_template(output: str, template_name: str, config: MkDocsConfig) -> str:  # noqa: ARG001
    """No page for addresses that are not there: its links would be true at none of them."""
    return "" if template_name == "404.html" else output


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """The site's files: see above. A link to what is not there stays, so that MkDocs refuses it."""
    waiting = list(_named(config.nav or []))
    paths = {name: _file(name, config) for name in (*config.extra_css, *config.extra["polyfills"])}
    while waiting:
        name = waiting.pop()
        if name not in paths and (ROOT / name).is_file():
            paths[name] = _file(name, config)
            waiting += _linked(name) if name.endswith(".md") else []
    of_the_theme = (file for file in files if file.src_dir != config.docs_dir)
    # A page for each command, of which no file is kept. The navigation names the first, if any.
    with_commands = COMMANDS in _named(config.nav or [])
    pages = _pages.of_commands(start.lab(), start.PROGRAM) if with_commands else {}
    of_commands = (
        File.generated(
            config,
            str(PurePosixPath(COMMANDS).parent / path),
            content=text,
            inclusion=InclusionLevel.NOT_IN_NAV,
        )
        for path, text in pages.items()
    )
    return Files([*paths.values(), *of_commands, *of_the_theme])


def _file(name: str, config: MkDocsConfig) -> File:
    there = (name, str(ROOT), config.site_dir, config.use_directory_urls)
    if PurePosixPath(name).suffix in _AS_THEY_ARE:
        in_nav = InclusionLevel.INCLUDED if name in _named(config.nav or []) else InclusionLevel.NOT_IN_NAV
        return File(*there, dest_uri="index.html" if name == "README.md" else None, inclusion=in_nav)
    source = Source(*there, dest_uri=f"{name}.html", inclusion=InclusionLevel.NOT_IN_NAV)
    source.content_string = _as_page(PurePosixPath(name))
    return source


def _as_page(source: PurePosixPath) -> str:
    if source.suffix == ".csv":
        return f"# {source.name}\n\n{_pages.of_csv(ROOT / source)}\n"
    if (ROOT / source).parent == results.FOLDER / reproduced.FOLDER:
        return reproduced.markdown(ROOT / source)
    text = (ROOT / source).read_text(encoding="utf-8")
    language = _LANGUAGES.get(source.suffix, "text")
    return f"# {source.name}\n\n`{source}`\n\n~~~~{language}\n{text}\n~~~~\n"


def _named(nav: Any) -> Iterator[str]:
    """The files that a navigation names."""
    if isinstance(nav, str):
        yield nav
    else:
        for entry in nav.values() if isinstance(nav, dict) else nav:
            yield from _named(entry)


def _linked(page: str) -> Iterable[str]:
    """What the links and pictures of a page lead to, as paths of the repository."""
    text = (ROOT / page).read_text(encoding="utf-8")
    for block in _PARSER.parse(text):
        for token in block.children or []:
            target = str(token.attrGet("href") or token.attrGet("src") or "")
            if target and not _ADDRESS.match(target):
                yield normpath(PurePosixPath(page).parent / target.partition("#")[0])


def on_page_markdown(markdown: str, page: Page, **_: object) -> str:
    """The text with its tables. The search leaves out code, figures, and the list of questions."""
    name = page.file.src_uri
    if isinstance(page.file, Source) or name == QUESTIONS:
        page.meta["search"] = {"exclude": True}
    return _pages.with_tables(markdown, name)
