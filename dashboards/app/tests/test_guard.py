"""Who may ask the app, by requests without a browser."""

from __future__ import annotations

from pathlib import Path

import pytest
from flask import Flask, request
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from dashboards.app.pieces import Library
from dashboards.app.server import MOST_BODY_BYTES, make_app, token_of

TOKEN = "a-token"
PATHS = ("/", "/runs", "/live", "/alive", "/plotly.js")


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Flask:
    """The app over no runs."""
    app = make_app(Library(tmp_path_factory.mktemp("runs")), TOKEN)
    app.post("/echo")(lambda: str(len(request.get_data())))
    return app


@pytest.fixture
def server(app: Flask) -> FlaskClient:
    """Who asks it, without cookies yet."""
    return app.test_client()


def get(server: FlaskClient, path: str, **options: object) -> TestResponse:
    return server.get(path, base_url="http://127.0.0.1:8050", **options)


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize(
    "shown", [None, "", "another", TOKEN[:-1], f"{TOKEN} ", "\N{LATIN SMALL LETTER E WITH ACUTE}"]
)
def test_without_the_token_nothing_is_answered(server: FlaskClient, path: str, shown: str | None) -> None:
    answer = get(server, path, query_string={} if shown is None else {"token": shown})
    assert answer.status_code == 403
    assert answer.text.startswith(
        "This app shows its runs to the user who started it: open the whole address"
    )
    assert "Set-Cookie" not in answer.headers


def test_the_address_with_the_token_opens_the_app_for_the_browser(server: FlaskClient) -> None:
    first = get(server, "/runs?all=1&token=a-token&run=x&run=y")
    assert first.status_code == 302
    assert first.headers["Location"] == "/runs?all=1&run=x&run=y"
    cookie = first.headers["Set-Cookie"]
    assert cookie.startswith("tailscope-8050=a-token;") and "HttpOnly" in cookie and "SameSite=Lax" in cookie
    for path in PATHS:
        assert get(server, path).status_code == 200, path


@pytest.mark.parametrize("path", ["//elsewhere.example", "/\\elsewhere.example", "///elsewhere.example/x"])
def test_it_leads_to_no_other_host(server: FlaskClient, path: str) -> None:
    environment = {"PATH_INFO": path, "QUERY_STRING": f"token={TOKEN}"}
    location = get(server, "/", environ_overrides=environment).headers["Location"]
    assert location.startswith("/") and location[1] not in "/\\"


def test_a_program_shows_the_token_in_a_header(server: FlaskClient) -> None:
    assert get(server, "/", headers={"Authorization": f"Bearer {TOKEN}"}).status_code == 200
    assert get(server, "/", headers={"Authorization": TOKEN}).status_code == 403


def test_a_long_body_is_refused(server: FlaskClient) -> None:
    headers = {"Authorization": f"Bearer {TOKEN}"}
    for length, status in ((MOST_BODY_BYTES, 200), (MOST_BODY_BYTES + 1, 413)):
        answer = server.post("/echo", data=b"x" * length, headers=headers, base_url="http://127.0.0.1")
        assert answer.status_code == status
    assert answer.text == "The app takes requests of at most 1,048,576 bytes.\n"


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
