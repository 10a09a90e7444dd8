"""`./lab heap adversary`: searches for an allocator's worst operations."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cli.shell import shared
from cli.shell.declare import answer, declare, json_option, option
from cli.shell.values import OUTPUT_FOLDER, OptionError, Several, Value, Whole

if TYPE_CHECKING:
    from studies.adversary.search import What

WHAT = ("allocate", "free", "fragmentation")
_MOST_LISTS = 10_000_000
_MOST_SECONDS = 100_000


class _Budget(Value):
    """`20000` lists, or `30s`: the keywords of studies.adversary.search.Budget."""

    name = "N|TIME"  # type: ignore[misc]

    def read(self, word: str, flag: str) -> Any:
        match = re.fullmatch(r"([0-9]{1,9})(s?)", word)
        number = int(match[1]) if match else 0
        if match is None or not 1 <= number <= (_MOST_SECONDS if match[2] else _MOST_LISTS):
            raise OptionError(
                f"{flag} {word}: say how many lists each search tries, such as 20000 (up to "
                f"{_MOST_LISTS:,}), or for how many seconds, such as 30s (up to {_MOST_SECONDS:,})."
            )
        return {"seconds": number} if match[2] else {"lists": number}


@declare(section="What it costs")
@shared.allocator
@option(
    "--budget",
    type=_Budget(),
    default="20000",
    help="for each search: how many lists to try, or for how many seconds, such as 30s",
)
@option("--seed", type=Whole(1, 0xFFFF_FFFF), default=1, help="what the lists are drawn from")
@option(
    "--what",
    type=Several(*WHAT),
    default=",".join(WHAT),
    help="allocate, free, fragmentation, or several with commas",
)
@option(
    "--live", type=Whole(256, 32_768), default=8192, help="for fragmentation: the most bytes that may be live"
)
@shared.jobs
@option(
    "--output",
    type=OUTPUT_FOLDER,
    help="the folder for the winners, each a trace; build/adversary/found when not given",
)
@json_option
def command(
    allocator: list[str],
    budget: dict[str, int],
    seed: int,
    what: tuple[What, ...],
    live: int,
    jobs: int,
    output: Path | None,
    as_json: bool,
) -> None:
    """Search for an allocator's worst operations, and run them on the virtual board."""
    from cli.work import adversary
    from studies.adversary import text

    rows = adversary.run(allocator, budget=budget, what=what, seed=seed, live=live, jobs=jobs, output=output)
    answer(as_json, lambda: [row.as_json() for row in rows], lambda: text.as_text(rows))
