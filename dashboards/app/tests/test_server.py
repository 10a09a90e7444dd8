"""The report, served: in a browser as a reader walks through it, what each address answers, and who
may ask.
"""

from __future__ import annotations

import re
import shutil
import socket
import threading
from pathlib import Path

import numpy as np
import pytest
from flask import Flask
from flask.testing import FlaskClient
from playwright.sync_api import expect
from werkzeug.test import TestResponse

from base.run_folder.edge_stream import EdgeWriter
from base.run_folder.folder import EDGE_STREAM
from base.run_folder.progress_file import Section, SoFar, progress_file
from capture.tests.test_pins import store as store_observed
from dashboards.app.pieces import Library
from dashboards.app.server import make_app, server_of, token_of
from dashboards.tests.browser import Browser, violations
from dashboards.tests.synthetic import Operation, mem_frag, write_run

SEGLIST = "20250102T030405Z-mem_frag-seglist-virtual"
OLDER = SEGLIST.replace("2025", "2024")
OBSERVED = "20250102T030404Z-observe-my-virtual"
UNDER_WAY = "20250102T030406Z-mem_stress-tlsf-virtual"
HOSTILE = "<img src=x onerror=alert(1)>"
TOKEN = "the-token-of-these-tests"
COUNTED = "Run folders: 8; 5 complete, 1 damaged, 1 truncated, 1 unfinished."


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two runs of a ramp, an older one of the first, one truncated, one with a hostile name,
    one that is damaged, one from the wire alone, and one under way.
    """
    runs = tmp_path_factory.mktemp("app") / "runs"
    for allocator in ("seglist", "tlsf"):
        write_run(runs, "mem_frag", allocator, mem_frag(allocator, 64))
    shutil.copytree(runs / SEGLIST, runs / OLDER)
    reasons = ("The end frame is missing.",)
    write_run(runs, "mem_frag", "heap_4", mem_frag("tlsf", 8), verdict="truncated", reasons=reasons)
    hostile = write_run(runs, "small", "hostile", [Operation("A", 16, 1, 300)] * 12)
    document = (hostile / "run.json").read_text(encoding="utf-8")
    (hostile / "run.json").write_text(document.replace('"hostile"', f'"{HOSTILE}"'), encoding="utf-8")
    (runs / OBSERVED).mkdir()
    store_observed(runs / OBSERVED)
    (runs / "damaged").mkdir()
    (runs / "damaged" / "run.json").write_text("{", encoding="utf-8")
    (runs / UNDER_WAY).mkdir()
    (runs / UNDER_WAY / "operations.bin").write_bytes(b"")
    return runs


@pytest.fixture(scope="module")
def client(runs: Path) -> FlaskClient:
    return make_app(Library(runs), TOKEN).test_client()


def get(client: FlaskClient, path: str, **query: str | list[str]) -> TestResponse:
    headers = {"Authorization": f"Bearer {TOKEN}"}
    return client.get(path, query_string=query, headers=headers, base_url="http://127.0.0.1:8050")


def test_the_table_has_every_folder_and_its_maxima(client: FlaskClient) -> None:
    page = get(client, "/runs").text
    assert COUNTED in page
    # The last depth, 64: 350 + 12 × 64 + 4 cycles at 84 MHz, in its third trial.
    assert f'<a href="#/run/{SEGLIST}">seglist</a>' in page and 'title="13,357.1 ns">13.36<' in page
    assert HOSTILE not in page and "&lt;img src=x" in page


def test_any_operation_is_a_sample_and_leads_to_its_neighbours(client: FlaskClient) -> None:
    sample = get(client, "/sample", id=SEGLIST, key="7").get_json()
    assert sample["around"] == {"previous": "6", "next": "8"}
    assert "allocation of 8 bytes · " in sample["samples"]["7"]["facts"]
    assert sample["samples"]["7"]["window"]
    assert get(client, "/sample", id=SEGLIST, key="0").get_json()["around"] == {"next": "1"}


@pytest.mark.parametrize(
    ("path", "query"),
    [
        ("/sample", {"id": SEGLIST, "key": "99999"}),
        ("/sample", {"id": SEGLIST, "key": "@-1"}),
        ("/sample", {"id": "../../etc", "key": "1"}),
        ("/run", {"id": "damaged"}),
        ("/run", {"id": HOSTILE}),
        ("/page", {"key": "ramp", "scenario": "none"}),
        ("/page", {"key": "none", "scenario": "mem_frag"}),
        ("/page", {"key": "none"}),
        ("/compare", {"run": SEGLIST}),
    ],
)
def test_what_is_not_there_is_one_sentence_of_plain_text(
    client: FlaskClient, path: str, query: dict[str, str]
) -> None:
    answer = get(client, path, **query)
    assert (answer.status_code, answer.mimetype) == (404, "text/plain")
    assert len(answer.text.splitlines()) == 1


def test_of_runs_alike_the_latest_stands_and_all_may_be_shown(client: FlaskClient) -> None:
    assert "only the latest run stands: 1 left out" in get(client, "/").text
    assert "older run" not in get(client, "/", all="1").text
    assert OLDER not in get(client, "/page", key="comparison", scenario="mem_frag").text
    both = get(client, "/page", key="comparison", scenario="mem_frag", all="1").text
    assert both.count(SEGLIST) and both.count(OLDER)


def test_two_runs_are_compared_as_the_command_does(client: FlaskClient) -> None:
    answer = get(client, "/compare", run=[SEGLIST, SEGLIST.replace("seglist", "tlsf")])
    assert answer.status_code == 200 and "connect-src" not in answer.headers["Content-Security-Policy"]


def test_a_page_without_anything_is_left_out(client: FlaskClient) -> None:
    offered = set(re.findall(r'data-page="(\w+)" data-scenario="mem_frag"', get(client, "/").text))
    assert not {"boards", "phase"} & offered and {"ramp", "agreement"} <= offered


def test_a_run_from_the_wire_alone_has_a_page(client: FlaskClient) -> None:
    assert "It has no operations." in get(client, "/run", id=OBSERVED).text


def test_a_run_under_way_is_seen(client: FlaskClient, runs: Path) -> None:
    so_far = SoFar(
        scenario="mem_stress", allocator="tlsf", board="virtual", run=2, runs=5, left_s=12.0,
        began="2025-01-02T03:04:06Z", elapsed_s=4.0, step="capturing", operations=300,
        planned_operations=1_200, operations_per_s=75.0, samples=None, asked_samples=None,
        critical=Section(seq=77, size=120, cycles=8_400, ns=100_000.0), free=None,
    )  # fmt: skip
    with progress_file(runs / UNDER_WAY) as write:
        write(so_far)
        live = get(client, "/live").get_json()
        assert "mem_stress with tlsf on virtual: capturing, run 2 of 5" in live["boxes"]
        assert "longest allocation so far 100,000.0 ns (8,400 cycles), operation 77" in live["boxes"]
        assert "4 s so far · about 8 s left" in live["boxes"]
        assert '<progress value="300" max="1200"' in live["boxes"]
        assert live["counted"] == COUNTED.replace("1 unfinished", "1 under way")
        # Its wire grows: two pulses of 20 and 30 µs, then one of 50.
        blocks = (([0, 10, 30, 60, 90], 100), ([120, 170], 200))
        with EdgeWriter(runs / UNDER_WAY / EDGE_STREAM, 1_000_000, ("CRIT",), 1_000) as writer:
            for (samples, total), seen in zip(blocks, (["2", "30.00"], ["3", "50.00"]), strict=True):
                word = np.array([place % 2 for place in range(len(samples))], np.uint8)
                writer.append(np.array(samples), word if total == 100 else 1 - word, total)
                boxes = get(client, "/live").get_json()["boxes"]
                (tail,) = (line.split() for line in boxes.splitlines() if line.startswith("CRIT, width"))
                tail[-1] = tail[-1].removesuffix("</pre>")
                assert [tail[2], tail[-1]] == seen
        # The last edges, from sample 0 to 10 behind the last: high from 10 on.
        assert '<path d="M0 18H55.6V2H166.7V18H333.3V2H500.0V18H666.7V2H944.4V18H1000"/>' in boxes
        (runs / UNDER_WAY / EDGE_STREAM).unlink()
    (runs / UNDER_WAY / "progress.json").write_text("{}", encoding="utf-8")
    assert f"{UNDER_WAY} was killed before its end" in get(client, "/live").get_json()["boxes"]
    (runs / UNDER_WAY / "progress.json").unlink()
    assert get(client, "/live").get_json() == {"counted": COUNTED, "boxes": ""}


def test_a_reader_walks_from_the_overview_to_an_instant_and_hears_of_the_end(runs: Path) -> None:
    listening = socket.create_server(("127.0.0.1", 0))
    server = server_of(listening, make_app(Library(runs), TOKEN))
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    address = f"http://127.0.0.1:{server.port}"
    with Browser() as browser:
        page, shown = browser.page, "section.page:not([hidden])"
        page.goto(f"{address}/?token={TOKEN}")
        browser.settle()
        heading = page.locator(f"{shown} h2").first
        expect(heading).to_have_text("Overview")
        for fragment in ("#/ramp?scenario=mem_frag", "#/all", "#/runs"):
            browser.go(fragment)
        assert violations(page) == []
        row = page.locator(f"{shown} tbody tr", has=page.locator(f"a[href='#/run/{SEGLIST}']"))
        row.locator("input[type=checkbox]").check()
        expect(page.locator(".choices a", has_text="show these alone")).to_have_attribute(
            "href", f"?run={SEGLIST}#/overview"
        )
        page.locator(f"{shown} input[type=search]").fill("tlsf mem_frag")
        expect(page.locator(f"{shown} tbody tr:visible")).to_have_count(1)
        page.locator(f"{shown} input[type=search]").fill("")
        browser.go("#/comparison?scenario=mem_frag")
        page.locator(f"{shown} tbody:not([hidden]) td.pinned a").first.click()
        expect(heading).to_have_text(re.compile("seglist: operation [0-9]+$"))
        browser.wait("() => document.querySelector('.wave .main-svg')")
        worst = heading.inner_text()
        page.locator("[data-step=previous]").click()
        expect(heading).not_to_have_text(worst)
        assert browser.complaints == []
        assert all(request.startswith((address, "data:", "blob:")) for request in browser.requests)
        server.shutdown()
        thread.join()
        server.server_close()
        listening.close()
        browser.go(f"#/sample/{SEGLIST}/3")
        expect(page.locator("#unknown p").first).to_contain_text("start ./lab app again")
        # Started again, with the token of its file, it goes on by itself.
        listening = socket.create_server(("127.0.0.1", server.port))
        server = server_of(listening, make_app(Library(runs), TOKEN))
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        thread.start()
        expect(heading).to_have_text("seglist: operation 3")
        server.shutdown()
        thread.join()
        server.server_close()
        listening.close()


PATHS = ("/", "/runs", "/live", "/plotly.js")


@pytest.fixture(scope="module")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Flask:
    """The app over no runs."""
    return make_app(Library(tmp_path_factory.mktemp("runs")), TOKEN)


@pytest.fixture
def server(empty: Flask) -> FlaskClient:
    """Who asks it, without cookies yet."""
    return empty.test_client()


def ask(server: FlaskClient, path: str, **options: object) -> TestResponse:
    return server.get(path, base_url="http://127.0.0.1:8050", **options)


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize(
    "shown", [None, "", "another", TOKEN[:-1], f"{TOKEN} ", "\N{LATIN SMALL LETTER E WITH ACUTE}"]
)
def test_without_the_token_nothing_is_answered(server: FlaskClient, path: str, shown: str | None) -> None:
    answer = ask(server, path, query_string={} if shown is None else {"token": shown})
    assert answer.status_code == 403
    assert answer.text.startswith(
        "This app shows its runs to the user who started it: open the whole address"
    )
    assert "Set-Cookie" not in answer.headers


def test_the_address_with_the_token_opens_the_app_for_the_browser(server: FlaskClient) -> None:
    first = ask(server, f"/runs?all=1&token={TOKEN}&run=x&run=y")
    assert first.status_code == 302
    assert first.headers["Location"] == "/runs?all=1&run=x&run=y"
    cookie = first.headers["Set-Cookie"]
    assert cookie.startswith(f"tailscope-8050={TOKEN};") and "HttpOnly" in cookie and "SameSite=Lax" in cookie
    for path in PATHS:
        assert ask(server, path).status_code == 200, path


@pytest.mark.parametrize("path", ["//elsewhere.example", "/\\elsewhere.example", "///elsewhere.example/x"])
def test_it_leads_to_no_other_host(server: FlaskClient, path: str) -> None:
    environment = {"PATH_INFO": path, "QUERY_STRING": f"token={TOKEN}"}
    location = ask(server, "/", environ_overrides=environment).headers["Location"]
    assert location.startswith("/") and location[1] not in "/\\"


def test_a_restart_has_the_same_token_unless_others_may_read_it(tmp_path: Path) -> None:
    place = tmp_path / "deeper" / "token"
    token = token_of(place)
    assert len(token) == 32 and token_of(place) == token and place.stat().st_mode & 0o777 == 0o600
    place.chmod(0o644)
    other = token_of(place)
    assert other not in ("", token) and place.stat().st_mode & 0o777 == 0o600
    place.write_text("short")
    assert len(token_of(place)) == 32
    assert len(token_of(tmp_path)) == 32  # a folder: it cannot be kept


def test_a_program_shows_the_token_in_a_header(server: FlaskClient) -> None:
    assert ask(server, "/", headers={"Authorization": f"Bearer {TOKEN}"}).status_code == 200
    assert ask(server, "/", headers={"Authorization": TOKEN}).status_code == 403
