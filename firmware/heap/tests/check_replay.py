"""Checks `replay` on two published workloads, and on images that it must refuse.

The workloads are generated here from their description. The expected integers are those of
A. Vishwakarma, "A Heap Without a Tail" (VaiOS on a Nucleo-F401RE); the heap under test computes
none of them. Usage: check_replay.py REPLAY ALLOCATOR
"""

from __future__ import annotations

import struct
import subprocess
import sys
import tempfile
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

ALLOCATE, FREE = 1, 2
DEPTHS, TRIALS = 256, 3

STRESS_COUNTS = {"A": 617, "F": 583}
STRESS_PROBES = {"seglist": (1, 6, 8), "tlsf": (1, 2, 2)}
"""Median, p99 and worst, as published for these two."""


MEASURED, RETRY, LAST_IF_REFUSED = 1, 2, 4


class Operation(NamedTuple):
    kind: int
    slot: int
    size: int = 0
    flags: int = MEASURED


class Row(NamedTuple):
    seq: int
    kind: str
    size: int
    probes: int
    live: int
    bytes_in_use: int


def xorshift32(state: int) -> Iterator[int]:
    """Marsaglia's generator with the shifts 13, 17, 5."""
    while True:
        state ^= state << 13 & 0xFFFFFFFF
        state ^= state >> 17
        state ^= state << 5 & 0xFFFFFFFF
        yield state


def stress_size(random: Iterator[int]) -> int:
    share = next(random) % 100
    if share < 60:
        return 8 + next(random) % 56
    if share < 90:
        return 64 + next(random) % 192
    return 256 + next(random) % 768


def mem_stress() -> Iterator[Operation]:
    random = xorshift32(0x1234ABCD)
    live: list[int] = []
    idle = list(range(48))
    for _ in range(1200):
        if not live or (len(live) < 48 and next(random) % 100 < 55):
            slot = idle.pop()
            live.append(slot)
            yield Operation(ALLOCATE, slot, stress_size(random))
        else:
            chosen = next(random) % len(live)
            slot, live[chosen] = live[chosen], live[-1]
            live.pop()
            idle.append(slot)
            yield Operation(FREE, slot)


def mem_frag() -> Iterator[Operation]:
    for pair in range(DEPTHS):
        yield Operation(ALLOCATE, 2 * pair, 72)
        yield Operation(ALLOCATE, 2 * pair + 1, 8)
    for victim in range(DEPTHS):
        yield Operation(FREE, 2 * victim)
        for _ in range(TRIALS):
            yield Operation(ALLOCATE, 2 * DEPTHS, 120)
            yield Operation(FREE, 2 * DEPTHS)


def image_of(operations: list[Operation], name: bytes) -> bytes:
    """An operation image, docs/reference/operation-image.md."""
    body = b"".join(
        struct.pack("<BBHIHBB", op.kind, op.flags, op.slot, op.size, 0, 0, 0) for op in operations
    )
    slots = max(op.slot for op in operations) + 1
    header = struct.pack(
        "<4sHHIIIIIB3x32s", b"TSOP", 1, 64, len(operations), zlib.crc32(body), slots, 0, 0, 0, name
    )
    return header + body


def run(program: str, image: bytes) -> subprocess.CompletedProcess[str]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "operations.bin"
        path.write_bytes(image)
        return subprocess.run([program, str(path)], check=False, capture_output=True, text=True)


def replay(program: str, operations: list[Operation], name: str) -> list[Row]:
    done = run(program, image_of(operations, name.encode()))
    if done.returncode != 0:
        sys.exit(f"{name}: {done.stderr}")
    rows = (line.split(",") for line in done.stdout.splitlines())
    return [Row(int(r[0]), r[1], int(r[2]), int(r[3]), int(r[4]), int(r[5])) for r in rows]


def nearest_rank(values: list[int], percent: int) -> int:
    """The smallest value with at least `percent` of the values at or below it."""
    return sorted(values)[-(-len(values) * percent // 100) - 1]


def stress_figures(rows: list[Row]) -> tuple[int, int, int]:
    """Median, p99 and worst probes of the allocations."""
    probes = [row.probes for row in rows if row.kind == "A"]
    return nearest_rank(probes, 50), nearest_rank(probes, 99), max(probes)


def frag_probes(rows: list[Row]) -> list[int]:
    """Probes of the measured allocations: three for each depth from 1."""
    return [row.probes for row in rows if row.size == 120 and row.kind == "A"]


def expect(what: str, value: object, wanted: object) -> None:
    if value != wanted:
        sys.exit(f"{what}: found {value}, wanted {wanted}")
    print(f"{what}: {value}")


def check_mem_stress(program: str, allocator: str) -> None:
    operations = list(mem_stress())
    rows = replay(program, operations, "mem_stress")
    expect("mem_stress: sequence", [row.seq for row in rows] == list(range(1200)), True)
    expect("mem_stress: outcomes", dict(Counter(row.kind for row in rows)), STRESS_COUNTS)
    expect("mem_stress: live at the end", rows[-1].live, 617 - 583)
    if allocator in STRESS_PROBES:
        figures = stress_figures(rows)
        expect("mem_stress: probes (median, p99, worst)", figures, STRESS_PROBES[allocator])
    expect("mem_stress: probes of frees", {row.probes for row in rows if row.kind == "F"}, {0})


FRAG_PROBES: dict[str, Callable[[int, int], int]] = {
    "seglist": lambda depth, _: depth + 3,  # as published
    "tlsf": lambda _, __: 2,  # as published
    "tlsf_compact": lambda _, __: 2,  # the same search: victims and the rest lie in other octaves
    # The rest of the region was filed last, but at the first trial the victim was.
    "first_fit": lambda _, trial: 2 if trial == 0 else 1,
    "best_fit": lambda depth, _: depth + 1,  # all victims and the rest
    "first_fit_ordered": lambda depth, _: depth + 1,  # the victims lie before the rest
    "avl": lambda _, __: 2,  # the node of 72 bytes and the rest
    "half_fit": lambda _, __: 1,  # the bitmap
    "half_fit_cstm": lambda depth, _: depth + 1,  # all victims and the bitmap
    # A victim's block holds 120 bytes too: both are 128 with the header.
    "binary_buddy": lambda _, __: 1,
    # 256 pairs take 768 of 1,365 units. Of the last block that was halved, blocks of 64, 16, 4 and
    # 1 units are left, and that of 4 units, 192 bytes, is of the request's own level.
    "ublox_buddy": lambda _, __: 1,
    "pool": lambda _, __: 1,  # the bitmap
    "half_tree": lambda _, __: 2,  # the newest victim, which is the designated one, and the bitmap
}
"""By depth and trial (from 0), from each index's own rule."""


def check_mem_frag(program: str, allocator: str) -> None:
    rows = replay(program, list(mem_frag()), "mem_frag")
    probes = frag_probes(rows)
    expect("mem_frag: operations all served", {row.kind for row in rows}, {"A", "F"})
    expect("mem_frag: measured allocations", len(probes), DEPTHS * TRIALS)
    rule = FRAG_PROBES.get(allocator)
    if rule is None:
        print(f"mem_frag: no rule says what {allocator} counts")
        return
    wanted = [rule(depth, trial) for depth in range(1, DEPTHS + 1) for trial in range(TRIALS)]
    expect("mem_frag: probes at every depth", probes == wanted, True)


SOUND = image_of(
    [Operation(ALLOCATE, 0, 40), Operation(FREE, 0), Operation(ALLOCATE, 0, 70000), Operation(FREE, 0)], b"x"
)


def with_byte(offset: int, value: int) -> bytes:
    return SOUND[:offset] + bytes([value]) + SOUND[offset + 1 :]


IMAGES = {
    "sound": (SOUND, 0, ""),
    "empty": (b"", 2, "shorter than an image's header"),
    "magic": (with_byte(0, 0), 2, "does not begin with TSOP"),
    "version": (with_byte(4, 2), 2, "version is not 1"),
    "reserved": (with_byte(30, 1), 2, "reserved field"),
    "slots": (with_byte(18, 1), 2, "more entries or slots"),
    "cut short": (SOUND[:-1], 2, "ends before the image does"),
    "checksum": (with_byte(64 + 4, 41), 2, "checksum is wrong"),
    "kind": (image_of([Operation(9, 0)], b"x"), 2, "unknown kind"),
    "free of nothing": (image_of([Operation(FREE, 0)], b"x"), 1, "frees an empty one"),
    "live slot": (image_of([Operation(ALLOCATE, 0, 8)] * 2, b"x"), 1, "allocates into a live slot"),
}


def check_bad_images(program: str) -> None:
    """A damaged image costs one sentence and exit status 2; 1 if its operations cannot be."""
    for name, (image, status, sentence) in IMAGES.items():
        done = run(program, image)
        expect(f"image {name}: exit status", done.returncode, status)
        expect(f"image {name}: says so", sentence in done.stderr, True)
        expect(f"image {name}: sentences", done.stderr.count("\n"), 0 if status == 0 else 1)


def check_failed_allocation(program: str) -> None:
    rows = run(program, SOUND).stdout.splitlines()
    expect("failed allocation: kinds", [row.split(",")[1] for row in rows], ["A", "F", "O", "N"])
    expect("failed allocation: last row", rows[-1], "3,N,70000,0,0,0")


def check_skipped(program: str) -> None:
    """A retry runs after a refusal only; behind the last one all is skipped up to a free."""
    again = MEASURED | RETRY | LAST_IF_REFUSED
    operations = [
        *(Operation(ALLOCATE, 0, 40), Operation(ALLOCATE, 0, 1, again)),
        *(Operation(ALLOCATE, 1, 70000), Operation(ALLOCATE, 1, 8, again)),
        *(Operation(ALLOCATE, 2, 70000), Operation(ALLOCATE, 2, 70000, again)),
        *(Operation(ALLOCATE, 3, 50), Operation(ALLOCATE, 3, 1, again)),
        *(Operation(FREE, slot) for slot in (3, 2, 1, 0)),
        Operation(ALLOCATE, 3, 50),
    ]
    rows = replay(program, operations, "skipped")
    expect("skipped: kinds", "".join(row.kind for row in rows), "ASOAOOSSNNFFA")
    expect("skipped: sizes of the frees", [row.size for row in rows[8:12]], [1, 70000, 8, 40])
    expect("skipped: live", [row.live for row in rows], [1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 1, 0, 1])


if __name__ == "__main__":
    check_mem_stress(sys.argv[1], sys.argv[2])
    check_mem_frag(sys.argv[1], sys.argv[2])
    if sys.argv[2] == "tlsf":  # of the program, whichever allocator it has
        check_bad_images(sys.argv[1])
        check_failed_allocation(sys.argv[1])
        check_skipped(sys.argv[1])
