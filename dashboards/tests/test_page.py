"""The report in a browser: pages, picker, addresses, exports, and nothing complained of."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from dashboards.loaded.runs import find_runs
from dashboards.report import write_report
from dashboards.tests.browser import Browser, chromium, violations
from dashboards.tests.synthetic import Operation, write_run

EXECUTABLE = chromium()
pytestmark = pytest.mark.skipif(EXECUTABLE is None, reason="needs Chromium: apt-get install chromium")

SEGLIST = "20250102T030405Z-mem_frag-seglist-virtual"
PAGES = (
    "#/overview",
    "#/matrix",
    "#/comparison",
    "#/ramp",
    "#/distributions",
    "#/probes?scenario=mem_stress",
    "#/waveforms",
    "#/agreement",
    f"#/run/{SEGLIST}",
    f"#/sample/{SEGLIST}/2302",
)


@pytest.fixture(scope="module")
def page(runs_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_report(find_runs(runs_folder), tmp_path_factory.mktemp("page") / "report.html")


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A report of nine allocators; the worst has the greatest number."""
    folder = tmp_path_factory.mktemp("many")
    runs = [
        write_run(folder, "small", f"nr{number}", [Operation("A", 16, 1, 300 + 10 * number)] * 12)
        for number in range(9)
    ]
    return write_report(runs, folder / "report.html")


@pytest.fixture
def browser() -> Iterator[Browser]:
    """It must have complained of nothing and fetched nothing."""
    assert EXECUTABLE is not None
    with Browser(EXECUTABLE) as started:
        yield started
        assert_content(started)


def assert_content(browser: Browser) -> None:
    assert browser.complaints == []
    assert all(request.startswith(("file://", "data:", "blob:", "about:")) for request in browser.requests)


@pytest.fixture(scope="module")
def loaded_page(page: Path) -> Iterator[Browser]:
    yield from once_loaded(page)


@pytest.fixture(scope="module")
def loaded_many(many: Path) -> Iterator[Browser]:
    yield from once_loaded(many)


def once_loaded(report: Path) -> Iterator[Browser]:
    """To load a report takes longer than most tests of it. A reader goes from page to page, too."""
    assert EXECUTABLE is not None
    with Browser(EXECUTABLE) as browser:
        browser.open(report)
        yield browser


@pytest.fixture
def reader(loaded_page: Browser) -> Iterator[Browser]:
    """The report at its first page. It must have complained of nothing and fetched nothing."""
    yield from reading(loaded_page)


@pytest.fixture
def reader_of_many(loaded_many: Browser) -> Iterator[Browser]:
    yield from reading(loaded_many)


def reading(browser: Browser) -> Iterator[Browser]:
    browser.on_screen()
    browser.resize(1400, 900)
    browser.go("#/overview")
    yield browser
    assert_content(browser)


def shown(browser: Browser) -> list[str]:
    """The names of the pressed chips."""
    pressed = "[...document.querySelectorAll('.switch[aria-pressed=true] .name')].map(one => one.textContent)"
    names: list[str] = browser.evaluate(pressed)
    return names


def title(browser: Browser) -> str:
    return browser.page.locator("section.page:not([hidden]) h2").inner_text()


@pytest.mark.parametrize(
    ("width", "fragments"),
    [(390, ("#/comparison",)), (1400, ("#/overview", f"#/sample/{SEGLIST}/2302", "#/ramp"))],
)
def test_nothing_sticks_out_and_axe_finds_nothing(
    reader: Browser, width: int, fragments: tuple[str, ...]
) -> None:
    """This comes first: what axe takes grows with the figures that were drawn."""
    reader.resize(width, 900)
    for fragment in fragments:
        reader.go(fragment)
        assert reader.evaluate("document.documentElement.scrollWidth") <= width
        assert violations(reader.page) == [], fragment


def test_every_figure_of_every_page_is_drawn(reader: Browser) -> None:
    count = (
        "[...document.querySelectorAll('.plot')].filter(one => one.checkVisibility())"
        ".map(one => one.querySelectorAll('.trace').length)"
    )
    drawn = 0
    for fragment in PAGES:
        reader.go(fragment)
        reader.draw_all()
        traces = reader.evaluate(count)
        assert all(traces), fragment
        drawn += len(traces)
    # ramp and depth; two of survival and the strips; probes; two of each run. The strips of what
    # met no section are folded, and no witness differs by more than a cycle.
    assert drawn == 2 + 3 + 1 + 2 * 2


def test_a_figure_out_of_sight_is_not_drawn(browser: Browser, page: Path) -> None:
    browser.resize(1200, 500)
    browser.open(page, "#/waveforms")
    drawn = "[...document.querySelectorAll('.plot')].filter(one => one.dataset.drawn).length"
    assert 0 < browser.evaluate(drawn) < 6


def test_who_likes_it_dark_gets_dark_figures_and_prints_light_ones(page: Path, tmp_path: Path) -> None:
    assert EXECUTABLE is not None
    with Browser(EXECUTABLE, colours="dark") as browser:
        browser.open(page, "#/ramp")
        paper = "document.querySelector('#plot-0-ramp-0')._fullLayout.paper_bgcolor"
        assert browser.evaluate(paper) == "#14191e"
        assert browser.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(20, 25, 30)"
        assert violations(browser.page) == []
        browser.page.click("#theme")
        browser.settle()
        assert browser.evaluate(paper) == "#ffffff"
        browser.page.click("#theme")
        browser.settle()
        assert browser.evaluate(paper) == "#14191e"
        browser.evaluate("window.dispatchEvent(new Event('beforeprint'))")
        assert browser.evaluate(paper) == "#ffffff"
        browser.evaluate("window.dispatchEvent(new Event('afterprint'))")
        assert browser.evaluate(paper) == "#14191e"
        browser.print_pdf(tmp_path / "report.pdf")
        assert (tmp_path / "report.pdf").read_bytes().startswith(b"%PDF-")
        assert_content(browser)


def test_an_address_opens_the_instant(browser: Browser, page: Path) -> None:
    browser.open(page, f"#/sample/{SEGLIST}/2302")
    assert title(browser) == "seglist: operation 2302"
    facts = browser.page.locator(".facts").inner_text()
    assert "allocation of 120 bytes · depth 256 · trial 2 · critical section 40,785.7 ns ±23.9 ns" in facts
    assert "259 probes" in facts
    # CRIT rises 20 cycles after OP, at time zero, and stays for 3,426; the cursors stand there.
    crit = browser.evaluate("document.querySelector('.wave').data.find(one => one.name === 'CRIT').x")
    assert crit[1:3] == pytest.approx([20 / 84, 3_446 / 84])
    lines = browser.evaluate("document.querySelector('.wave').layout.shapes.map(one => [one.x0, one.x1])")
    assert lines[0] == pytest.approx([20 / 84, 3_446 / 84])
    assert [line[0] for line in lines[1:]] == pytest.approx([20 / 84, 3_446 / 84])
    between = browser.page.locator(".between")
    assert between.inner_text() == "Δt 40,785.7 ns ±23.9 ns, 3,426 samples"
    browser.page.locator(".cursors input").nth(1).fill(str(40 / 84))
    browser.page.locator(".cursors input").nth(1).press("Enter")
    assert "20 samples" in between.inner_text()


def test_an_instant_leads_to_its_neighbours_and_its_run(reader: Browser) -> None:
    browser = reader
    browser.go(f"#/sample/{SEGLIST}/2302")
    browser.page.click("[data-step=previous]")
    browser.settle()
    assert title(browser) == "seglist: operation 2300"
    browser.page.click("[data-step=next]")
    browser.settle()
    browser.page.click(".of-run")
    browser.settle()
    assert title(browser) == "seglist"
    assert browser.page.locator("section.page:not([hidden]) .verbatim").count() == 1


def test_a_click_on_a_point_opens_its_instant(reader: Browser) -> None:
    browser = reader
    browser.go("#/ramp")
    # Where the figure draws the worst point of the ramp's first row: the last of seglist's line.
    x, y = browser.evaluate(
        """(() => {
            const plot = document.getElementById('plot-0-ramp-0');
            const layout = plot._fullLayout, box = plot.getBoundingClientRect();
            const maximum = Math.max(...plot._fullData.find(one => one.name.startsWith('seglist, max')).y);
            return [box.x + layout.xaxis._offset + layout.xaxis.d2p(256),
                    box.y + layout.yaxis._offset + layout.yaxis.d2p(maximum)];
        })()"""
    )
    browser.click(x, y)
    assert browser.evaluate("location.hash") == f"#/sample/{SEGLIST}/2302"
    assert title(browser) == "seglist: operation 2302"


def test_a_maximum_in_a_table_opens_its_instant(reader: Browser) -> None:
    browser = reader
    browser.go("#/comparison")
    browser.page.locator("section.page:not([hidden]) tbody:not([hidden]) td.pinned a").first.click()
    browser.settle()
    # The longest section on the wire is that of the last trial of depth 256.
    assert title(browser) == "seglist: operation 2302"


def test_an_unknown_address_says_so(reader: Browser) -> None:
    for fragment, says in {
        f"#/sample/{SEGLIST}/999999": "No waveform of it is stored in this report",
        "#/sample/nobody/1": "This report has no run named nobody",
        "#/run/__proto__": "This report has no run named __proto__",
        "#/nothing": "This report has no page of that name",
        "#/%": "This report has no page of that name",
        "#/ramp?scenario=other": "This report has no scenario named other",
        "#/ramp?show=nobody": "This report has no run named nobody",
    }.items():
        reader.go(fragment)
        assert says in reader.page.locator("main").inner_text(), fragment


def test_at_first_the_worst_and_the_best_are_shown(reader_of_many: Browser) -> None:
    browser = reader_of_many
    browser.go("#/distributions")
    assert shown(browser) == ["nr8", "nr0"]
    curves = "document.querySelector('.plot').data.filter(one => one.mode === 'lines+markers').length"
    assert browser.evaluate(curves) == 2
    browser.page.click("[aria-label='Pin nr4']")
    browser.settle()
    assert shown(browser) == ["nr8", "nr4", "nr0"]


def test_the_picker_hides_solos_searches_and_is_in_the_address(reader_of_many: Browser) -> None:
    browser = reader_of_many
    browser.go("#/distributions")
    browser.page.click(".switch:has-text('nr3')")
    browser.settle()
    assert shown(browser) == ["nr8", "nr3", "nr0"]
    browser.page.click(".switch:has-text('nr8')")
    browser.settle()
    assert browser.evaluate("location.hash") == "#/distributions?show=nr0,nr3"
    browser.page.dblclick(".switch:has-text('nr5')")
    browser.settle()
    assert shown(browser) == ["nr5"]
    browser.page.fill("#picker input", "NR7")
    assert browser.evaluate("[...document.querySelectorAll('.chip')].filter(one => !one.hidden).length") == 1
    browser.page.fill("#picker input", "")
    browser.page.click("#picker .all")
    browser.settle()
    colours = browser.evaluate(
        "document.querySelector('.plot').data.filter(one => one.mode === 'lines+markers')"
        ".map(one => one.line.color)"
    )
    assert len(set(colours)) == len(colours) == 9
    # The keyboard does what the mouse does, and keeps its place.
    browser.page.locator(".switch:has-text('nr1')").focus()
    browser.page.keyboard.press("Space")
    browser.settle()
    assert "nr1" not in shown(browser)
    assert browser.evaluate("document.activeElement.textContent").startswith("nr1")


def test_six_that_are_chosen_differ_in_their_dashes(reader_of_many: Browser) -> None:
    # By their own numbers 0 and 6 have the same dash, as have 1 and 7.
    browser = reader_of_many
    browser.go("#/distributions?show=nr0,nr1,nr2,nr6,nr7,nr8")
    dashes = (
        "document.querySelector('.plot').data.filter(one => one.mode === 'lines+markers')"
        ".map(one => one.line.dash)"
    )
    assert len(set(browser.evaluate(dashes))) == 6


def test_an_allocator_keeps_its_colour_whoever_else_is_chosen(reader_of_many: Browser) -> None:
    browser, colours = reader_of_many, set()
    chip = "document.querySelector('.switch[data-entry=\"8\"] .swatch')"
    for chosen in ("nr8", "nr0,nr8", "nr0,nr1,nr2,nr3,nr8"):
        browser.go(f"#/distributions?show={chosen}")
        colours.add(browser.evaluate(f"getComputedStyle({chip}).backgroundColor"))
    assert len(colours) == 1


def test_curves_have_their_names_at_their_ends_and_the_others_are_grey(reader_of_many: Browser) -> None:
    browser = reader_of_many
    browser.go("#/distributions?show=nr0,nr8")
    plot = "document.querySelector('.plot')"
    assert browser.evaluate(f"{plot}.layout.showlegend") is False
    grey = f"{plot}.data.filter(one => one.mode === 'lines').map(one => one.line.color)"
    assert len(set(browser.evaluate(grey))) == 1 and len(browser.evaluate(grey)) == 7
    names = browser.evaluate(f"{plot}.layout.annotations.map(one => one.text)")
    assert {name.partition(",")[0] for name in names[:2]} == {"nr0", "nr8"}
    hover = f"{plot}.data.find(one => one.mode === 'lines+markers').hovertext[0]"
    assert re.fullmatch(r"[\d,]+\.\d ns", browser.evaluate(hover))


def test_the_comparison_shows_the_chosen_quantity_and_keeps_it_in_the_address(reader: Browser) -> None:
    browser = reader
    browser.resize(1400, 900)
    browser.go("#/comparison")
    groups = (
        "[...document.querySelectorAll('section:not([hidden]) tbody:not([hidden]) .group')]"
        ".map(one => one.innerText).filter(words => words)"
    )
    assert [words.split(" (µs)")[0] for words in browser.evaluate(groups)] == [
        "masked section of any operation"
    ]
    browser.page.select_option("section:not([hidden]) select.quantity", "task latency (µs)")
    assert browser.evaluate("decodeURIComponent(location.hash)").endswith("quantity=task latency (µs)")
    assert [words.split(" (µs)")[0] for words in browser.evaluate(groups)] == ["task latency"]
    browser.go("#/comparison?quantity=nothing")
    assert [words.split(" (µs)")[0] for words in browser.evaluate(groups)] == [
        "masked section of any operation"
    ]


def test_a_heading_sorts_its_table_by_mouse_and_keyboard(reader: Browser) -> None:
    browser = reader
    browser.resize(1400, 900)
    browser.go("#/matrix")
    group = "section.page:not([hidden]) tbody[data-group=mem_frag]"
    names = f"[...document.querySelectorAll('{group} th[scope=row]')].map(one => one.innerText.trim())"
    assert browser.evaluate(names) == ["seglist", "tlsf"]
    heading = browser.page.locator("section.page:not([hidden]) th:has-text('allocate (µs)') .sort").first
    heading.click()
    assert browser.evaluate(names) == ["seglist", "tlsf"]
    heading.focus()
    browser.page.keyboard.press("Enter")
    assert browser.evaluate(names) == ["tlsf", "seglist"]
    sorted_by = "document.querySelector('section.page:not([hidden]) [aria-sort]')"
    assert browser.evaluate(f"{sorted_by}.getAttribute('aria-sort')") == "ascending"
    browser.page.locator("section.page:not([hidden]) th:has-text('allocator') .sort").first.click()
    assert browser.evaluate(names) == ["seglist", "tlsf"]


def test_a_report_opens_with_the_choice_of_its_address(browser: Browser, many: Path) -> None:
    browser.open(many, "#/waveforms?show=nr2&pin=nr2")
    visible = "[...document.querySelectorAll('figure[data-entry]')].filter(one => one.offsetParent).length"
    assert shown(browser) == ["nr2"]
    # Its worst section, its worst interrupt.
    assert browser.evaluate(visible) == 2


def test_a_table_is_saved_as_csv(reader: Browser, tmp_path: Path) -> None:
    browser = reader
    browser.go("#/matrix")
    with browser.page.expect_download() as waiting:
        browser.page.click("section.page:not([hidden]) [data-save=csv]")
    waiting.value.save_as(tmp_path / "matrix.csv")
    assert waiting.value.suggested_filename == "matrix.csv"
    rows = list(csv.DictReader((tmp_path / "matrix.csv").open(encoding="utf-8")))
    worst = {row["allocator"]: float(row["allocate_ns"]) for row in rows if row["group"] == "mem_frag"}
    assert worst == pytest.approx({"seglist": 3_426e9 / 84e6, "tlsf": 454e9 / 84e6})


@pytest.mark.parametrize(("kind", "begins"), [("svg", b"<svg"), ("png", b"\x89PNG")])
def test_a_figure_is_saved_as_a_picture(reader: Browser, tmp_path: Path, kind: str, begins: bytes) -> None:
    browser = reader
    browser.go("#/ramp")
    with browser.page.expect_download() as waiting:
        browser.page.locator(f"section.page:not([hidden]) [data-save={kind}]").first.click()
    waiting.value.save_as(tmp_path / "picture")
    content = (tmp_path / "picture").read_bytes()
    assert content.startswith(begins)
    # It stands alone: title and runs are in it.
    assert kind == "png" or (b"Cost against depth" in content and SEGLIST.encode() in content)


def test_hostile_names_run_nothing(browser: Browser, tmp_path: Path) -> None:
    hostile = "<img src=x onerror=window.ran=1><script>window.ran=1</script>"
    operations = [Operation("A", 16, 1, 300, label=hostile)] * 30
    names = {"scenario": hostile, "allocator": hostile}
    folder = write_run(tmp_path, "x", "y", operations, verdict="truncated", reasons=(hostile,), changes=names)
    report = write_report([folder], tmp_path / "report.html")
    browser.open(report, f"#/sample/{folder.name}/3")
    assert hostile in browser.page.locator(".facts").inner_text()
    for fragment in (f"#/run/{folder.name}", "#/distributions", "#/overview", f"#/{hostile}"):
        browser.go(fragment)
        browser.draw_all()
    assert browser.evaluate("window.ran === undefined") is True


def test_paper_has_every_column_and_no_controls(reader: Browser) -> None:
    browser = reader
    # What A4 leaves between margins of 12 mm, at 96 pixels to the inch.
    paper = int((210 - 2 * 12) / 25.4 * 96)
    browser.resize(paper, 1000)
    browser.go("#/comparison")
    browser.on_paper()
    right = "[...document.querySelectorAll('.grid')].map(one => one.getBoundingClientRect().right)"
    assert max(browser.evaluate(right)) <= paper
    # Nothing cuts a table off that is wider than its box.
    assert browser.evaluate("getComputedStyle(document.querySelector('.scroll')).overflowX") == "visible"
    controls = (
        "[...document.querySelectorAll('button:not(.sort), select, nav, #picker, pre')]"
        ".filter(one => one.offsetParent)"
    )
    assert browser.evaluate(f"{controls}.length") == 0


def test_the_maximum_stays_in_sight_on_a_narrow_screen(reader: Browser) -> None:
    browser = reader
    browser.resize(390, 900)
    browser.go("#/comparison")
    places = (
        "['th[scope=row]', 'td.pinned'].map(one => "
        "document.querySelector(`section:not([hidden]) ${one}`).getBoundingClientRect().x)"
    )
    before = browser.evaluate(places)
    browser.evaluate("document.querySelector('section:not([hidden]) .scroll').scrollLeft = 400")
    assert browser.evaluate(places) == pytest.approx(before, abs=2)


def test_all_pages_of_a_scenario_are_drawn_for_paper(reader: Browser) -> None:
    browser = reader
    browser.resize(1200, 500)
    browser.go("#/all?scenario=mem_stress")
    titles = browser.page.locator("section.page:not([hidden]) h2").all_inner_texts()
    assert titles[:3] == ["Overview", "Matrix", "Comparison"] and "Waveforms" in titles
    waiting = (
        "[...document.querySelectorAll('.plot')].filter(one => one.checkVisibility() && !one.dataset.drawn)"
    )
    assert browser.evaluate(f"{waiting}.length") == 0
    browser.go("#/matrix")
    assert browser.page.locator("section.page:not([hidden]) h2").all_inner_texts() == ["Matrix"]


def test_a_key_that_prints_draws_what_is_out_of_sight_first(browser: Browser, page: Path) -> None:
    browser.resize(1400, 300)
    browser.open(page, "#/distributions")
    empty = (
        "[...document.querySelectorAll('.plot')]"
        ".filter(one => one.checkVisibility() && !one.dataset.drawn).length"
    )
    assert browser.evaluate(empty) > 0
    browser.evaluate(f"window.print = () => {{ window.left = {empty}; }}")
    browser.page.keyboard.press("Control+p")
    browser.wait("() => window.left === 0")
