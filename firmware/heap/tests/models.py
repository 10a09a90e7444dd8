"""What a heap may do, worked out without its code: from the addresses it gave, and its policy.

A model is told the outcome of each operation, and raises AssertionError where the policy says
another one.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import ClassVar, Protocol

REGION_BYTES = 65_536
ALIGNMENT = 8


@dataclass(frozen=True)
class Block:
    """A live block: where it begins and ends in the region, and how much its payload can hold."""

    begin: int
    end: int
    usable: int


class Model(Protocol):
    """`live` are the live blocks before the operation, by slot."""

    def served(self, live: dict[int, Block], size: int, block: Block) -> None:
        """An allocation of `size` bytes without extra alignment was served with `block`."""

    def refused(self, live: dict[int, Block], size: int) -> None:
        """It was refused for want of memory."""


@dataclass(frozen=True)
class Gaps:
    """A heap that tiles its region with headers and payloads and merges free neighbours at once.

    What is free then follows from what is live: the gaps. `header` are the bytes of a header,
    `tail` what is lost at both ends of the region together, `smallest` the least payload. `finds`
    says which gaps are sure to be found: "all" that are large enough, or those that the request
    fits when it is rounded up to a sixteenth of a power of two ("sixteenths") or to a power
    ("powers").
    """

    header: int
    tail: int
    smallest: int
    finds: str

    def payload_of(self, size: int) -> int:
        """A payload and its header are a multiple of 8, and a payload no less than the smallest."""
        whole = -(-(size + self.header) // ALIGNMENT) * ALIGNMENT
        return max(whole - self.header, self.smallest)

    def gaps(self, live: dict[int, Block]) -> list[int]:
        """Payload bytes of each free block, in order of address."""
        behind, end = self.tail // 2, REGION_BYTES - self.tail // 2
        gaps = []
        for block in sorted(live.values(), key=lambda block: block.begin):
            assert block.begin >= behind, "two blocks overlap, or one begins before the region"
            if block.begin > behind:
                gaps.append(block.begin - behind - self.header)
            behind = block.end
        assert behind <= end, "a block ends behind the region"
        return [*gaps, end - behind - self.header] if end > behind else gaps

    def served(self, live: dict[int, Block], size: int, block: Block) -> None:
        payload = self.payload_of(size)
        assert block.end - block.begin == self.header + block.usable
        assert max(self.gaps(live), default=0) >= payload, "served, and nothing that large was free"
        rest = block.usable - payload
        assert 0 <= rest < self.header + self.smallest, "a rest that could be a block was not split off"

    def refused(self, live: dict[int, Block], size: int) -> None:
        payload = self.payload_of(size)
        certain = [gap for gap in self.gaps(live) if self._is_sure(gap, payload)]
        assert not certain, f"{payload} bytes were refused though {certain[0]} are free"

    def _is_sure(self, gap: int, payload: int) -> bool:
        if self.finds == "all":
            return gap >= payload
        # With a header of one word, payloads are no multiples of 8: whole sizes are filed.
        beyond = self.header % ALIGNMENT
        wanted = payload + beyond
        power = 1 << (wanted.bit_length() - 1)
        step = power if self.finds == "powers" else max(power // 16, ALIGNMENT)
        return -(-wanted // step) * step <= gap + beyond


class Pools:
    """Blocks of fixed sizes: a request gets the smallest free one that holds it."""

    BLOCKS: ClassVar = {16: 256, 32: 32, 64: 32, 128: 264, 256: 16, 512: 8, 1024: 8, 2048: 2, 4096: 1}
    """How many there are of each size in 64 KiB: 4, 1, 2, 33, 4, 4, 8, 4 and 4 KiB."""

    def _that_hold(self, live: dict[int, Block], size: int) -> list[int]:
        taken = Counter(block.usable for block in live.values())
        return [
            block_bytes
            for block_bytes, count in self.BLOCKS.items()
            if block_bytes >= size and taken[block_bytes] < count
        ]

    def served(self, live: dict[int, Block], size: int, block: Block) -> None:
        assert block.usable == min(self._that_hold(live, size))

    def refused(self, live: dict[int, Block], size: int) -> None:
        assert not self._that_hold(live, size)


@dataclass
class Buddies:
    """Knuth's algorithms R and S with last-in-first-out lists, address by address.

    It counts in units from the first block, and predicts each address from all that came before. So
    it is only for runs without extra alignment and reallocation. `lost` are bytes that no block can
    use. The region is tiled with the largest blocks and then what is left, or, `remainder_first`,
    the other way round. A block merges within the tile that it was halved from.
    """

    unit: int
    levels: int
    header: int
    first_payload: int
    lost: int | None = None
    remainder_first: bool = False
    region_bytes: int = REGION_BYTES
    lists: list[list[int]] = field(default_factory=list)
    live: dict[int, tuple[int, int]] = field(default_factory=dict)
    tiles: list[tuple[int, int]] = field(default_factory=list)

    def __post_init__(self) -> None:
        lost = ALIGNMENT - self.header if self.lost is None else self.lost
        count, rest = divmod((self.region_bytes - lost) // self.unit, 1 << (self.levels - 1))
        tiles = [self.levels - 1] * count
        tiles += [level for level in reversed(range(self.levels - 1)) if rest >> level & 1]
        if self.remainder_first:
            tiles.reverse()
        self.lists = [[] for _ in range(self.levels)]
        start = 0
        for level in tiles:
            self.tiles.append((start, level))
            self.lists[level].append(start)
            start += 1 << level

    def allocate(self, slot: int, size: int) -> int | None:
        """The address of the payload, or None."""
        level = next((k for k in range(self.levels) if (self.unit << k) - self.header >= size), None)
        if level is None:
            return None
        level_found = next((k for k in range(level, self.levels) if self.lists[k]), None)
        if level_found is None:
            return None
        start = self.lists[level_found].pop()
        for half in range(level_found - 1, level - 1, -1):
            self.lists[half].append(start + (1 << half))
        self.live[slot] = (start, level)
        return self.first_payload + start * self.unit

    def free(self, slot: int) -> None:
        """Merges as long as the buddy is free, and files what came of it last."""
        start, level = self.live.pop(slot)
        tile, whole = next(tile for tile in reversed(self.tiles) if tile[0] <= start)
        while level < whole and (buddy := tile + ((start - tile) ^ 1 << level)) in self.lists[level]:
            self.lists[level].remove(buddy)
            start = min(start, buddy)
            level += 1
        self.lists[level].append(start)

    @property
    def largest_free(self) -> int:
        """Bytes of the largest free block, its header included; 0 if nothing is free."""
        return max((self.unit << level for level, blocks in enumerate(self.lists) if blocks), default=0)
