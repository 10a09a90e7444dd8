"""A check that is not right ends with its remedy, and nothing follows one that is wrong."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from base.files.errors import CaptureError
from capture.checks.captures import Desk
from capture.checks.findings import BringUp, Figure, Finding
from capture.desk.bench import read_bench
from cli._desk import CHECKS, walk

RIGHT = Finding("probe", "right", "There.")


def answering(findings: list[Finding]) -> Callable[[Desk], list[Finding]]:
    return lambda _: findings


def broken(_: Desk) -> Iterator[Finding]:
    raise CaptureError("The probe is gone.")
    yield RIGHT


def test_the_steps_end_at_the_first_that_is_wrong() -> None:
    odd = Finding("port", "odd", "Two ports: name one.")
    answers = {
        **{check.key: [RIGHT] for check in CHECKS},
        "desk": [RIGHT, odd],
        "load": [Finding("probe", "skipped", "It does not tell.")],
    }
    checks = [replace(check, look=answering(answers[check.key])) for check in CHECKS]
    checks[4] = replace(checks[4], look=broken)
    heard: list[str] = []
    board = read_bench().board("nucleo")
    results = list(walk(Desk(board, shown=heard.append), checks))
    assert heard == [f"{check.key} …" for check in CHECKS[:5]]
    assert [result.state for result in results] == ["right", "right", "odd", "skipped", "wrong"]
    assert [result.todo for result in results] == [
        *((), ()),
        ("port: Two ports: name one.", CHECKS[2].remedy),
        *((), (CHECKS[4].remedy,)),
    ]
    assert results[2].figures == (Figure("probe", "There."),)
    bring_up = BringUp("mine", results, len(CHECKS))
    assert not bring_up.whole and "stopped at step 5 of 13, again: The probe is gone." in bring_up.verdict
