"""`./lab heap adversary`: searches for an allocator's worst operations."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING

from base.paths import BUILD
from cli.shell import shared, under_way
from cli.shell.declare import answer, declare, json_option, option
from cli.shell.values import OUTPUT_FOLDER, Value, several, whole

if TYPE_CHECKING:
    from studies.adversary.search import What

WHAT: tuple[What, ...] = ("allocate", "free", "fragmentation")
_MOST_LISTS = 10_000_000
_MOST_SECONDS = 100_000


def _budget(word: str) -> dict[str, int] | None:
    """`20000` lists, or `30s`: the keywords of studies.adversary.search.Budget."""
    match = re.fullmatch(r"([0-9]{1,9})(s?)", word)
    number = int(match[1]) if match else 0
    if match is None or not 1 <= number <= (_MOST_SECONDS if match[2] else _MOST_LISTS):
        return None
    return {"seconds": number} if match[2] else {"lists": number}


_BUDGET = Value(
    "N|TIME",
    _budget,
    f"how many lists each search tries, such as 20000 (up to {_MOST_LISTS:,}), or for how many seconds, such "
    f"as 30s (up to {_MOST_SECONDS:,})",
)


@declare("What it costs")
@shared.allocator
@option(
    "--budget",
    _BUDGET,
    "for each search: how many lists to try, or for how many seconds, such as 30s",
    default="20000",
)
@option("--seed", whole(1, 0xFFFF_FFFF), "what the lists are drawn from", default=1)
@option(
    "--what", several(*WHAT), "allocate, free, fragmentation, or several with commas", default=",".join(WHAT)
)
@option("--live", whole(256, 32_768), "for fragmentation: the most bytes that may be live", default=8192)
@shared.jobs
@option(
    "--output",
    OUTPUT_FOLDER,
    "the folder for the winners, each a trace",
    default=BUILD / "adversary",
    show_default="build/adversary",
)
@json_option
def command(
    allocator: list[str],
    budget: dict[str, int],
    seed: int,
    what: tuple[What, ...],
    live: int,
    jobs: int,
    output: Path,
    as_json: bool,
) -> None:
    """Search for an allocator's worst operations, and run them on the virtual board."""
    from base.files.whole import write_bytes
    from base.processes import signals
    from firmware.build.host_search import Progress
    from studies.adversary import search, study

    pairs, left_out = choose(allocator, [goal for goal in WHAT if goal in what])
    limits = search.Budget(**budget)
    rows = []

    def tell(allocator: str, what: What, so_far: Progress) -> None:
        unit = "bytes used" if what == "fragmentation" else "bytes of code"
        line = f"{allocator}, {what}: {so_far.cost:,} {unit}, {so_far.lists:,} lists"
        (shown.line if so_far.lists >= limits.lists else shown)(line)

    try:
        with signals.orderly(), under_way.shown() as shown:
            shown.line(*left_out)
            for row in study.Study(pairs, limits, seed, live, jobs).rows(tell):
                write_bytes(output / row.file, row.trace().encode())
                rows.append(row)
    except signals.Stopped as stopped:
        words = f"of {len(rows)} searches, which are over, the winners are in {output}"
        raise signals.Stopped(stopped.number, words) from None
    answer(as_json, lambda: [row.as_json() for row in rows], lambda: study.as_text(rows))


def choose(wanted: Sequence[str], whats: Sequence[What]) -> tuple[list[tuple[str, What]], list[str]]:
    """What to search on which allocator, and a sentence for each that `all` leaves out.

    Raises HostHeapError for an allocator that is unknown, or was named and cannot be searched.
    """
    from firmware.build import catalogue, outside
    from firmware.build.host_heap import HostHeapError
    from studies.adversary.search import objection

    takes_all = list(wanted) == ["all"]
    names = list(catalogue.allocators()) if takes_all else list(dict.fromkeys(outside.admit(wanted)))
    pairs = list(product(names, whats))
    objections = {pair: sentence for pair in pairs if (sentence := objection(*pair))}
    if not takes_all and any(all((name, what) in objections for what in whats) for name in names):
        raise HostHeapError(" ".join(dict.fromkeys(objections.values())))
    chosen = [pair for pair in pairs if pair not in objections]
    return chosen, [f"{name}, {what}: left out. {why}" for (name, what), why in objections.items()]
