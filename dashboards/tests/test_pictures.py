"""A report on paper, by a Chromium and by a stand-in; and each page looks as it did."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from dashboards import printed
from dashboards.tests.pictures import FOLDER, MADE_WITH, PAGES, differing, made_with, pictures


@pytest.fixture
def page(tmp_path: Path) -> Path:
    path = tmp_path / "report.html"
    path.write_text("<style>p + p { break-before: page }</style><p>1<p>2<p>3", encoding="utf-8")
    return path


@pytest.mark.skipif(printed.browser() is None, reason="there is no Chromium")
def test_each_sheet_of_a_page_is_printed(page: Path) -> None:
    content = printed.print_pdf(page, page.with_name("new") / "report.pdf").read_bytes()
    assert content.startswith(b"%PDF-")
    assert content.count(b"/Type /Page\n") == 3


@pytest.mark.parametrize("words", ["", "#!/bin/sh\necho the profile is gone >&2\nexit 3\n", "#!/bin/sh\n"])
def test_what_is_not_printed_is_an_error(page: Path, words: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """No browser, one that fails, and one that says that all is well and writes nothing."""
    monkeypatch.setenv("PATH", str(page.parent))
    monkeypatch.setattr("base.processes.children.DIES_WITH_US", ())
    if words:
        (page.parent / "chromium").write_text(words, encoding="ascii")
        (page.parent / "chromium").chmod(0o755)
    with pytest.raises(printed.PrintError):
        printed.print_pdf(page, page.with_name("report.pdf"))
    assert not page.with_name("report.pdf").exists()


MOST_PIXELS = 40
"""That may differ, of 256,000: what another machine rounds otherwise."""


@pytest.fixture
def alike() -> None:
    """Other fonts and browsers draw other pixels."""
    expected, here = MADE_WITH.read_text(encoding="utf-8"), made_with()
    if here != expected:
        pytest.skip(
            f"The pictures are made with {expected.strip()}; here is {here.strip() or 'no Chromium'}."
        )


@pytest.mark.long
@pytest.mark.usefixtures("alike")
def test_each_page_looks_as_it_did(tmp_path: Path) -> None:
    path = tmp_path.parent / f"{tmp_path.name}-pictures"
    path.mkdir()
    differences = []
    for made in pictures(tmp_path):
        shutil.copy(made, path / made.name)
        if (count := differing(FOLDER / made.name, made)) > MOST_PIXELS:
            differences.append(f"{count:g} pixels differ: {FOLDER / made.name} and {path / made.name}")
    assert not differences, "\n".join((*differences, "If that is meant: python -m dashboards.tests.pictures"))


def test_the_pictures_are_those_of_the_pages_and_small() -> None:
    paths = list(FOLDER.glob("*.png"))
    assert {path.stem for path in paths} == set(PAGES)
    assert sum(path.stat().st_size for path in paths) < 500_000
