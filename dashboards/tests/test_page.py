"""The page in a browser: all is drawn, a click shows a waveform, nothing is complained of."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from dashboards.loaded.runs import find_runs
from dashboards.report import write_report
from dashboards.tests.browser import Browser, chromium
from dashboards.tests.synthetic import Operation, write_run

EXECUTABLE = chromium()
pytestmark = pytest.mark.skipif(EXECUTABLE is None, reason="needs Chromium: apt-get install chromium")

SEGLIST = "20250102T030405Z-mem_frag-seglist-virtual"


@pytest.fixture(scope="module")
def page(runs_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_report(find_runs(runs_folder), tmp_path_factory.mktemp("page") / "report.html")


@pytest.fixture(scope="module")
def running() -> Iterator[Browser]:
    assert EXECUTABLE is not None
    with Browser(EXECUTABLE) as started:
        yield started


@pytest.fixture
def browser(running: Browser) -> Iterator[Browser]:
    """The browser. After the test it must have complained of nothing and fetched nothing."""
    running.complaints.clear()
    running.requests.clear()
    running.resize(1400, 900)
    yield running
    assert running.complaints == []
    assert all(address.startswith(("file://", "data:", "blob:", "about:")) for address in running.requests)


def test_every_figure_is_drawn(browser: Browser, page: Path) -> None:
    browser.open(page)
    browser.settle()
    drawn = "[...document.querySelectorAll('.plot')].map(plot => plot.querySelectorAll('.trace').length)"
    traces = browser.evaluate(drawn)
    assert len(traces) == 8 + 7
    assert min(traces) > 0
    assert browser.evaluate("document.getElementById('selected').hidden") is True


@pytest.mark.parametrize("width", [1400, 390])
def test_nothing_sticks_out(browser: Browser, page: Path, width: int) -> None:
    browser.resize(width, 900)
    browser.open(page)
    browser.settle()
    assert browser.evaluate("document.documentElement.scrollWidth") <= width
    right = "[...document.querySelectorAll('.main-svg')].map(svg => svg.getBoundingClientRect().right)"
    assert max(browser.evaluate(right)) <= width


def test_a_fragment_opens_the_waveform(browser: Browser, page: Path) -> None:
    browser.open(page, f"#select={SEGLIST}:2302")
    browser.settle()
    assert _title(browser) == "seglist: operation 2302"
    facts = browser.evaluate("document.getElementById('selected-facts').textContent")
    assert "allocation of 120 bytes · depth 256 · trial 2 · critical section 40,785.7 ns ±11.9 ns" in facts
    assert "259 probes" in facts
    # CRIT rises 20 cycles after OP, at time zero, and stays for 3,426.
    crit = browser.evaluate("document.getElementById('selected-plot').data.find(t => t.name === 'CRIT').x")
    assert crit[1:3] == pytest.approx([20 / 84, 3_446 / 84])
    shade = browser.evaluate("document.getElementById('selected-plot').layout.shapes.map(s => [s.x0, s.x1])")
    assert shade == [pytest.approx([20 / 84, 3_446 / 84])]


def test_a_click_on_a_point_opens_its_waveform(browser: Browser, page: Path) -> None:
    browser.open(page)
    browser.settle()
    # Where the figure draws the worst point of the ramp's first row: the last of seglist's line.
    x, y = browser.evaluate(
        """(() => {
            const plot = document.getElementById('plot-0-ramp');
            plot.scrollIntoView({ behavior: 'instant' });
            const layout = plot._fullLayout, box = plot.getBoundingClientRect();
            const maximum = Math.max(...plot._fullData.find(one => one.name === 'seglist max').y);
            return [box.x + layout.xaxis._offset + layout.xaxis.d2p(256),
                    box.y + layout.yaxis._offset + layout.yaxis.d2p(maximum)];
        })()"""
    )
    browser.settle()
    browser.click(x, y)
    assert browser.evaluate("location.hash") == f"#select={SEGLIST}:2302"
    browser.settle()
    assert _title(browser) == "seglist: operation 2302"
    browser.evaluate("document.getElementById('selected-close').click()")
    assert browser.evaluate("document.getElementById('selected').hidden") is True


def test_a_click_on_a_maximum_in_the_table_opens_its_waveform(browser: Browser, page: Path) -> None:
    browser.open(page)
    browser.evaluate("document.querySelector('.comparison .max a').click()")
    browser.settle()
    # The greatest number of probes, 259, first occurs at trial 0 of depth 256.
    assert _title(browser) == "seglist: operation 2298"


def test_a_waveform_that_is_not_stored_is_said_so(browser: Browser, page: Path) -> None:
    browser.open(page, f"#select={SEGLIST}:999999")
    browser.settle()
    facts = browser.evaluate("document.getElementById('selected-facts').textContent")
    assert facts.startswith("No waveform of it is stored in this report")


def test_an_unknown_run_opens_nothing(browser: Browser, page: Path) -> None:
    browser.open(page, "#select=%:%")
    browser.settle()
    assert browser.evaluate("document.getElementById('selected').hidden") is True
    for fragment in ("#select=nobody:1", "#select=__proto__:1", "#runs"):
        browser.evaluate(f"void (location.hash = {fragment!r})")
        browser.settle()
        assert browser.evaluate("document.getElementById('selected').hidden") is True


def test_hostile_names_run_nothing(browser: Browser, tmp_path: Path) -> None:
    hostile = "<img src=x onerror=window.ran=1><script>window.ran=1</script>"
    operations = [Operation("A", 16, 1, 300, label=hostile)] * 30
    names = {"scenario": hostile, "allocator": hostile}
    folder = write_run(tmp_path, "x", "y", operations, verdict="truncated", reasons=(hostile,), changes=names)
    report = write_report([folder], tmp_path / "report.html")
    browser.open(report, f"#select={folder.name}:3")
    browser.settle()
    assert browser.evaluate("window.ran === undefined") is True
    assert hostile in browser.evaluate("document.getElementById('selected-facts').textContent")


def test_paper_has_every_maximum(browser: Browser, page: Path) -> None:
    # What A4 leaves between margins of 12 mm, at 96 pixels to the inch.
    paper = int((210 - 2 * 12) / 25.4 * 96)
    browser.resize(paper, 1000)
    browser.open(page)
    browser.call("Emulation.setEmulatedMedia", media="print")
    try:
        cells = "[...document.querySelectorAll('.comparison .max')]"
        right = browser.evaluate(f"{cells}.map(cell => cell.getBoundingClientRect().right)")
        # Nothing cuts a table off that is wider than its box.
        box = browser.evaluate("getComputedStyle(document.querySelector('.scroll')).overflowX")
    finally:
        browser.call("Emulation.setEmulatedMedia", media="")
    assert max(right) <= paper
    assert box == "visible"


def test_a_name_stays_in_one_line_on_a_narrow_screen(browser: Browser, page: Path) -> None:
    browser.resize(390, 900)
    browser.open(page)
    lines = browser.evaluate(
        """[...document.querySelectorAll('.comparison tbody th[scope=row]')].map((cell) => {
            const range = document.createRange();
            range.selectNode(cell.lastChild);
            return range.getClientRects().length;
        })"""
    )
    assert set(lines) == {1}


def test_it_prints(browser: Browser, page: Path, tmp_path: Path) -> None:
    browser.open(page)
    browser.print_pdf(tmp_path / "report.pdf")
    assert (tmp_path / "report.pdf").read_bytes().startswith(b"%PDF-")


def _title(browser: Browser) -> str:
    return str(browser.evaluate("document.getElementById('selected-title').textContent"))
