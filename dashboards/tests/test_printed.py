"""A report on paper, by the Chromium that is there and by a stand-in that fails."""

from pathlib import Path

import pytest

from dashboards import printed


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
