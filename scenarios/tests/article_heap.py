"""A model of the heap whose probe counts on real hardware are known. The scenarios are tried on it.

The header has 16 bytes, the smallest payload 8, and payloads are aligned to 8. A block is split if
the rest holds a header and a smallest payload. Lists are LIFO. A freed block coalesces forward,
then backward. The model counts what an index looks at and nothing else.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field

HEADER_BYTES = 16
SMALLEST_BYTES = 8


@dataclass(eq=False)
class Block:
    """One block of the region, `size` bytes of payload, with its physical neighbours."""

    size: int
    free: bool = False
    before: Block | None = field(default=None, repr=False)
    after: Block | None = field(default=None, repr=False)


class Index(ABC):
    """Lists of free blocks. The last inserted comes first."""

    def __init__(self) -> None:
        self.lists: dict[tuple[int, ...], list[Block]] = {}

    @abstractmethod
    def place(self, size: int) -> tuple[int, ...]:
        """The list that a free block of `size` belongs on."""

    @abstractmethod
    def find(self, size: int) -> tuple[Block | None, int]:
        """A block for a request of `size` bytes, and the probes that the search took."""

    def insert(self, block: Block) -> None:
        self.lists.setdefault(self.place(block.size), []).insert(0, block)

    def remove(self, block: Block) -> None:
        place = self.place(block.size)
        self.lists[place].remove(block)
        if not self.lists[place]:
            del self.lists[place]


class Seglist(Index):
    """Eight classes: first fit in the request's class, then the first block of a higher class."""

    def place(self, size: int) -> tuple[int, ...]:
        return (sum(size > bound for bound in (8, 16, 32, 64, 128, 256, 512)),)

    def find(self, size: int) -> tuple[Block | None, int]:
        (own,) = self.place(size)
        probes = 0
        for block in self.lists.get((own,), []):
            probes += 1
            if block.size >= size:
                return block, probes
        for higher in range(own + 1, 8):
            probes += 1
            if (higher,) in self.lists:
                return self.lists[(higher,)][0], probes
        return None, probes


class Tlsf(Index):
    """Octaves of 16 linear slots. Below 128 bytes there is one row of 16 slots of eight bytes."""

    def place(self, size: int) -> tuple[int, ...]:
        if size < 128:
            return 0, size // 8
        octave = size.bit_length() - 1
        return octave - 6, (size >> (octave - 4)) - 16

    def find(self, size: int) -> tuple[Block | None, int]:
        rounded = size if size < 128 else size + (1 << (size.bit_length() - 5)) - 1
        wanted = self.place(rounded)
        fitting = min((place for place in self.lists if place >= wanted), default=None)
        if fitting is None:
            return None, 2
        return self.lists[fitting][0], 1 if fitting[0] == wanted[0] else 2


class ArticleHeap:
    """The block layer above one index."""

    def __init__(self, index: Index, region_bytes: int) -> None:
        self.index = index
        index.insert(Block(region_bytes - HEADER_BYTES, free=True))

    def allocate(self, size: int) -> tuple[Block | None, int]:
        """The block, or None if none is large enough, and the probes."""
        size = max(SMALLEST_BYTES, (size + 7) // 8 * 8)
        block, probes = self.index.find(size)
        if block is not None:
            self.index.remove(block)
            block.free = False
            if block.size - size >= HEADER_BYTES + SMALLEST_BYTES:
                self._split(block, size)
        return block, probes

    def release(self, block: Block) -> None:
        assert not block.free
        block.free = True
        if block.after is not None and block.after.free:
            self.index.remove(block.after)
            self._absorb_next(block)
        if block.before is not None and block.before.free:
            block = block.before
            self.index.remove(block)
            self._absorb_next(block)
        self.index.insert(block)

    def _split(self, block: Block, size: int) -> None:
        rest = Block(block.size - size - HEADER_BYTES, True, block, block.after)
        if block.after is not None:
            block.after.before = rest
        block.size, block.after = size, rest
        self.index.insert(rest)

    @staticmethod
    def _absorb_next(block: Block) -> None:
        gone = block.after
        assert gone is not None
        block.size += HEADER_BYTES + gone.size
        block.after = gone.after
        if gone.after is not None:
            gone.after.before = block
