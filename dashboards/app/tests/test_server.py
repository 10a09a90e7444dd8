"""The app in a browser: its pages, what leads where, the picker, files, and who may ask."""

from __future__ import annotations

import io
import json
import shutil
import socket
import threading
from collections.abc import Iterator
from http.client import HTTPResponse
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import numpy as np
import polars as pl
import pytest
from playwright.sync_api import Page, Response, expect

from base.run_folder.edge_stream import EdgeWriter
from base.run_folder.folder import EDGE_STREAM
from base.run_folder.progress_file import ProgressFile, Section, SoFar
from capture.acquisition.tests.test_pins import store as store_observed
from dashboards.app.library import Library
from dashboards.app.listening import Server
from dashboards.app.server import make_app
from dashboards.tests.browser import Browser, chromium, violations, wait
from dashboards.tests.synthetic import mem_frag, write_run

pytestmark = pytest.mark.skipif(chromium() is None, reason="needs Chromium: apt-get install chromium")

expect.set_options(timeout=30_000)  # a busy machine is no failure

SEGLIST = "20250102T030405Z-mem_frag-seglist-virtual"
OLDER = SEGLIST.replace("2025", "2024")
OBSERVED = "20250102T030404Z-observe-my-virtual"
TOKEN = "the-token-of-these-tests"
UNDER_WAY = "20250102T030406Z-mem_stress-tlsf-virtual"


@pytest.fixture(scope="module")
def app_runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two runs of a ramp, an older one of the first, one that is truncated, one that is damaged,
    one from the wire alone, and one under way.
    """
    runs = tmp_path_factory.mktemp("app") / "runs"
    for allocator in ("seglist", "tlsf"):
        write_run(runs, "mem_frag", allocator, mem_frag(allocator, 64))
    shutil.copytree(runs / SEGLIST, runs / OLDER)
    reasons = ("The end frame is missing.",)
    write_run(runs, "mem_frag", "heap_4", mem_frag("tlsf", 8), verdict="truncated", reasons=reasons)
    observed = runs / OBSERVED
    observed.mkdir()
    store_observed(observed)
    (runs / "damaged").mkdir()
    (runs / "damaged" / "run.json").write_text("{", encoding="utf-8")
    (runs / UNDER_WAY).mkdir()
    (runs / UNDER_WAY / "operations.bin").write_bytes(b"")
    return runs


@pytest.fixture(scope="module")
def address(app_runs: Path) -> Iterator[str]:
    """Where the app answers."""
    listening = socket.create_server(("127.0.0.1", 0))
    server = Server(listening, make_app(Library(app_runs), TOKEN).server, within_s=2.0)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    yield f"http://127.0.0.1:{server.port}"
    server.shutdown()
    thread.join()
    server.server_close()
    listening.close()


def answer(address: str, data: bytes | None = None, **headers: str) -> HTTPResponse:
    """What the app answers to whoever has the token. Raises HTTPError."""
    response = urlopen(Request(address, data, {"Authorization": f"Bearer {TOKEN}", **headers}))
    assert isinstance(response, HTTPResponse)
    return response


@pytest.fixture(scope="module")
def browser(address: str) -> Iterator[Browser]:
    """The app, loaded once: what follows goes from page to page as a reader does."""
    executable = chromium()
    assert executable is not None
    with Browser(executable) as browser:
        browser.page.set_default_timeout(20_000)
        browser.page.goto(f"{address}/?token={TOKEN}")
        browser.page.wait_for_selector("main h1")
        yield browser


@pytest.fixture
def page(browser: Browser, address: str) -> Iterator[Page]:
    """The app. After the test it must have complained of nothing and asked nobody else."""
    browser.complaints.clear()
    browser.resize(1400, 900)
    browser.page.evaluate("history.replaceState({}, '', location.pathname)")
    yield browser.page
    assert browser.complaints == []
    assert all(request.startswith((address, "data:", "blob:")) for request in browser.requests)


def go(page: Page, where: str) -> None:
    """Follows a link of the app to `where`, and waits for that page."""
    here = page.evaluate("location.pathname + location.search")
    if here == where:
        return
    with page.expect_response(_has_content):
        page.evaluate("where => tailscope.app.go(where)", where)
    page.evaluate("() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")


def _has_content(response: Response) -> bool:
    return "content.children" in (response.request.post_data or "")


def drawn(page: Page, count: int) -> None:
    """Waits until `count` figures or more have lines or points."""
    wait(
        page,
        "() => [...document.querySelectorAll('.js-plotly-plot')]"
        f".filter(one => one.querySelector('.trace, .lines, .points')).length >= {count}",
    )


def test_the_runs_are_listed_with_their_verdicts_and_lead_to_their_instants(page: Page) -> None:
    go(page, "/")
    expect(page.locator("#counted")).to_have_text(
        "7 run folders: 4 complete, 1 damaged, 1 truncated, 1 unfinished."
    )
    row = page.locator(f"[row-id='{SEGLIST}']").last
    # The last depth, 64: 350 + 12 × 64 + 4 cycles at 84 MHz, in its third trial.
    expect(row.locator("[col-id=critical_ns_max] ")).to_have_text("13,357.1")
    row.locator("[col-id=configuration] a").click()
    expect(page.locator("h1")).to_have_text("seglist")
    page.go_back()
    expect(page.locator("h1")).to_have_text("Runs")
    assert violations(page) == []


def test_a_run_under_way_is_seen(page: Page, app_runs: Path) -> None:
    so_far = SoFar(
        scenario="mem_stress", allocator="tlsf", board="virtual", run=2, runs=5, left_s=12.0,
        began="2025-01-02T03:04:06Z", elapsed_s=4.0, step="capturing", operations=300,
        planned_operations=1_200, operations_per_s=75.0, samples=None, asked_samples=None,
        critical=Section(seq=77, size=120, cycles=8_400, ns=100_000.0), free=None,
    )  # fmt: skip
    with ProgressFile(app_runs / UNDER_WAY) as file:
        file.write(so_far)
        go(page, "/")
        box = page.locator("#live")
        expect(box).to_contain_text("mem_stress with tlsf on virtual: capturing, run 2 of 5")
        expect(box).to_contain_text("300 of 1,200 operations · 75 a second")
        expect(box).to_contain_text("longest allocation so far 100,000.0 ns (8,400 cycles), operation 77")
        assert page.locator("#live progress").get_attribute("value") == "300"
        with EdgeWriter(app_runs / UNDER_WAY / EDGE_STREAM, 1_000_000, ("CRIT",), 1_000) as writer:
            writer.append(np.array([0, 100, 300]), np.array([0, 1, 0], np.uint8), 500)
            expect(page.locator("#live .wire")).to_contain_text("200.00")
            writer.append(np.array([600, 900]), np.array([1, 0], np.uint8), 1_000)
            expect(page.locator("#live .wire")).to_contain_text("300.00")
        (app_runs / UNDER_WAY / EDGE_STREAM).unlink()
        # It is neither good nor bad yet.
        going = page.locator(f"[row-id='{UNDER_WAY}'] [col-id=verdict] .verdict")
        expect(going).to_have_text("under way")
        expect(going).to_have_class("verdict going")
    expect(box).to_be_empty()
    # What a process that was killed leaves behind: its progress, and no lock.
    left = app_runs / UNDER_WAY / "progress.json"
    left.write_text("{}", encoding="utf-8")
    expect(box).to_contain_text(f"{UNDER_WAY} was killed before its end; ./lab redecode it")
    left.unlink()


@pytest.mark.parametrize("where", ["/matrix", "/ramp"])
def test_pages_are_clean_in_light_dark_and_narrow(page: Page, where: str) -> None:
    go(page, where)
    if where != "/matrix":
        drawn(page, 2)
    assert violations(page) == []
    page.click("button.theme")
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    assert "theme=dark" in page.url
    assert violations(page) == []
    page.set_viewport_size({"width": 400, "height": 900})
    wait(page, "() => document.documentElement.scrollWidth <= 400")


def test_older_runs_are_left_out_and_told(page: Page) -> None:
    go(page, "/matrix")
    hint = page.locator("p.hint", has_text="left out")
    expect(hint).to_have_text("1 older run of the same scenario, allocator and options is left out. Show all")
    hint.locator("a").click()
    expect(page.locator("tbody a", has_text="seglist")).to_have_count(2)
    expect(hint).to_have_count(0)
    assert "all=1" in page.url


def test_what_a_scenario_lacks_is_not_offered(page: Page) -> None:
    go(page, "/ramp")
    for words, why in (("Phase", "has no sweep of stimuli"), ("Cycles by probes", "is a ramp")):
        link = page.locator("#nav a", has_text=words)
        expect(link).to_have_attribute("aria-disabled", "true")
        assert why in str(link.get_attribute("title"))
        assert link.get_attribute("href") is None
    expect(page.locator("#nav a", has_text="Waveforms")).to_have_attribute("href", "/waveforms")
    assert violations(page) == []


def test_a_run_from_the_wire_alone_has_a_page(page: Page) -> None:
    go(page, f"/run/{OBSERVED}")
    expect(page.locator("h1")).to_have_text("my.elf")
    expect(page.locator("main")).to_contain_text("CRIT on PA8, SYNC on PB4. It has no operations.")
    expect(page.locator("main .grid")).to_contain_text("CRIT")
    assert violations(page) == []


TLSF = SEGLIST.replace("seglist", "tlsf")


def choose(page: Page, run: str) -> None:
    page.locator(f"[row-id='{run}'] input[type=checkbox]").first.click()


def test_two_chosen_runs_are_compared_operation_by_operation(page: Page) -> None:
    go(page, "/")
    compared = page.locator("#compare")
    expect(compared).to_be_hidden()
    choose(page, SEGLIST)
    expect(page.locator("#chosen-words")).to_have_text("Choose one more to compare the two.")
    choose(page, TLSF)
    compared.click()
    expect(page.locator("h1")).to_have_text("A and B compared")
    drawn(page, 1)
    # The ramp has 64 depths with 3 trials each, and the last allocation of seglist is its worst.
    expect(page.locator("main")).to_contain_text("13.36 → 5.40 µs")
    expect(page.locator("h2", has_text="Operation by operation")).to_be_visible()
    assert violations(page) == []
    page.click("text=The other way round")
    expect(page.locator(".hint a").first).to_have_text(TLSF)


def test_what_is_filtered_out_is_not_chosen(page: Page) -> None:
    go(page, "/")
    # A page that is come back to has nothing chosen and nothing searched for.
    expect(page.locator("#compare")).to_be_hidden()
    choose(page, SEGLIST)
    choose(page, TLSF)
    expect(page.locator("#compare")).to_be_visible()
    page.fill("#find", "tlsf mem_frag")
    expect(page.locator("#chosen-words")).to_have_text("1 chosen, but filtered out, so left out.")
    expect(page.locator("#compare")).to_be_hidden()
    assert str(page.locator("#matrix").get_attribute("href")).endswith(f"run={TLSF}")
    page.fill("#find", "")
    expect(page.locator("#compare")).to_be_visible()


def test_the_older_of_runs_alike_stand_behind_the_latest(page: Page) -> None:
    go(page, "/matrix")
    go(page, "/")
    latest = page.locator(f"[row-id='{SEGLIST}']").last
    expect(latest.locator("[col-id=repeats]")).to_have_text("2")
    expect(page.locator(f"[row-id='{OLDER}']")).to_have_count(0)
    page.click("#repeats")
    expect(page.locator(f"[row-id='{OLDER}']").last).to_be_visible()
    page.click("#repeats")
    expect(page.locator(f"[row-id='{OLDER}']")).to_have_count(0)


def test_a_phone_shows_allocator_and_worst_first(page: Page) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    go(page, "/matrix")
    go(page, "/")
    row = page.locator(f"[row-id='{SEGLIST}']").last
    expect(row).to_be_visible()
    for column in ("configuration", "section_ns_max"):
        box = page.locator(f".ag-header-cell[col-id={column}]").bounding_box()
        assert box is not None and box["x"] + box["width"] <= 390
    wait(page, "() => document.documentElement.scrollWidth <= 390")


FOCUSED = "document.activeElement"


def press_until(page: Page, key: str, condition: str, most: int = 80) -> None:
    """Presses `key` until `condition` holds of the focused element `one`, each of which is seen."""
    for _ in range(most):
        page.keyboard.press(key)
        if page.evaluate(f"(one => {condition})({FOCUSED})"):
            assert page.evaluate(f"getComputedStyle({FOCUSED}).outlineStyle") == "solid"
            return
    pytest.fail(f"{key} never came to where {condition}")


def test_the_keyboard_alone_leads_to_a_sample_and_back(page: Page) -> None:
    go(page, "/")
    expect(page.locator(f"[row-id='{SEGLIST}']").last).to_be_visible()
    page.focus(".brand")
    press_until(page, "Tab", "one.matches('.ag-cell')")
    press_until(page, "ArrowRight", "one.getAttribute('col-id') === 'configuration'")
    page.keyboard.press("Tab")  # out of the grid, not to its next cell
    assert page.evaluate(f"{FOCUSED}.closest('.ag-cell')") is None
    press_until(page, "Shift+Tab", "one.matches('.ag-cell')")
    press_until(page, "ArrowLeft", "one.getAttribute('col-id') === 'configuration'")
    press_until(page, "ArrowUp", f"one.closest('[row-id=\"{SEGLIST}\"]')", most=10)
    page.keyboard.press("Enter")
    expect(page.locator("h1")).to_have_text("seglist")
    expect(page.locator("#content")).to_be_focused()
    press_until(page, "Tab", "one.matches('a') && one.textContent === '13.36'")
    page.keyboard.press("Enter")
    expect(page.locator("h1")).to_have_text("Operation 574")
    expect(page.locator("#content")).to_be_focused()
    drawn(page, 1)
    press_until(page, "Tab", "one.textContent === '± 10 samples'")
    press_until(page, "Tab", "one.id === 'cursor-A'")
    page.keyboard.type("1000")
    # Whatever a click on a figure opens stands in a table too.
    press_until(page, "Tab", "one.textContent.startsWith('interrupt at') || one.href?.includes('/sample/')")
    page.keyboard.press("Enter")
    expect(page.locator("h1")).not_to_have_text("Operation 574")
    for _ in range(3):
        page.go_back()
    expect(page.locator("h1")).to_have_text("Runs")
    expect(page.locator("#content")).to_be_focused()


def test_paper_is_light_and_has_figures_of_its_width(page: Page) -> None:
    go(page, "/ramp?theme=dark")
    drawn(page, 1)
    widths = "[...document.querySelectorAll('.js-plotly-plot')].map(one => one._fullLayout.width)"
    before = page.evaluate(widths)
    theme = "document.documentElement.dataset.theme"
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert set(page.evaluate(widths)) == {690}
    assert page.evaluate(theme) == "light"
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    wait(page, f"() => {widths}.join() === '{','.join(map(str, before))}'")
    assert page.evaluate(theme) == "dark"
    go(page, "/")
    page.emulate_media(media="print")
    assert page.locator(".on-paper").is_visible() and not page.locator("#runs-grid").is_visible()
    page.emulate_media(media="screen")


def test_no_figure_offers_to_send_its_data_away(page: Page) -> None:
    go(page, "/ramp")
    drawn(page, 1)
    titles = page.evaluate("[...document.querySelectorAll('.modebar-btn')].map(one => one.dataset.title)")
    assert "Zoom in" in titles
    assert not [title for title in titles if "hare" in title or "loud" in title]


def test_a_maximum_of_the_matrix_leads_to_its_waveform(page: Page) -> None:
    go(page, "/matrix?theme=dark")
    page.click("text=13.36")
    expect(page.locator("h1")).to_have_text("Operation 574")
    drawn(page, 1)
    assert page.url.endswith("/574?theme=dark")
    expect(page.locator(".facts").first).to_contain_text("13,357.1 ±23.9 ns")
    page.reload()
    expect(page.locator("h1")).to_have_text("Operation 574")
    drawn(page, 1)
    page.click("text=← previous operation")
    expect(page.locator("h1")).to_have_text("Operation 573")
    page.click("text=next operation →")
    expect(page.locator("h1")).to_have_text("Operation 574")
    assert violations(page) == []


def test_cursors_tell_what_lies_between_them(page: Page) -> None:
    go(page, f"/sample/{SEGLIST}/574")
    drawn(page, 1)
    page.fill("#cursor-A", "1000")
    page.fill("#cursor-B", "1084")
    page.keyboard.press("Tab")
    # No edges are there: the widest budget of the run holds.
    expect(page.locator("#between")).to_have_text("Δt = 1,000 ns ±23.9 ns (84 samples, 84 cycles)")


def test_the_waveform_goes_from_one_sample_to_the_whole_capture(page: Page) -> None:
    go(page, f"/sample/{SEGLIST}/574")
    drawn(page, 1)
    edges = "document.querySelector('.js-plotly-plot')._fullData[1].x.length"
    assert page.evaluate(edges) == 4
    page.click("text=whole capture")
    wait(page, f"() => {edges} > 1000")
    page.click("text=± 10 samples")
    wait(page, f"() => {edges} < 10")
    low, high = page.evaluate("document.querySelector('.js-plotly-plot').layout.xaxis.range")
    assert high - low == pytest.approx(20 / 84)


def test_a_click_on_a_point_opens_it(page: Page) -> None:
    go(page, "/ramp")
    drawn(page, 1)
    x, y = page.evaluate(
        """(() => {
            const plot = document.querySelector('.js-plotly-plot');
            plot.scrollIntoView({ block: 'center' });
            const layout = plot._fullLayout, box = plot.getBoundingClientRect();
            const worst = Math.max(...plot._fullData.find(one => one.name.startsWith('seglist')).y);
            return [box.x + layout.xaxis._offset + layout.xaxis.d2p(64),
                    box.y + layout.yaxis._offset + layout.yaxis.d2p(worst)];
        })()"""
    )
    page.mouse.move(x - 3, y)
    page.mouse.move(x, y)
    page.mouse.click(x, y)
    expect(page.locator("h1")).to_have_text("Operation 574")


def test_the_picker_is_kept_in_the_address(page: Page) -> None:
    go(page, "/distributions")
    drawn(page, 1)
    runs = "document.querySelector('.js-plotly-plot').data.filter(one => one.mode !== 'lines')"
    runs += ".map(one => one.meta?.run).filter(Boolean)"
    names = f"[...new Set({runs})].length"
    assert page.evaluate(names) == 3
    page.click(".chip .switch >> text=tlsf")
    wait(page, f"() => {names} === 2")
    page.dblclick(".chip .switch >> text=seglist")
    wait(page, f"() => {names} === 1")
    assert "show=seglist" in page.url and "show=tlsf" not in page.url
    page.click("nav >> text=Ramp")
    drawn(page, 1)
    wait(page, f"() => {names} === 1")


def test_figures_and_tables_are_saved(page: Page, tmp_path: Path, address: str) -> None:
    go(page, "/distributions")
    drawn(page, 1)
    for kind, begin in (("svg", b"<svg"), ("png", b"\x89PNG")):
        with page.expect_download() as saved:
            page.locator(f"[data-picture={kind}]").first.click()
        path = tmp_path / saved.value.suggested_filename
        saved.value.save_as(path)
        assert path.suffix == f".{kind}"
        assert path.read_bytes().startswith(begin)
    go(page, "/matrix")
    with page.expect_download() as saved:
        page.click("a[download] >> text=CSV")
    table = pl.read_csv(saved.value.path())
    assert table.filter(allocator="seglist")["allocate_ns"].item() == pytest.approx(1_122 * 1e9 / 84e6)
    parquet = pl.read_parquet(io.BytesIO(answer(f"{address}/download/matrix/matrix.parquet").read()))
    assert parquet.equals(table.cast(parquet.schema))
    index = pl.read_csv(answer(f"{address}/download/runs/runs.csv").read())
    assert sorted(index["state"].drop_nulls().unique()) == ["damaged", "finished", "observed", "unfinished"]


NOT_THERE = {
    "/run/none": "There is no run 'none'",
    "/run/../../etc": "There is no",
    "/sample/none/3": "There is no run 'none'",
    f"/sample/{SEGLIST}/99999": "has no operation 99999",
    f"/sample/{SEGLIST}/@x": "has no sample x",
    "/sample": "There is no run",
    f"/compare?run={SEGLIST}": "A comparison is of two runs, and the address names 1",
    f"/compare?run={SEGLIST}&run=none": "There is no run 'none'",
    f"/compare?run={SEGLIST}&run=damaged": "damaged",
    "/nowhere": "There is no page 'nowhere'",
    "/matrix?scenario=none": "There is no run of the scenario 'none'",
    "/run/damaged": "run.json",
    f"/run/{UNDER_WAY}": "has no run.json",
    "/run/%00%ff": "There is no run",
}


def test_what_is_not_there_is_said_in_a_sentence(page: Page) -> None:
    for where, sentence in NOT_THERE.items():
        go(page, where)
        expect(page.locator("[role=alert]")).to_contain_text(sentence)


def test_a_truncated_run_says_so_wherever_it_is(page: Page) -> None:
    for where in ("/run/20250102T030405Z-mem_frag-heap_4-virtual", "/ramp"):
        go(page, where)
        expect(page.locator("main")).to_contain_text("The end frame is missing.")


def test_strangers_are_refused(address: str) -> None:
    """A name that its owner points at 127.0.0.1, and a page from elsewhere."""
    for header in (
        {"Host": "evil.example"},
        {"Origin": "http://evil.example"},
        {"Host": "127.0.0.1.evil.example"},
    ):
        with pytest.raises(HTTPError) as refused:
            answer(address, None, **header)
        assert refused.value.code == 403
        assert b"only" in refused.value.read()
    port = address.rpartition(":")[2]
    assert answer(address, Host=f"localhost:{port}").status == 200
    layout = json.loads(answer(f"{address}/_dash-layout").read())
    assert layout["type"] == "Div"
    for name in ("page.css", "paint.js"):
        assert answer(f"{address}/shared/{name}").status == 200
    with pytest.raises(HTTPError):
        answer(f"{address}/shared/embedded.py")
