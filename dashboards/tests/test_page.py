"""The report in a browser: one file with everything, read from page to page as a reader does."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

import pytest

from dashboards.glossary import glossary
from dashboards.loaded.runs import find_runs
from dashboards.report import write_report
from dashboards.tests.browser import Browser, violations
from dashboards.tests.packed import runs_of
from dashboards.tests.synthetic import Operation, write_run
from dashboards.tests.test_explanations import ALLOCATION, ANATOMY, HOSTILE, explain

SEGLIST = "20250102T030405Z-mem_frag-seglist-virtual"
NAMED = "<script>window.ran=1</script>" + HOSTILE
# What A4 leaves between margins of 12 mm, at 96 pixels to the inch.
PAPER_PX = int((210 - 2 * 12) / 25.4 * 96)
CALLS = {
    "empty": (Operation("K", 0, 0, 300), "empty critical section · "),
    "known": (Operation("K", 7, 0, 300, label="timer_start"), "timer_start, a call of the kernel · "),
    "unknown": (Operation("K", 99, 0, 300), "call 99, a call of"),
}
SHOWN = "section.page:not([hidden])"
FRAG = "scenario=mem_frag"


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run whose names are HTML; of its operations 3 and 5 are explained, 3 to the last cycle."""
    operations = [Operation("A", 16, 1, 300 + depth, label=NAMED) for depth in range(1, 30)]
    names = {"scenario": NAMED, "allocator": NAMED}
    folder = tmp_path_factory.mktemp("hostile")
    run = write_run(folder, "x", "y", operations, verdict="truncated", reasons=(NAMED,), changes=names)
    others = {"quantity": "section", "key": "5"}
    explain(run, allocate=ALLOCATION, allocate_anatomy=ANATOMY, section=ALLOCATION | others)
    return run


@pytest.fixture(scope="module")
def report(runs_folder: Path, hostile: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Of the four runs, nine allocators whose last is the worst, calls, and the hostile run."""
    folder = tmp_path_factory.mktemp("page")
    small = [
        write_run(folder, "small", f"nr{number}", [Operation("A", 16, 1, 300 + 10 * number)] * 12)
        for number in range(9)
    ]
    calls = [
        write_run(folder, "kernel_masking", name, [Operation("A", 16, 1, 300), *[call] * 20])
        for name, (call, _) in CALLS.items()
    ]
    runs = [*find_runs(runs_folder), *small, *calls, hostile]
    return write_report(runs, folder / "report.html")


@contextmanager
def opened(
    report: Path, fragment: str = "", height: int = 900, colours: Literal["light", "dark"] = "light"
) -> Iterator[Browser]:
    """The report in a browser that must have complained of nothing and fetched nothing."""
    with Browser(height=height, colours=colours) as browser:
        browser.open(report, fragment)
        yield browser
        assert_quiet(browser)


def assert_quiet(browser: Browser) -> None:
    assert browser.complaints == []
    assert all(request.startswith(("file://", "data:", "blob:", "about:")) for request in browser.requests)


@pytest.fixture(scope="module")
def loaded(report: Path) -> Iterator[Browser]:
    """To load a report takes longer than most tests of it."""
    with opened(report) as browser:
        yield browser


@pytest.fixture
def browser(loaded: Browser) -> Iterator[Browser]:
    """The report at its first page."""
    loaded.page.emulate_media(media="screen")
    loaded.resize(1400, 900)
    loaded.go("#/overview")
    yield loaded
    assert_quiet(loaded)


def chips(browser: Browser) -> list[str]:
    """The names of the pressed chips."""
    pressed = "[...document.querySelectorAll('.chip[aria-pressed=true] .name')].map(one => one.textContent)"
    names: list[str] = browser.evaluate(pressed)
    return names


def title(browser: Browser) -> str:
    return browser.page.locator(f"{SHOWN} h2").inner_text()


def press(browser: Browser, selector: str) -> None:
    browser.page.locator(selector).first.click()
    browser.settle()


def curves(of: str) -> str:
    """What JavaScript gives of each curve of the first figure that is a chosen run's."""
    figure = f"document.querySelector('{SHOWN} .plot')"
    return f"{figure}.data.filter(one => one.mode === 'lines+markers').map(one => {of})"


def test_nothing_sticks_out_and_axe_finds_nothing(browser: Browser) -> None:
    """This comes first: what axe takes grows with the figures that were drawn."""
    for width, fragment in ((1400, f"#/overview?{FRAG}"), (390, f"#/comparison?{FRAG}")):
        browser.resize(width, 900)
        browser.go(fragment)
        assert browser.evaluate("document.documentElement.scrollWidth") <= width
        assert violations(browser.page) == [], fragment
    # The maximum stays in sight on a narrow screen.
    places = (
        "['th[scope=row]', 'td.pinned'].map(one => "
        f"document.querySelector(`{SHOWN} ${{one}}`).getBoundingClientRect().x)"
    )
    before = browser.evaluate(places)
    browser.evaluate(f"document.querySelector('{SHOWN} .scroll').scrollLeft = 400")
    assert browser.evaluate(places) == pytest.approx(before, abs=2)


def test_every_figure_of_every_page_is_drawn(browser: Browser) -> None:
    count = (
        "[...document.querySelectorAll('.plot')].filter(one => one.checkVisibility())"
        ".map(one => one.querySelectorAll('.trace').length)"
    )
    drawn = 0
    frag = [f"{name}?{FRAG}" for name in ("matrix", "ramp", "distributions", "agreement")]
    for page in (*frag, "ramp?scenario=mem_stress"):
        browser.go(f"#/{page}")
        browser.draw_all()
        traces = browser.evaluate(count)
        assert all(traces), page
        drawn += len(traces)
    # ramp and depth; the strips; probes. A ramp has no curves of how often, and no witness differs
    # by more than a cycle.
    assert drawn == 2 + 1 + 1


def test_a_sample_has_its_facts_and_cursors_and_leads_on(browser: Browser) -> None:
    browser.go(f"#/sample/{SEGLIST}/2302")
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
    cursor = browser.page.locator(".cursors input").nth(1)
    cursor.fill(str(40 / 84))
    cursor.press("Enter")
    assert "20 samples" in between.inner_text()
    # A click says what a word is.
    browser.page.locator(".facts .term", has_text="probes").click()
    meaning = browser.page.locator(".meaning")
    assert meaning.inner_text() == f"probes: {glossary()['probes'].means}"
    browser.page.locator("h2:visible").click()
    assert meaning.count() == 0
    # The address holds cursors and zoom.
    wave = "document.querySelector('.wave')"
    browser.evaluate(f"Plotly.relayout({wave}, {{ 'xaxis.range': [0, 2] }})")
    address = browser.evaluate("location.hash")
    assert address.endswith("at=0%2C2&cursors=0.2381%2C0.4762")
    press(browser, "[data-step=previous]")
    assert title(browser) == "seglist: operation 2300"
    browser.go(address)
    assert (
        browser.evaluate(f"{wave}._fullLayout.xaxis.range") == [0, 2] and "20 samples" in between.inner_text()
    )
    for key, operation in (("ArrowLeft", 2300), ("ArrowRight", 2302)):
        browser.page.keyboard.press(key)
        browser.settle()
        assert title(browser) == f"seglist: operation {operation}"
    assert browser.evaluate(f"{wave}.ariaLabel") and "at=" not in browser.evaluate("location.hash")
    press(browser, ".of-run")
    assert title(browser) == "seglist"
    assert browser.page.locator(f"{SHOWN} .verbatim").count() == 1


# Where the first figure draws the worst point of the ramp's first row: the last of seglist's line.
POINT = """{
  const plot = document.querySelector(selector);
  const layout = plot._fullLayout, box = plot.getBoundingClientRect();
  const maximum = Math.max(...plot._fullData.find(one => one.name.startsWith('seglist, max')).y);
  return [box.x + layout.xaxis._offset + layout.xaxis.d2p(256),
          box.y + layout.yaxis._offset + layout.yaxis.d2p(maximum)];
}"""


def test_a_point_and_a_maximum_open_their_instant(browser: Browser) -> None:
    browser.go(f"#/ramp?{FRAG}")
    x, y = browser.evaluate(f"(selector => {POINT})('{SHOWN} .plot')")
    browser.click(x, y)
    assert browser.evaluate("location.hash").startswith(f"#/sample/{SEGLIST}/2302")
    browser.go(f"#/comparison?{FRAG}")
    # The longest section on the wire is that of the last trial of depth 256.
    press(browser, f"{SHOWN} tbody:not([hidden]) td.pinned a")
    assert title(browser) == "seglist: operation 2302"


def test_an_unknown_address_says_so(browser: Browser) -> None:
    for fragment, says in {
        f"#/sample/{SEGLIST}/999999": "No waveform of 999999 is stored in this report",
        "#/sample/nobody/1": "This report has no run named nobody",
        "#/run/__proto__": "This report has no run named __proto__",
        "#/nothing": "This report has no page of that name",
        "#/%": "This report has no page of that name",
        "#/ramp?scenario=other": "This report has no scenario named other",
        "#/ramp?show=nobody": "This report has no run named nobody",
    }.items():
        browser.go(fragment)
        assert says in browser.page.locator("main").inner_text(), fragment


def test_the_picker_chooses_runs_and_is_in_the_address(browser: Browser) -> None:
    small = "#/distributions?scenario=small"
    browser.go(small)
    # At first the worst and the best.
    assert chips(browser) == ["nr8", "nr0"]
    assert len(browser.evaluate(curves("one.name"))) == 2
    press(browser, ".chip:has-text('nr3')")
    assert chips(browser) == ["nr8", "nr3", "nr0"]
    press(browser, ".chip:has-text('nr8')")
    assert chips(browser) == ["nr3", "nr0"]
    address = browser.evaluate("location.hash")
    browser.go("#/overview")
    browser.go(address)
    assert chips(browser) == ["nr3", "nr0"]
    press(browser, "#picker .all")
    looks = curves("one.line.color + one.line.dash").replace(".data", ".figure.data")
    assert len(set(browser.evaluate(looks))) == 9
    # Of so many, the curves are grey and have their names at their ends.
    figure = f"document.querySelector('{SHOWN} .plot')"
    assert len(set(browser.evaluate(curves("one.line.color")))) == 1
    ends = browser.evaluate(f"{figure}.layout.annotations.map(one => [one.text, one.x])")
    assert sorted(name for name, _ in ends) == [f"nr{number}" for number in range(9)]
    section_us = [(300 + 10 * int(name[2:])) / 84 for name, _ in ends]
    offsets = [10**x - us for (_, x), us in zip(ends, section_us, strict=True)]
    assert max(offsets) - min(offsets) < 0.001
    # The arrows go through a figure's points from the greatest down, in colour; Enter opens one.
    browser.page.locator(f"{SHOWN} .plot").first.focus()
    browser.page.keyboard.press("ArrowRight")
    lit = browser.evaluate(curves("[one.name, one.line.color]"))
    grey = {colour for name, colour in lit if not name.startswith("nr8")}
    assert len(grey) == 1 and {colour for _, colour in lit} > grey
    browser.page.keyboard.press("Enter")
    browser.settle()
    assert title(browser).startswith("nr8: operation ")
    browser.page.go_back()
    browser.settle()
    # The keyboard does what the mouse does, and keeps its place.
    browser.page.locator(".chip:has-text('nr1')").focus()
    browser.page.keyboard.press("Space")
    browser.settle()
    assert "nr1" not in chips(browser)
    assert browser.evaluate("document.activeElement.textContent").startswith("nr1")
    # A double click shows one alone, beside those that are pinned.
    browser.page.locator(".chip:has-text('nr5')").dblclick()
    browser.settle()
    assert chips(browser) == ["nr5"]
    press(browser, "[aria-label^='Pin nr2']")
    press(browser, "#picker .reset")
    assert chips(browser) == ["nr8", "nr2", "nr0"]
    browser.page.locator("#picker input").fill("NR7")
    assert browser.page.locator(".chip:visible .name").all_inner_texts() == ["nr7"]
    address = browser.evaluate("location.hash")
    browser.go("#/overview")
    browser.go(address)
    assert chips(browser) == ["nr8", "nr2", "nr0"]
    assert browser.page.locator(".chip:visible .name").all_inner_texts() == ["nr7"]


def test_tables_sort_and_are_saved(browser: Browser, tmp_path: Path) -> None:
    browser.go(f"#/matrix?{FRAG}")
    rows = f"{SHOWN} tbody[data-group=mem_frag] th[scope=row]"
    names = f"[...document.querySelectorAll('{rows}')].map(one => one.innerText.trim())"
    heading = browser.page.locator(f"{SHOWN} th:has-text('allocate (µs)') .sort").first
    heading.click()
    assert browser.evaluate(names) == ["seglist", "tlsf"]
    heading.focus()
    browser.page.keyboard.press("Enter")
    assert browser.evaluate(names) == ["tlsf", "seglist"]
    order = browser.evaluate(f"document.querySelector('{SHOWN} [aria-sort]').getAttribute('aria-sort')")
    assert order == "ascending"
    press(browser, f"{SHOWN} th:has-text('allocator') .sort")
    assert browser.evaluate(names) == ["seglist", "tlsf"]
    assert saved(browser, "csv", tmp_path) == "matrix.csv"
    table = list(csv.DictReader((tmp_path / "csv").open(encoding="utf-8")))
    worst = {row["allocator"]: float(row["allocate_ns"]) for row in table if row["group"] == "mem_frag"}
    assert worst == pytest.approx({"seglist": 3_426e9 / 84e6, "tlsf": 454e9 / 84e6})


def test_a_limit_is_a_line_and_says_who_stays_within_it(browser: Browser) -> None:
    """seglist can keep an interrupt waiting 41.33 µs in mem_frag, tlsf 5.95 µs."""
    over = f"[...document.querySelectorAll('{SHOWN} tr.over th')].map(one => one.innerText.split(' ')[0])"
    browser.go("#/overview?limit=10us")
    assert set(browser.evaluate(over)) >= {"seglist"} and "tlsf" not in browser.evaluate(over)
    assert browser.page.title() == "Overview · Tailscope"
    box = browser.page.locator("#limit")
    box.fill("1ms")
    box.press("Enter")
    assert browser.evaluate(over) == [] and browser.evaluate("location.hash").endswith("limit=1ms")
    box.fill("soon")
    box.press("Enter")
    assert browser.page.locator("#limit-wrong").is_visible()
    browser.go(f"#/ramp?{FRAG}&limit=10us")
    lines = f"document.querySelector('{SHOWN} .plot').layout.shapes.filter(one => one.type === 'line')"
    assert browser.evaluate(f"{lines}.map(one => [one.y0, one.y1])") == [[10, 10]]
    browser.go(f"#/sample/{SEGLIST}/2302?limit=10us")  # whose time is no wait's
    assert 10 not in browser.evaluate(f"{lines}.map(one => one.x0)")


def test_two_instants_lie_on_the_time_since_their_stimulus(browser: Browser) -> None:
    """Of operation 2302 the section ends at CRIT's fall."""
    tlsf = SEGLIST.replace("seglist", "tlsf")
    browser.go(f"#/sample/{SEGLIST}/2302")
    browser.page.locator("#beside").select_option(label="tlsf, 5.95 µs")
    browser.settle()
    assert f"beside={tlsf}%2F" in browser.evaluate("location.hash")
    wave = "document.querySelector('.wave')"
    names = browser.evaluate(f"{wave}.data.map(one => one.name)")
    assert len(names) == 16 and names[:8] == names[8:]
    crit = browser.evaluate(f"{wave}.data.filter(one => one.name === 'CRIT').map(one => one.x[2] - one.x[1])")
    assert crit == pytest.approx([3_426 / 84, 454 / 84])
    lowest = browser.evaluate(f"[0, 8].map(at => Math.max(...{wave}.data[at].y))")
    assert lowest[1] < lowest[0]


def saved(browser: Browser, kind: str, folder: Path) -> str:
    """Saves the first table or figure of the page as that kind; the name it is given."""
    with browser.page.expect_download() as waiting:
        browser.page.locator(f"{SHOWN} [data-save={kind}]").first.click()
    waiting.value.save_as(folder / kind)
    return waiting.value.suggested_filename


def test_a_figure_is_saved_as_a_picture(browser: Browser, tmp_path: Path) -> None:
    browser.go(f"#/ramp?{FRAG}")
    saved(browser, "svg", tmp_path)
    # It stands alone: title and runs are in it.
    content = (tmp_path / "svg").read_bytes()
    assert b"Cost against depth" in content and SEGLIST.encode() in content


def test_calls_and_hostile_names_are_text(browser: Browser, hostile: Path) -> None:
    for name, (_, facts) in CALLS.items():
        browser.go(f"#/sample/20250102T030405Z-kernel_masking-{name}-virtual/5")
        shown = browser.page.locator(f"{SHOWN} .facts").inner_text()
        assert shown.startswith(facts)
        assert " of 7 bytes" not in shown and shown.count("timer_start") == (name == "known")
    browser.go(f"#/sample/{hostile.name}/3")
    assert NAMED in browser.page.locator(f"{SHOWN} .facts").inner_text()
    for fragment in (f"#/run/{hostile.name}", "#/overview", f"#/{NAMED}"):
        browser.go(fragment)
        browser.draw_all()
    assert browser.evaluate("window.ran === undefined") is True


def test_a_click_shows_the_explanation(browser: Browser, hostile: Path, tmp_path: Path) -> None:
    panel = "document.querySelector('.instant')"
    browser.go(f"#/sample/{hostile.name}/4")
    assert browser.evaluate(f"{panel}.querySelector('.explained')") is None
    browser.go(f"#/sample/{hostile.name}/5")
    assert browser.evaluate(f"{panel}.querySelector('.why')") is None
    shown = browser.evaluate(f"{panel}.textContent")
    assert "120 instructions in 300 cycles" in shown
    assert browser.evaluate(f"{panel}.querySelector('details').open") is False
    cells = "[...one.tBodies[0].rows].map(row => [...row.cells].map(cell => cell.textContent))"
    tables = browser.evaluate(f"[...{panel}.querySelectorAll('.grid')].map(one => {cells})")
    parts, functions, stack, lines = tables
    assert functions == [[HOSTILE, "250", "12"]] and stack == [[f"{HOSTILE}+0x2", "seglist.c:43"]]
    assert parts == [[HOSTILE, "150", "50"]] * 2 and lines == []
    browser.page.locator(".explained summary").click()
    assert saved(browser, "csv", tmp_path) == "what-held-interrupts-off.csv"
    assert (tmp_path / "csv").read_text(encoding="utf-8").splitlines()[1] == f"{HOSTILE},150,50"
    pieces = (
        "document.querySelector('.heap-map').data.slice(0, 3).map(one => [one.name, one.base[0], one.x[0]])"
    )
    assert browser.evaluate(pieces) == [["live", 0, 88], ["free", 88, 24], ["unknown", 112, 488]]


def test_what_the_time_went_to_lies_below_the_waveform(browser: Browser, hostile: Path) -> None:
    """Sample 1,000 to 1,300 at 84 MS/s; the waveform begins its time at operation 3."""
    browser.go(f"#/sample/{hostile.name}/3")
    zero = browser.evaluate(
        "(async () => { const { runs } = JSON.parse(document.getElementById('data').textContent);"
        f"const pack = await tailscope.figures.json(runs['{hostile.name}']);"
        f"return pack['{hostile.name}'].samples['3'].window[2]; }})()"
    )
    assert browser.evaluate("document.querySelector('.instant .why').textContent") == ANATOMY["sentence"]
    bars = browser.evaluate(
        "(({ base, x, y, hovertext }) => ({ base, x, y, hovertext }))"
        "(document.querySelector('.wave').data.find(one => one.type === 'bar'))"
    )
    assert bars["base"] == pytest.approx(
        [(1_000 + cycle - float(zero)) / 84 for cycle in (0, 150, 150, 0, 100)], abs=1e-6
    )
    assert bars["x"] == pytest.approx([cycles / 84 for cycles in (150, 150, 150, 300, 100)])
    assert bars["y"][0] == bars["y"][1] == bars["y"][2] > bars["y"][3] > bars["y"][4]
    assert bars["hovertext"][3] == (
        "outer: 300 cycles, 100 %; 200 its own<br>most of it at a.c:1: &lt;img src=x onerror=window.ran=1>"
    )


def test_the_heap_shows_what_was_visited_in_order(browser: Browser, hostile: Path) -> None:
    browser.go(f"#/sample/{hostile.name}/3")
    heap = "document.querySelector('.heap-map').data"
    visited = browser.evaluate(f"(({{ hovertext, y }}) => [hovertext, y])({heap}.at(-1))")
    assert visited[0] == ["block 1 of 2: 24 bytes at 0x20000058", "block 2 of 2: 88 bytes at 0x20000000"]
    assert visited[1] == sorted(visited[1], reverse=True)
    text = browser.evaluate("document.querySelector('.heap').textContent")
    assert "Blocks that the search for 16 bytes visited: 2, from 0x20000058 to 0x20000000." in text


def test_of_many_runs_each_page_and_sample_comes_out_of_its_pack(runs_folder: Path, tmp_path: Path) -> None:
    """The same words as where nothing but the runs is packed."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("dashboards.report.MANY", 3)
        path = write_report(find_runs(runs_folder), tmp_path / "many.html")
    pages = {"few": write_report(find_runs(runs_folder), tmp_path / "few.html"), "many": path}
    shown = {}
    for name, page in pages.items():
        kept = runs_of(page.read_text(encoding="utf-8"))
        with opened(page) as browser:
            texts = []
            for run in find_runs(runs_folder):
                key = next(iter(kept[run.name]["samples"]))
                for address in (
                    "comparison",
                    "ramp",
                    "agreement",
                    f"run/{run.name}",
                    f"sample/{run.name}/{key}",
                ):
                    browser.go(f"#/{address}?scenario=mem_frag")
                    texts.append(browser.page.locator(SHOWN).first.inner_text().partition("\nrun.json")[0])
            assert_quiet(browser)
            shown[name] = texts
    assert shown["few"] == shown["many"]
    assert "Not in this report" not in "".join(shown["many"])
    # Of two scenarios, each with all of its runs together.
    assert [page.read_text(encoding="utf-8").count('id="run-') for page in pages.values()] == [4, 2]


def test_a_run_without_a_capture_has_its_page(tmp_path: Path) -> None:
    """It has no samples, so its pack has rows without columns."""
    run = write_run(tmp_path, "mem_frag", "seglist", [Operation("A", 16, 1, 300)] * 12)
    (run / "edges.parquet").unlink()
    page = write_report([run], tmp_path / "report.html")
    with opened(page, f"#/run/{run.name}") as browser:
        assert title(browser) == "seglist"
    assert runs_of(page.read_text(encoding="utf-8"))[run.name]["samples"] == {}


WAITING = "[...document.querySelectorAll('.plot')].filter(one => one.checkVisibility() && !one.dataset.drawn)"


def test_paper_has_every_page_and_column_and_no_controls(browser: Browser) -> None:
    browser.resize(1200, 500)
    browser.go("#/all")
    titles = browser.page.locator(f"{SHOWN} h2").all_inner_texts()
    assert titles[:3] == ["Overview", "Matrix", "Comparison"] and titles.count("Agreement") > 2
    assert browser.evaluate(f"{WAITING}.length") == 0
    browser.resize(PAPER_PX, 1000)
    browser.go("#/comparison")
    browser.page.emulate_media(media="print")
    right = "[...document.querySelectorAll('.grid')].map(one => one.getBoundingClientRect().right)"
    assert max(browser.evaluate(right)) <= PAPER_PX
    # Nothing cuts a table off that is wider than its box.
    assert browser.evaluate("getComputedStyle(document.querySelector('.scroll')).overflowX") == "visible"
    controls = (
        "[...document.querySelectorAll('button:not(.sort), select, nav, #picker, pre')]"
        ".filter(one => one.offsetParent)"
    )
    assert browser.evaluate(f"{controls}.length") == 0


def test_without_javascript_every_table_is_there_with_its_head(browser: Browser, report: Path) -> None:
    assert browser.page.context.browser is not None
    with browser.page.context.browser.new_context(java_script_enabled=False) as plain:
        page = plain.new_page()
        page.goto(report.as_uri())
        assert page.locator("h2:visible").first.inner_text() == "Overview"
        tables = page.locator("table.grid")
        assert tables.count() > 5 and page.locator("table.grid:visible").count() == tables.count()
        assert page.locator("thead th:visible").count() == page.locator("thead th").count()
        assert page.locator("thead .sort:visible").count() == page.locator("thead .sort").count()
        assert page.locator("button:not(.sort):visible, nav:visible").count() == 0


@pytest.mark.long
def test_who_likes_it_dark_gets_dark_figures_and_prints_light_ones(
    report: Path, hostile: Path, tmp_path: Path
) -> None:
    """Opened with a choice of runs in its address."""
    with opened(report, "#/distributions?scenario=small&show=nr2", 300, "dark") as browser:
        assert chips(browser) == ["nr2"]
        browser.resize(1400, 900)
        browser.go(f"#/ramp?{FRAG}")
        assert browser.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(20, 25, 30)"
        assert violations(browser.page) == []
        for name, fragment in (
            (f"{SHOWN} .plot", None),
            (".wave", f"#/sample/{hostile.name}/4"),
            (".wave", f"#/sample/{hostile.name}/3"),
        ):
            if fragment:
                browser.go(fragment)
            paper = f"document.querySelector('{name}')._fullLayout.paper_bgcolor"
            assert browser.evaluate(paper) == "#14191e"
            browser.evaluate("window.dispatchEvent(new Event('beforeprint'))")
            assert browser.evaluate(paper) == "#ffffff"
            browser.evaluate("window.dispatchEvent(new Event('afterprint'))")
            assert browser.evaluate(paper) == "#14191e"
        browser.go(f"#/ramp?{FRAG}")
        paper = f"document.querySelector('{SHOWN} .plot')._fullLayout.paper_bgcolor"
        for colour in ("#ffffff", "#14191e"):
            press(browser, "#theme")
            assert browser.evaluate(paper) == colour
        browser.page.pdf(path=tmp_path / "report.pdf", prefer_css_page_size=True)
        assert (tmp_path / "report.pdf").read_bytes().startswith(b"%PDF-")
