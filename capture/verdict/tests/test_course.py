"""What is due of each record where entries of the image depend on others."""

from __future__ import annotations

from capture.verdict.records import due
from scenarios.operations import Allocate, Call, Free, Mark
from tests.tables import table

OPERATIONS = (
    Mark(0),
    Allocate(0, 50),
    Allocate(0, 1, retry=True, last_if_refused=True),
    Allocate(1, 60),
    Allocate(1, 1, retry=True, last_if_refused=True),
    Allocate(2, 70),
    Allocate(2, 1, retry=True, last_if_refused=True),
    Mark(1),
    Free(2),
    Free(1),
    Free(0),
    Allocate(3, 80, last_if_refused=True),
    Call("empty"),
)


def answers_due(kinds: str) -> list[tuple[str, int | None]]:
    """Of each operation in order; a dot stands for a missing record."""
    kind_by_seq = {seq: kind for seq, kind in enumerate(kinds) if kind != "."}
    return [(next_record.answers, next_record.size) for next_record in due(OPERATIONS, kind_by_seq)]


@table
def test_what_runs_follows_from_what_came_before(kinds: str, answers: str, freed: tuple[int, ...]) -> None:
    due_records = answers_due(kinds)
    assert [answer for answer, _ in due_records] == answers.split()
    assert tuple(size for _, size in due_records[6:9]) == freed


def test_behind_a_missing_record_nothing_is_claimed() -> None:
    due_records = answers_due("AS.SASFFFAK")
    assert [answer for answer, _ in due_records] == [
        *("AO", "S", "AO"),
        *("AOS", "AOS", "AOS"),
        *("FNE", "FNE", "FNE", "AOS", "K"),
    ]
    assert [size for _, size in due_records[6:9]] == [None] * 3
