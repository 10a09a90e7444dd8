"""`./lab dev bench`: the bench's own speed."""

from __future__ import annotations

import tempfile
from pathlib import Path

from base.paths import RUNS
from cli.shell.declare import answer, argument, declare, json_option, option
from cli.shell.values import WHOLE, choice


@declare(section="Is it fast?")
@argument("what", type=choice("simulator", "dashboard"), help="simulator or dashboard")
@option(
    "--repeats",
    type=WHOLE,
    default=5,
    help="how many times; medians are printed",
)
@json_option
def command(what: str, repeats: int, as_json: bool) -> None:
    """Measure a speed, side by side with what it is compared to."""
    if what == "simulator":
        from quality.speeds import simulator

        figures = dict(simulator.measure(repeats))
    else:
        from base.run_index import latest_folders
        from dashboards import bench
        from dashboards.loaded.runs import find_runs

        with tempfile.TemporaryDirectory() as folder:
            figures = dict(bench.measure(latest_folders(find_runs(RUNS)), Path(folder), repeats))
    answer(as_json, lambda: figures, lambda: "\n".join(f"{name}: {value}" for name, value in figures.items()))
