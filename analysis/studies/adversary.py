"""A search for the operations that make an allocator's critical sections longest, in instructions.

It knows nothing of the allocator. It draws lists of operations from recipes (which sizes, how many
live blocks, how often one is freed) and runs them on the virtual board. From the recipe with the
longest sections it breeds others. The same seed gives the same search.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, replace

from analysis.studies.critical_sections import CriticalSection, measure
from scenarios.operations import Allocate, Free, Image, Operation, encode
from scenarios.stimulus import Stimulus

_QUIET = Stimulus("none", 0, 0)
_LARGEST_BYTES = 8192


@dataclass(frozen=True)
class Recipe:
    """A list of operations is drawn from this: sizes in bytes, `slots` blocks live at most."""

    seed: int
    operations: int
    slots: int
    allocate_percent: int
    sizes: tuple[int, ...]

    def draw(self) -> bytes:
        """The operation image (docs/SPEC.md, section 3)."""
        source = random.Random(self.seed)
        live: list[int] = []
        free = list(range(self.slots))
        found: list[Operation] = []
        for _ in range(self.operations):
            allocate = not live or (free and source.randrange(100) < self.allocate_percent)
            if allocate:
                live.append(free.pop(source.randrange(len(free))))
                found.append(Allocate(live[-1], source.choice(self.sizes)))
            else:
                free.append(live.pop(source.randrange(len(live))))
                found.append(Free(free[-1]))
        return encode(Image("adversary", _QUIET, tuple(found)))

    def bred(self, source: random.Random) -> Recipe:
        """A recipe like this one, changed in one respect."""
        other = first_recipe(source, self.operations)
        change = source.choice(("slots", "allocate_percent", "sizes", "seed"))
        return replace(self, **{change: getattr(other, change)})


def first_recipe(source: random.Random, operations: int) -> Recipe:
    """A recipe drawn over all that may matter.

    With few sizes, a freed block is asked for again. With sizes near powers of two, blocks split.
    """
    near = [2 ** source.randrange(3, 13) + 8 * source.randrange(-2, 3) for _ in range(4)]
    anywhere = [int(2 ** source.uniform(0, 13)) for _ in range(4)]
    sizes = tuple(
        min(max(size, 1), _LARGEST_BYTES) for size in source.sample(near + anywhere, source.randint(2, 8))
    )
    return Recipe(
        source.getrandbits(32), operations, source.choice((8, 24, 48, 200)), source.randint(45, 70), sizes
    )


@dataclass(frozen=True)
class Longest:
    """Instructions of the longest critical section found."""

    allocate: int = 0
    free: int = 0

    def with_run(self, sections: list[CriticalSection]) -> Longest:
        """The longer of this and what a run showed."""
        allocations = [one.instructions for one in sections if one.kind in "AO"]
        frees = [one.instructions for one in sections if one.kind == "F"]
        return Longest(max([self.allocate, *allocations]), max([self.free, *frees]))


def search(allocator: str, runs: int, operations: int, seed: int = 1) -> Longest:
    """The longest sections that `runs` runs of `operations` operations each found.

    The first half of the runs draws new recipes. The second half breeds from the best so far.
    Raises what critical_sections.measure() raises.
    """
    source = random.Random(seed)
    longest, best, best_score = Longest(), first_recipe(source, operations), 0
    for number in range(runs):
        recipe = first_recipe(source, operations) if number * 2 < runs else best.bred(source)
        found = Longest().with_run(measure(allocator, recipe.draw()))
        if found.allocate + found.free >= best_score:
            best, best_score = recipe, found.allocate + found.free
        longest = Longest(max(longest.allocate, found.allocate), max(longest.free, found.free))
    return longest
