"""The pictures of docs/reference/allocators.md: `python -m studies.tables.search_pictures` draws
them anew.

Of each allocator its heap before a request, and downwards, one below the other, the places that the
critical section of the request read: the loads that it executes. The heap is small enough to be
drawn. All allocators get the same operations, and the virtual board says which addresses the code
read, whoever wrote it. The pictures have a light ground of their own, so that they can be read on a
dark page, too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from analysis.explain.anatomy import loads
from base import heap_size
from base.files.documents import open_toml
from base.files.elf import address_of
from base.files.whole import write_bytes
from base.paths import ROOT
from capture.reading.probes import PULSES_BEFORE
from firmware.build import image as firmware
from scenarios.generator import Step
from scenarios.operations import Allocate, Free
from scenarios.plan import compile_steps
from scenarios.stimulus import NO_STIMULUS
from simulator import run as simulator
from simulator.outputs import State

LARGE = (120, 56, 152, 128, 24, 144, 104, 136, 40, 152, 88, 136, 200, 72, 128, 144)
"""Bytes of the blocks that are freed, in the order of their allocation."""
FREED = (12, 3, 8, 0, 14, 6, 10, 1, 15, 5, 2, 9, 13, 4, 11, 7)
"""The order in which they are freed: first the only one that the request fits into."""
FENCE_BYTES = 16
"""Behind each stands a block that stays, so that no two free ones merge."""
REQUEST_BYTES = 160

_LONGEST = "2s"
_SLOT_BYTES = 8


class Block(NamedTuple):
    """`size` bytes, as many as were asked for, from `offset` on in the heap's region."""

    offset: int
    size: int


class Search(NamedTuple):
    """The search of one allocator; offsets are bytes from the region's beginning.

    `live` and `free` are the blocks before the request, `served` the one that it got. `reads` are
    the offsets that its critical section read, in order.
    """

    allocator: str
    live: Sequence[Block]
    free: Sequence[Block]
    served: Block
    reads: Sequence[int]


def steps() -> Iterator[Step]:
    """Pairs of a large block and a fence; the large ones are freed; then a request, and its free so
    that something comes behind it.
    """
    for number, size in enumerate(LARGE):
        yield Step(Allocate(2 * number, size, measured=False), "setup")
        yield Step(Allocate(2 * number + 1, FENCE_BYTES, measured=False), "setup")
    for number in FREED:
        yield Step(Free(2 * number, measured=False), "setup")
    yield Step(Allocate(2 * len(LARGE), REQUEST_BYTES), "request")
    yield Step(Free(2 * len(LARGE)), "request")


def search(allocator: str) -> Search:
    """Runs the operations on the virtual board: once for the times, once up to the free."""
    image = compile_steps("searches", {}, NO_STIMULUS, steps()).image
    elf = firmware.build(allocator).elf
    counted = simulator.run(elf, image=image, until=_LONGEST, counts={"all": "*"}, count_window="CRIT")
    at = PULSES_BEFORE + len(list(steps())) - 2
    rise, fall, free, _ = (cycle for row in counted.windows[at : at + 2].rows() for cycle in row[1:3])
    run = simulator.run(elf, image=image, until=free, states_at=[rise, free], trace_window=(rise, fall))
    before, after = run.states
    base = address_of(elf, "heap_region") or 0
    table = address_of(elf, "slots") or 0
    blocks = [_block(after, base, table, slot) for slot in range(2 * len(LARGE) + 1)]
    reads = [address - base for _, address in loads(run.trace, before, before)]
    return Search(
        allocator,
        live=blocks[1::2],
        free=blocks[:-1:2],
        served=blocks[-1],
        reads=[offset for offset in reads if 0 <= offset < heap_size.DEFAULT_BYTES],
    )


def _block(state: State, base: int, table: int, slot: int) -> Block:
    """A slot of the interpreter: where its block lies, or lay, and how large it is."""
    payload, size = (state.word(table + slot * _SLOT_BYTES + at) or 0 for at in (0, 4))
    return Block(payload - base, size)


FOLDER = ROOT / "docs" / "reference" / "allocators"
FAMILIES: Mapping[str, Sequence[str]] = open_toml(Path(__file__).with_name("families.toml")).values
"""The allocators of each picture; a test holds them to the catalogue."""

_Place = Callable[[int], float]
_WIDTH, _LEFT, _RIGHT = 900, 196, 880
_TOP, _PITCH, _STRIP, _READS = 16, 108, 14, 66
_GROUND, _INK, _LIVE, _FREE, _SERVED, _READ = (
    *("#fbfbf8", "#1d2328", "#5b6670", "#cfe3d6"),
    *("#b3440f", "#00628f"),
)


def picture(searches: Sequence[Search]) -> str:
    """An SVG with a panel for each."""
    height = _TOP + _PITCH * len(searches)
    names = ", ".join(search.allocator for search in searches)
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" role="img" '
        f'font-family="sans-serif" font-size="13" fill="{_INK}">',
        f"<title>What a request reads of the heap: {names}</title>",
        f'<rect width="{_WIDTH}" height="{height}" rx="6" fill="{_GROUND}"/>',
    ]
    for number, drawn in enumerate(searches):
        lines += [f'<g transform="translate(0 {_TOP + _PITCH * number})">', panel(drawn), "</g>"]
    return "\n".join([*lines, "</svg>"]) + "\n"


def panel(drawn: Search) -> str:
    """An allocator's heap, and its reads from the top down."""
    blocks = [*drawn.live, *drawn.free, drawn.served]
    first = min(block.offset for block in blocks)
    bytes_shown = max(block.offset + block.size for block in blocks) - first

    def x(offset: int) -> float:
        """The x of a place of the heap; drawn outside stands at the edge."""
        within = min(max(offset - first, 0), bytes_shown)
        return _LEFT + within / bytes_shown * (_RIGHT - _LEFT)

    return "\n".join(
        [
            f'<text x="16" y="12" font-weight="bold">{drawn.allocator}</text>',
            f'<text x="16" y="34">reads: {len(drawn.reads)}</text>',
            f'<rect x="{_LEFT}" y="0" width="{_RIGHT - _LEFT}" height="{_STRIP}" fill="#e9e9e2"/>',
            *_strip(drawn.free, x, _FREE, _LIVE),
            *_strip(drawn.live, x, _LIVE, _LIVE),
            *_strip([drawn.served], x, "none", _SERVED, 2.5),
            *_path(drawn.reads, x),
        ]
    )


def _strip(blocks: Sequence[Block], x: _Place, fill: str, stroke: str, width: float = 0.5) -> Iterator[str]:
    for block in blocks:
        left, right = x(block.offset), x(block.offset + block.size)
        yield (
            f'<rect x="{left:.1f}" y="0" width="{right - left:.1f}" height="{_STRIP}" fill="{fill}" '
            f'stroke="{stroke}" stroke-width="{width:g}"/>'
        )


def _path(reads: Sequence[int], x: _Place) -> Iterator[str]:
    """A dot for each read, one below the other, and a line through them."""
    step = _READS / max(len(reads) - 1, 12)
    points = [(x(offset), _STRIP + 8 + number * step) for number, offset in enumerate(reads)]
    line = " ".join(f"{at:.1f},{down:.1f}" for at, down in points)
    yield f'<polyline points="{line}" fill="none" stroke="{_READ}" stroke-width="0.8" opacity="0.6"/>'
    yield from (f'<circle cx="{at:.1f}" cy="{down:.1f}" r="2" fill="{_READ}"/>' for at, down in points)


def main() -> None:
    """Draws the families. What is not here, since it needs a checkout, is left out."""
    here = firmware.allocators()
    for family, names in FAMILIES.items():
        path = FOLDER / f"{family}.svg"
        write_bytes(path, picture([search(name) for name in names if name in here]).encode())
        print(path)


if __name__ == "__main__":
    main()
