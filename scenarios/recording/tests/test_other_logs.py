"""Logs of one small C program, as glibc 2.36 and heaptrack 1.4 wrote them, against its source:

a = malloc(100); b = malloc(60); a = realloc(a, 5000); free(b); c = calloc(3, 7); free(a);
d = realloc(NULL, 12); realloc(d, 0); e = aligned_alloc(64, 128); free(e);
"""

from __future__ import annotations

import pytest

from scenarios.errors import RecordingError
from scenarios.recording.logs import convert_of_program

MTRACE = b"""\
= Start
@ ./m:[0x11a0] + 0x55f1cadff4a0 0x64
@ ./m:[0x11ae] + 0x55f1cadff510 0x3c
@ ./m:[0x11c3] < 0x55f1cadff4a0
@ ./m:[0x11c3] > 0x55f1cadff560 0x1388
@ ./m:[0x11d3] - 0x55f1cadff510
@ ./m:[0x11e2] + 0x55f1cadff2a0 0x15
@ ./m:[0x11f2] - 0x55f1cadff560
@ ./m:[0x11fc] + 0x55f1cadff560 0xc
@ ./m:[0x1211] - 0x55f1cadff560
@ ./m:[0x1220] + 0x55f1cadff580 0x80
@ ./m:[0x1230] - 0x55f1cadff580
"""
# Without the lines on strings, addresses and time, and without what the loader allocates.
HEAPTRACK = b"""\
v 10400 3
X ./m
s 4 main
a 64 8
+ 0
a 3c 9
+ 1
- 0
a 1388 a
+ 2
- 1
a 15 b
+ 3
- 2
a c c
+ 4
a 80 d
+ 5
- 5
"""
BEFORE = ["a,1,100", "a,2,60"]
AFTER_MTRACE = ["r,1,5000", "f,2", "a,3,21", "f,1", "a,4,12", "f,4", "a,5,128", "f,5"]
# heaptrack writes a reallocation as a free and an allocation, and misses realloc(d, 0).
AFTER_HEAPTRACK = ["f,1", "a,3,5000", "f,2", "a,4,21", "f,3", "a,5,12", "a,6,128", "f,6"]


@pytest.mark.parametrize(("log", "after"), [(MTRACE, AFTER_MTRACE), (HEAPTRACK, AFTER_HEAPTRACK)])
def test_a_log_has_the_operations_of_its_program(log: bytes, after: list[str]) -> None:
    trace = convert_of_program(log)
    assert trace is not None
    assert (trace.lines, trace.defects, trace.refused) == ([*BEFORE, *after], [], 0)


@pytest.mark.parametrize(
    ("log", "lines", "refused", "defects"),
    [
        (b"= Start\n- 0x10\n+ 0x20 0\n= End\n", ["a,1,1"], 0, 1),
        (b"= Start\n< 0x10\n> 0x30 0x8\n- 0x30\n", ["a,1,8", "f,1"], 0, 1),
        (b"= Start\n+ (nil) 0x64\n! 0x10 0x64\n+ 0x20 0x2\n+ 0x3", ["a,1,2"], 2, 1),
        (b"v 10400 3\na 8 1\n+ 0\n+ 0\n- 0\n- 0\n- 0\n+ 9\n+\n", ["a,1,8", "a,2,8", "f,2", "f,1"], 0, 3),
    ],
)
def test_what_is_missing_or_damaged_is_counted(
    log: bytes, lines: list[str], refused: int, defects: int
) -> None:
    trace = convert_of_program(log)
    assert trace is not None
    assert (trace.lines, trace.refused, len(trace.defects)) == (lines, refused, defects)


def test_other_files() -> None:
    assert convert_of_program(b"@TA,0,20000010,18*1234\n") is convert_of_program(b"") is None
    for log in (b"\x28\xb5\x2f\xfd rest", b"\x1f\x8b rest", b"v 20000 9\n", b"= Start\n= End\n"):
        with pytest.raises(RecordingError):
            convert_of_program(log)
