"""The pages as a site: it is whole, says what a git host shows, and needs no network."""

from __future__ import annotations

import re
from collections import Counter
from html.parser import HTMLParser
from pathlib import Path

import pytest
from markdown_it import MarkdownIt

from base.paths import ROOT
from base.tests.sentences import is_sentence
from cli.dev import _pages, site
from dashboards.tests.browser import Browser
from tests import pages

pytestmark = pytest.mark.docs

COMPARED = {"h1", "h2", "h3", "h4", "li", "pre", "td", "th"}
_PARSER = MarkdownIt("commonmark").enable("table")
_LOADED = re.compile(r"<(?:script|link|img|iframe)\b[^>]*?\b(?:src|href)=[\"']?([^\"' >]+)")


class Texts(HTMLParser):
    """How often each text stands in an element of each kind of COMPARED."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.found: Counter[tuple[str, str]] = Counter()
        self._open: list[tuple[str, list[str]]] = []
        self._skipped = ""
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in COMPARED:
            self._open.append((tag, []))
        elif tag == "a" and ("class", "headerlink") in attrs:
            self._skipped = tag

    def handle_endtag(self, tag: str) -> None:
        if tag in COMPARED:
            kind, words = self._open.pop()
            self.found[kind, " ".join("".join(words).split())] += 1
        elif tag == self._skipped:
            self._skipped = ""

    def handle_data(self, data: str) -> None:
        if not self._skipped:
            for _, words in self._open:
                words.append(data)


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return site.write(tmp_path_factory.mktemp("site") / "built").parent


def address(page: str) -> str:
    """Where the site has a page of the repository."""
    return page.replace("README.md", "index.html").replace(".md", ".html")


def test_every_page_is_there_and_says_what_a_git_host_shows(built: Path) -> None:
    """The two read Markdown by other rules: a code block in a list, for one. Tables of data are the
    site's alone.
    """
    for page in pages.pages():
        text = (built / address(str(page.relative_to(ROOT)))).read_text(encoding="utf-8")
        html = re.search(r"<article.*?</article>", text, re.DOTALL)
        assert html
        text = page.read_text(encoding="utf-8")
        there, here = Texts(_PARSER.render(text)).found, Texts(html[0]).found
        of_data = {"td", "th"} if _pages.with_tables(text, str(page.relative_to(ROOT))) != text else set()
        more = [(kind, words) for kind, words in here - there if kind not in of_data]
        assert (there - here, more) == (Counter(), []), page


def test_the_site_has_the_tables_of_data(built: Path) -> None:
    """One of a result, one of the fields of a model."""
    summary = Texts((built / "docs/reference/reproduced.html").read_text(encoding="utf-8")).found
    assert summary["td", "article-9-probes"] == 1
    fields = Texts((built / "docs/reference/run-json.html").read_text(encoding="utf-8")).found
    assert fields["td", "stimulus.period_ticks"] == 1


def test_every_command_has_a_page_of_its_options(built: Path) -> None:
    folder = built / "docs" / "reference" / "commands"
    assert "<code>--quantity" in (folder / "explain.html").read_text(encoding="utf-8")
    assert "<code>--host</code>" in (folder / "heap" / "worst.html").read_text(encoding="utf-8")
    assert 'href="heap/index.html"' in (folder / "index.html").read_text(encoding="utf-8")


def test_nothing_is_loaded_from_elsewhere(built: Path) -> None:
    for path in built.rglob("*.html"):
        loaded = _LOADED.findall(path.read_text(encoding="utf-8"))
        assert [address for address in loaded if re.match(r"[a-z]+:|//", address)] == [], path


def test_a_reader_finds_a_page_without_network(built: Path) -> None:
    with Browser() as browser:
        browser.open(built / "index.html")
        browser.page.locator("[name=query]").focus()
        browser.page.keyboard.type("gdb")
        first = browser.page.locator(".md-search-result__link").first
        assert (built / "docs" / "how-to" / "debugging.html").as_uri() in first.evaluate("one => one.href")
        browser.resize(390, 800)
        browser.open(built / "docs" / "reference" / "words.html")
        assert browser.evaluate("document.documentElement.scrollWidth") == 390
        wide = "[...document.querySelectorAll('.md-typeset__scrollwrap')].some(one => one.scrollWidth > 390)"
        assert browser.evaluate(wide)
        assert browser.complaints == []
        assert {address.partition(":")[0] for address in browser.requests} <= {"about", "data", "file"}


def test_a_link_that_leads_nowhere_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = tmp_path / "pages" / "index.md"
    page.parent.mkdir()
    page.write_text("# A page\n\nSee [that](gone.md) and [this](#nowhere).\n", encoding="utf-8")
    small = "docs_dir: pages\nhooks: []\nplugins: []\nextra_css: []\nnav: [index.md]\n"
    (tmp_path / "mkdocs.yml").write_text(f"INHERIT: {site.CONFIGURATION}\n{small}", encoding="utf-8")
    monkeypatch.setattr(site, "CONFIGURATION", tmp_path / "mkdocs.yml")
    with pytest.raises(site.SiteError) as refused:
        site.write(tmp_path / "built")
    assert is_sentence(str(refused.value).partition("\n")[0], "The site was not built. *")
    assert "'gone.md'" in str(refused.value)
    assert "'#nowhere'" in str(refused.value)


def test_only_a_site_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").touch()
    for folder in (tmp_path, ROOT):
        with pytest.raises(site.SiteError) as refused:
            site.write(folder)
        assert is_sentence(str(refused.value), "* is no site, and would be emptied: choose another folder.")
    assert (tmp_path / "thesis.tex").exists()
