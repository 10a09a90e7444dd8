"""Periodic tasks that allocate at each release, and keep each block for some of their periods.

The task model of M. Masmano, I. Ripoll and A. Crespo ("Dynamic storage allocation for real-time
embedded systems", slides): T = (c, p, d, g, h), where g is the most memory of a period and h the
most periods that a block stays. The slides give no ranges; those of the scenarios are ours. c and d
matter for schedulability only, and are left out.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count, product

from scenarios.generator import Allocate, Free, Generator, ScenarioError, Step, block_size, choice, whole
from scenarios.generators.xorshift import Xorshift32

_PROFILES = ("small", "huge", "hybrid")
_MOST_TICKS = 1_000_000


@dataclass
class _Task:
    """One task: its period in ticks, the most memory of a period, the most periods that a block
    stays, and the sizes of its blocks. `due` are slots to be freed, by the number of the release.
    """

    period: int
    memory: int
    stay: int
    sizes: tuple[int, int]
    due: defaultdict[int, list[int]]


@dataclass(frozen=True)
class Periodic(Generator):
    """`tasks` tasks for `ticks` ticks. Period, memory and stay of each are drawn once.

    At each release a task first frees the blocks that are due, in the order in which they came.
    Then it allocates blocks of drawn sizes until the next would pass its memory of a period. Each
    stays for 1 to as many periods as the task has drawn. Of tasks that are released at one tick the
    first goes first. In the end all is freed.

    With `profile` hybrid each task draws whether its blocks are small or huge.
    """

    seed: int = whole(1, 0xFFFF_FFFF)
    """First state of xorshift32, not 0."""
    tasks: int = whole(1, 256)
    ticks: int = whole(1, _MOST_TICKS)
    """How long the tasks are released."""
    profile: str = choice(*_PROFILES)
    """The blocks of the tasks; with `hybrid` each task draws which of the two."""
    period_min_ticks: int = whole(1, _MOST_TICKS)
    period_max_ticks: int = whole(1, _MOST_TICKS)
    memory_min_bytes: int = whole(1, 1 << 20)
    memory_max_bytes: int = whole(1, 1 << 20)
    """The most of a period."""
    stay_min_periods: int = whole(1, 1000)
    stay_max_periods: int = whole(1, 1000)
    """The most that a block of the task stays."""
    small_min_bytes: int = block_size()
    small_max_bytes: int = block_size()
    huge_min_bytes: int = block_size()
    huge_max_bytes: int = block_size()

    def __post_init__(self) -> None:
        super().__post_init__()
        smallest = self.huge_min_bytes if self.profile == "huge" else self.small_min_bytes
        if self.memory_min_bytes < smallest:
            raise ScenarioError(
                f"memory_min_bytes is {self.memory_min_bytes}, and a {self.profile} block has {smallest} "
                "at least; raise it, or a task never allocates."
            )

    def steps(self) -> Iterator[Step]:
        random = Xorshift32(self.seed)
        tasks = [self._task(random) for _ in range(self.tasks)]
        idle: list[int] = []  # slots, each used again once it is free
        fresh = count()
        for tick, task in product(range(self.ticks), tasks):
            release, within = divmod(tick, task.period)
            if within:
                continue
            for slot in task.due.pop(release, ()):
                idle.append(slot)
                yield Step(Free(slot))
            left = task.memory
            while (size := random.between(*task.sizes)) <= left:
                left -= size
                slot = idle.pop() if idle else next(fresh)
                yield Step(Allocate(slot, size))
                task.due[release + 1 + random.below(task.stay)].append(slot)
        for task in tasks:
            for release in sorted(task.due):
                yield from (Step(Free(slot)) for slot in task.due[release])

    def _task(self, random: Xorshift32) -> _Task:
        period = random.between(self.period_min_ticks, self.period_max_ticks)
        memory = random.between(self.memory_min_bytes, self.memory_max_bytes)
        stay = random.between(self.stay_min_periods, self.stay_max_periods)
        huge = self.profile == "huge" or (self.profile == "hybrid" and random.below(2) == 1)
        small_sizes = (self.small_min_bytes, self.small_max_bytes)
        sizes = (self.huge_min_bytes, self.huge_max_bytes) if huge else small_sizes
        return _Task(period, memory, stay, sizes, defaultdict(list))
