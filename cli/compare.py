"""`./lab compare`: two runs or folders of runs."""

from __future__ import annotations

from pathlib import Path

from cli.shell.declare import answer, argument, declare, json_option, option
from cli.shell.values import FILE, RUN

EXIT_STATUS = {"equal": 0, "not worse": 0, "worse": 1, "cannot say": 2}


@declare(section="Compare and judge")
@argument("a", type=RUN, help="a run folder, or a folder of runs: what B is held against")
@argument("b", type=RUN, help="a run folder, or a folder of runs")
@option("--output", type=FILE, help="an HTML file to write")
@json_option
def command(a: Path, b: Path, output: Path | None, as_json: bool) -> int:
    """Compare runs: what changed in settings and figures, by how much, and where.

    The exit status is 0 for equal or better, 1 for worse, 2 where that cannot be said.
    """
    from analysis.compare import text
    from analysis.compare.compared import compare
    from analysis.compare.document import as_json as document
    from cli.work import progress

    with progress.shown() as tell:
        found = compare(a, b, tell)
    if output:
        from dashboards import compare as dashboards_compare

        dashboards_compare.write(found, output)
    answer(as_json, lambda: document(found), lambda: text.as_text(found))
    if output and not as_json:
        print(f"page: {output}")
    return EXIT_STATUS[found.status]
