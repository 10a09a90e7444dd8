"""When the rules on the order of records keep silent, since another rule says what happened."""

from collections.abc import Callable

import pytest

from capture.tests.evidence import evidence_of
from capture.tests.synthetic import SyntheticRun, record, small_plan
from capture.verdict.account import live_blocks_do_not_follow, records_out_of_order
from capture.verdict.verdict import judge


def _without_end(run: SyntheticRun) -> bytes:
    return b"".join(record(line) for line in run.lines if not line.startswith("END,"))


def _failed(run: SyntheticRun) -> bytes:
    return record("FAIL,heap,1").join([_without_end(run), run.uart()[len(_without_end(run)) :]])


def _with_a_damaged_mark(run: SyntheticRun) -> bytes:
    mark = next(line for line in run.lines if line.startswith("MARK,"))
    return run.uart().replace(record(mark), b"@MARK,0*0000\n", 1)


def _with_a_gap(run: SyntheticRun) -> bytes:
    third = next(line for line in run.lines if line.startswith("OP,2,"))
    return run.uart().replace(record(third), b"", 1)


def _with_two_in_turn(run: SyntheticRun) -> bytes:
    first, second = (record(line) for line in run.lines if line.startswith(("CAL,OP,0,", "CAL,OP,1,")))
    return run.uart().replace(first + second, second + first, 1)


@pytest.mark.parametrize(
    ("told_by_another", "changed"),
    [
        (True, _without_end),
        (True, _failed),
        (True, _with_a_damaged_mark),
        (True, _with_a_gap),
        (False, _with_two_in_turn),
    ],
)
def test_what_another_rule_tells_is_not_told_twice(
    changed: Callable[[SyntheticRun], bytes], told_by_another: bool
) -> None:
    run = SyntheticRun(small_plan(depth=2))
    evidence = evidence_of(run, serial_bytes=changed(run))
    assert bool([*records_out_of_order(evidence)]) != told_by_another
    assert judge(evidence)[0] != "complete"


def test_an_operation_beyond_the_plan_ends_the_account() -> None:
    run = SyntheticRun(small_plan(depth=2))
    last = max(run.lines.index(line) for line in run.lines if line.startswith("OP,"))
    run.lines.insert(last + 1, f"OP,{len(run.truths)},A,8,100,200,1,7,999999")
    evidence = evidence_of(run)
    assert [*live_blocks_do_not_follow(evidence)] == []
    assert judge(evidence)[0] != "complete"
