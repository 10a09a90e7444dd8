"""Whatever a request asks, the answer is a page, a sentence or 400, and never a traceback."""

from __future__ import annotations

import copy
import random
import shutil
from collections.abc import Iterator
from typing import Any

import pytest
from flask.testing import FlaskClient

from dashboards.app.library import Library
from dashboards.app.server import make_app
from dashboards.tests.synthetic import mem_frag, write_run

QUESTIONS = 600
SEED = 20_250_102
HEADERS = {"Authorization": "Bearer token", "Host": "127.0.0.1"}
ASKED = "/_dash-update-component"

ADDRESSES = (
    *(("/", ""), ("/matrix", ""), ("/ramp", "?scenario=mem_frag"), ("/nowhere", ""), ("/run/none", "")),
    *(("/sample/RUN/574", ""), ("/sample/RUN/@5", ""), ("/run/RUN", ""), ("/run/damaged", "")),
    *(("/sample/RUN/@" + "9" * 5_000, ""), ("/matrix", "?" + "run=x&" * 3_000), ("/" + "x" * 100_000, "")),
    *(("/run/%00%ff", "?all=1"), ("/run/../../etc", ""), ("", ""), ("//", "??")),
)
STRANGE: tuple[Any, ...] = (
    *(None, True, -1, 0, 1.5, 1e308, 2**63, 10**400, "", "x", "\0", "9" * 5_000, "x" * 100_000, [], [[]], {}),
    *(["/"], ["/", 1], [None, None], {"zero": "x"}, {"zero": 10**30}, {"xaxis.range": [1, "x"]}),
    *({"xaxis.range": 5}, {"xaxis.range": [-1e300, 1e300]}, {"xaxis.range[0]": 1e999, "xaxis.range[1]": 0}),
    *({"xaxis.autorange": True}, {"key": "none", "type": "figure"}, {"id": {"a": {}}}),
)


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FlaskClient]:
    runs = tmp_path_factory.mktemp("asked") / "runs"
    run = write_run(runs, "mem_frag", "seglist", mem_frag("seglist", 16))
    shutil.move(run, runs / "RUN")
    (runs / "damaged").mkdir()
    (runs / "damaged" / "run.json").write_text("{", encoding="utf-8")
    server = make_app(Library(runs), "token").server
    server.testing = False  # else what is raised is not answered
    yield server.test_client()


def questions(client: FlaskClient) -> list[dict[str, Any]]:
    """What the pages ask the server, as Dash's scripts do."""
    all_questions = []
    for callback in client.get("/_dash-dependencies", headers=HEADERS).json or ():
        if callback["clientside_function"]:
            continue
        question, output = {}, callback["output"]
        for part in ("inputs", "state"):
            question[part] = [{**_named(each), "value": None} for each in callback[part]]
        names = output.strip(".").split("...") if output.startswith("..") else [output]
        outputs = [_output(*name.rpartition(".")[::2]) for name in names]
        all_questions.append(
            {**question, "output": output, "outputs": outputs if len(outputs) > 1 else outputs[0]}
        )
    return all_questions


def _output(id_: str, property_: str) -> dict[str, Any]:
    return {"id": {"type": "figure", "key": "x"} if id_.startswith("{") else id_, "property": property_}


def _named(part: dict[str, Any]) -> dict[str, Any]:
    pattern = part["id"].startswith("{")
    return {"id": {"type": "long-graph", "key": "x"} if pattern else part["id"], "property": part["property"]}


def test_every_question_has_an_answer(client: FlaskClient) -> None:
    callbacks, chosen = questions(client), random.Random(SEED)
    assert len(callbacks) >= 5
    statuses: dict[int, int] = {}
    for _ in range(QUESTIONS):
        question = copy.deepcopy(chosen.choice(callbacks))
        for part in (*question["inputs"], *question["state"]):
            place = part["id"] == "place" and chosen.random() < 0.8
            part["value"] = chosen.choice(ADDRESSES) if place else chosen.choice(STRANGE)
        _spoil(question, chosen)
        answer = client.post(ASKED, json=question, headers=HEADERS)
        statuses[answer.status_code] = statuses.get(answer.status_code, 0) + 1
        assert answer.status_code in (200, 204, 400), (answer.status_code, str(question)[:500])
        assert "Traceback" not in answer.text
    assert min(statuses.get(200, 0), statuses.get(400, 0)) > QUESTIONS / 10, statuses


def _spoil(question: dict[str, Any], chosen: random.Random) -> None:
    """Takes away, adds to or replaces a part of two questions in five."""
    if chosen.random() < 0.6:
        return
    key = chosen.choice([*question, "changedPropIds"])
    match chosen.randrange(4):
        case 0:
            question.pop(key, None)
        case 1 if isinstance(question.get(key), list):
            question[key] = question[key][1:]
        case 2 if isinstance(question.get(key), list) and question[key]:
            question[key][0] = chosen.choice(STRANGE)
        case _:
            question[key] = chosen.choice(STRANGE)


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"null", b"\xff", b"[" * 100_000, b'{"output": NaN}'])
def test_what_is_no_question_is_refused(client: FlaskClient, body: bytes) -> None:
    for kind in ("application/json", "text/plain"):
        answer = client.post(ASKED, data=body, content_type=kind, headers=HEADERS)
        assert (answer.status_code, answer.text) == (
            400,
            "No page of this app asks that; load the page again.\n",
        )


@pytest.mark.parametrize(
    "path",
    [
        *("/download/none/none.csv", "/download/matrix/none.csv", "/download/runs/runs.xls"),
        *("/download/matrix/matrix.csv?" + "run=x&" * 3_000, "/download/run/x.csv?run=RUN"),
        *("/download/%00/%00.csv", "/_dash-component-suites/x/y.js", "/assets/none"),
    ],
)
def test_files_that_are_not_there_are_said_so(client: FlaskClient, path: str) -> None:
    answer = client.get(path, headers=HEADERS)
    assert answer.status_code in (400, 404), answer.text[:500]
