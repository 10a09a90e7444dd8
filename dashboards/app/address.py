"""What an address of the app asks for: a page, and which runs. Made and read here alone.

    /matrix?scenario=mem_frag&show=seglist&show=tlsf&theme=dark
    /sample/<run>/<key>

`show` and `pin` (the picker's choice) and `theme` are read by the browser, not here: they need no
new page.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qs, quote, unquote, urlencode

RUNS = "runs"
RUN = "run"
SAMPLE = "sample"
COMPARE = "compare"


@dataclass(frozen=True)
class Address:
    """`page` is a page's key. `scenario` is empty for the page's own choice of it.

    `runs` are the ids of the runs that were chosen; without any the page takes the latest of each
    scenario, allocator and options, or with `every` all of them. `run` and `key` are those of the
    pages of one run and of one sample.
    """

    page: str = RUNS
    scenario: str = ""
    runs: tuple[str, ...] = ()
    every: bool = False
    run: str = ""
    key: str = ""

    @property
    def path(self) -> str:
        """`/matrix`, `/run/<id>`, `/sample/<id>/<key>`."""
        if self.page == RUNS:
            return "/"
        parts = {RUN: (RUN, self.run), SAMPLE: (SAMPLE, self.run, self.key)}.get(self.page, (self.page,))
        return "/" + "/".join(quote(part, safe="") for part in parts)

    @property
    def query(self) -> str:
        """`?scenario=…`, or nothing."""
        parameters = [("scenario", self.scenario)] if self.scenario else []
        parameters += [("run", run) for run in self.runs]
        parameters += [("all", "1")] if self.every else []
        return f"?{urlencode(parameters)}" if parameters else ""

    def __str__(self) -> str:
        return self.path + self.query


def parse(path: str, search: str) -> Address:
    """The address of `path`, still quoted, and of the `search` behind it."""
    parameters = parse_qs(search.removeprefix("?"), max_num_fields=2_000)
    chosen: dict[str, Any] = {
        "scenario": parameters.get("scenario", [""])[0],
        "runs": tuple(dict.fromkeys(parameters.get("run", ()))),
        "every": parameters.get("all") == ["1"],
    }
    page, *rest = [unquote(part) for part in path.strip("/").split("/")]
    if page == RUN:
        return Address(RUN, **chosen, run="/".join(rest))
    if page == SAMPLE:
        return Address(SAMPLE, **chosen, run="/".join(rest[:-1]), key=rest[-1] if rest else "")
    return Address("/".join([page, *rest]) or RUNS, **chosen)


def run_address(run: str) -> str:
    """The address of the page of one run."""
    return str(Address(RUN, run=run))


def sample_address(run: str, key: str) -> str:
    """The address of the page of one operation or interrupt."""
    return str(Address(SAMPLE, run=run, key=key))
