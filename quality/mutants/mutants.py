"""Would the tests notice? cosmic-ray makes small changes to the code that judges, and tries them.

It works on copies of the checkout, each with a session of its own. A draw among all mutants is
tried; those that no test noticed are told, unless harmless.toml says why nobody could.
"""

from __future__ import annotations

import ast
import itertools
import random
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import chdir
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from cosmic_ray import modules
from cosmic_ray.commands import init
from cosmic_ray.config import ConfigDict, load_config, serialize_config
from cosmic_ray.mutating import mutate_code
from cosmic_ray.plugins import get_operator
from cosmic_ray.work_db import WorkDB, use_db
from cosmic_ray.work_item import TestOutcome, WorkItem

from base.files.documents import Table, read_toml
from base.files.errors import TailscopeError
from base.paths import ROOT
from base.processes import children

CONFIGURATION = Path(__file__).with_name("cosmic-ray.toml")
HARMLESS = Path(__file__).with_name("harmless.toml")
PATIENCE = 4
"""A mutant that runs for ever is killed after so many times what the tests take without one."""
_MADE_AT_THE_TOP = frozenset({"build", "runs"})
_MADE = shutil.ignore_patterns(".git", ".venv", ".lab", "target", "__pycache__", ".*_cache", ".hypothesis")
_GUARDS = frozenset({"strict", "frozen", "slots", "kw_only", "order"})
_LOOK_EVERY_S = 1.0

Fate = Literal["killed", "survived", "harmless"]


class MutantError(TailscopeError):
    """Mutants cannot be tried; the message says why."""


class Entry(Table):
    """A harmless mutant: its file, its line before and after, and `why` nothing can tell it."""

    file: str
    before: str
    after: str
    why: str


class Document(Table):
    """harmless.toml."""

    mutant: list[Entry]


@dataclass(frozen=True)
class Outcome:
    """A mutant and its fate; `before` and `after` are the changed lines, with single spaces."""

    file: str
    operator: str
    line: int
    before: str
    after: str
    fate: Fate
    why: str | None = None


@dataclass(frozen=True)
class Report:
    """The outcomes of the mutants that `seed` draws."""

    seed: int
    outcomes: tuple[Outcome, ...]

    @property
    def sound(self) -> bool:
        """Every mutant was noticed or is harmless."""
        return not self.survivors

    @property
    def survivors(self) -> list[Outcome]:
        """The mutants that no test noticed, and that nobody called harmless."""
        return [outcome for outcome in self.outcomes if outcome.fate == "survived"]

    def as_json(self) -> dict[str, Any]:
        """The report as JSON: the counts, in all and for each file, and the survivors."""
        files = sorted({outcome.file for outcome in self.outcomes})
        return {
            "seed": self.seed,
            **_counts(self.outcomes),
            "by_file": {file: _counts([o for o in self.outcomes if o.file == file]) for file in files},
            "survivors": [asdict(outcome) for outcome in self.survivors],
        }


def as_text(report: Report) -> str:
    """The report as text: a line for each file, the sum, and a line for each survivor."""
    counted = report.as_json()
    head = ("mutants", "killed", "harmless", "survived")
    rows = [*counted["by_file"].items(), ("total", counted)]
    wide = max(len(name) for name, _ in rows)
    lines = [f"{'file':{wide}}" + "".join(f"{word:>10}" for word in head)]
    lines += [f"{name:{wide}}" + "".join(f"{of[word]:10}" for word in head) for name, of in rows]
    if report.survivors:
        lines += ["", "no test notices:"]
    lines += [
        f"{outcome.file}:{outcome.line}: {outcome.before}  →  {outcome.after}" for outcome in report.survivors
    ]
    return "\n".join(lines)


def _counts(outcomes: Sequence[Outcome]) -> dict[str, int]:
    fates = Counter(outcome.fate for outcome in outcomes)
    return {"mutants": len(outcomes), **{fate: fates[fate] for fate in ("killed", "harmless", "survived")}}


def run(
    named: Sequence[str],
    n: int,
    seed: int,
    jobs: int,
    tell: Callable[[int], None] = lambda _: None,
    root: Path = ROOT,
    configuration: Path = CONFIGURATION,
) -> Report:
    """Tries `n` mutants of the files `named`, or of all that the configuration names.

    They are tried on `jobs` copies of `root` at a time; `tell` hears how many are done. Raises
    MutantError for numbers that make no sense, for a file that the configuration does not name, and
    where the tests fail without a mutant.
    """
    for option, number in (("n", n), ("jobs", jobs)):
        if number < 1:
            raise MutantError(f"--{option} {number}: give 1 or more.")
    config = load_config(str(configuration))
    every = files(config, root)
    for file in named:
        if file not in every:
            raise MutantError(f"{file} is not mutated here: name files such as {every[0]}.")
    chosen = drawn(root, named or every, n, seed)
    entries = read_toml(HARMLESS, Document, MutantError).mutant
    with tempfile.TemporaryDirectory(prefix="tailscope-mutants-") as folder:
        copies = [_copy(root, Path(folder, str(job))) for job in range(jobs)]
        config["test-command"] = _own_first(config.test_command, named)
        config["timeout"] = PATIENCE * _seconds_without(config, copies[0])
        return Report(
            seed, tuple(_outcome(*mutant, entries) for mutant in _tried(copies, config, chosen, tell))
        )


def files(config: ConfigDict, root: Path = ROOT) -> list[str]:
    """The files, within `root`, that the configuration names."""
    with chdir(root):
        paths = modules.find_modules([Path(path) for path in config["module-path"]])
        kept = modules.filter_paths(paths, config.get("excluded-modules", ()))
    return sorted(map(str, kept))


def drawn(root: Path, files: Iterable[str], n: int, seed: int) -> list[WorkItem]:
    """`n` of all mutants of the files, drawn without preference; all where there are fewer.

    A mutant that is the same program as another, or as the code, is none.
    """
    with chdir(root), use_db(":memory:", WorkDB.Mode.create) as database:
        init([Path(file) for file in files], database, {})
        every = sorted(database.work_items, key=lambda item: _order(item))
        random.Random(seed).shuffle(every)
        return list(itertools.islice(_differing(every), n))


def _order(item: WorkItem) -> tuple[str, str, int]:
    (mutation,) = item.mutations
    return str(mutation.module_path), mutation.operator_name, mutation.occurrence


def _differing(items: Iterable[WorkItem]) -> Iterator[WorkItem]:
    seen: set[str] = set()
    for item in items:
        (mutation,) = item.mutations
        code = mutation.module_path.read_text(encoding="utf-8")
        changed = mutate_code(code, get_operator(mutation.operator_name)(), mutation.occurrence)
        seen.add(_program(code))
        if changed is not None and (program := _program(changed)) not in seen:
            seen.add(program)
            yield item


def _program(code: str) -> str:
    """The code's syntax tree as text, without annotations and guards against mistakes."""
    try:
        tree = ast.parse(code)
    except SyntaxError:
        return code
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            node.returns = None
        elif isinstance(node, ast.arg):
            node.annotation = None
        elif isinstance(node, ast.AnnAssign):
            node.annotation = ast.Constant(None)
        elif isinstance(node, ast.Call):
            node.keywords = [word for word in node.keywords if word.arg not in _GUARDS]
    return ast.dump(tree)


def _own_first(command: str, named: Sequence[str]) -> str:
    """The tests of the named files' own rooms come first: they are the likeliest to notice."""
    words = shlex.split(command)
    first = words.index("-q") + 1
    rooms = sorted(words[first:], key=lambda room: not any(file.startswith(f"{room}/") for file in named))
    return shlex.join([sys.executable, *words[1:first], *rooms])


def _copy(root: Path, folder: Path) -> Path:
    """The sources of a checkout, without what is made of them (firmware/build is a source)."""
    return shutil.copytree(
        root,
        folder,
        ignore=lambda of, names: _MADE(of, names) | (_MADE_AT_THE_TOP if Path(of) == root else set()),
    )


def _seconds_without(config: ConfigDict, copy: Path) -> float:
    began_s = time.monotonic()
    done = children.run(shlex.split(config.test_command), within_s=config.timeout, folder=copy)
    if done.returncode:
        said = "; ".join(line for line in done.stdout.splitlines() if line.startswith(("FAILED", "ERROR")))
        raise MutantError(f"The tests fail without any mutant ({said}); mend them first.")
    return time.monotonic() - began_s


def _tried(
    copies: Sequence[Path], config: ConfigDict, items: Sequence[WorkItem], tell: Callable[[int], None]
) -> list[tuple[WorkItem, TestOutcome, str]]:
    """The items, each with what the tests made of it and its difference from the code."""
    running: list[subprocess.Popen[bytes]] = []
    sessions = [copy.with_suffix(".sqlite") for copy in copies]
    try:
        for number, (copy, session) in enumerate(zip(copies, sessions, strict=True)):
            copy.with_suffix(".toml").write_text(serialize_config(config), encoding="utf-8")
            with use_db(str(session), WorkDB.Mode.create) as database:
                database.add_work_items(items[number :: len(copies)])
            words = ("-m", "cosmic_ray.cli", "exec", copy.with_suffix(".toml"), session)
            running.append(
                subprocess.Popen(
                    [*children.DIES_WITH_US, sys.executable, *words],
                    cwd=copy,
                    stdout=subprocess.DEVNULL,
                )
            )
        while any(process.poll() is None for process in running):
            time.sleep(_LOOK_EVERY_S)
            tell(len(_results(sessions)))
    finally:
        for process in running:
            process.kill()
            process.wait()
    results = _results(sessions)
    if len(results) != len(items):
        raise MutantError("cosmic-ray ended before all mutants were tried; what it said stands above.")
    return [(item, *results[item.job_id]) for item in items]


def _results(sessions: Sequence[Path]) -> dict[str, tuple[TestOutcome, str]]:
    outcome_by_id: dict[str, tuple[TestOutcome, str]] = {}
    for session in sessions:
        with use_db(str(session), WorkDB.Mode.open) as database:
            outcome_by_id |= {job: (result.test_outcome, result.diff) for job, result in database.results}
    return outcome_by_id


def _outcome(item: WorkItem, tested: TestOutcome, diff: str, entries: Sequence[Entry]) -> Outcome:
    (mutation,) = item.mutations
    line, before, after = _change(diff)
    file, operator = str(mutation.module_path), mutation.operator_name.rpartition("/")[2]
    if tested != TestOutcome.SURVIVED:
        return Outcome(file, operator, line, before, after, "killed")
    why = next((e.why for e in entries if (e.file, e.before, e.after) == (file, before, after)), None)
    return Outcome(file, operator, line, before, after, "harmless" if why else "survived", why)


def _change(diff: str) -> tuple[int, str, str]:
    """The first line that a unified diff changed, from 1, and its text before and after."""
    head, _, body = diff.partition("\n@@ -")[2].partition("\n")
    lines = body.split("\n")
    context = sum(1 for _ in itertools.takewhile(lambda line: line.startswith(" "), lines))
    changed = list(itertools.takewhile(lambda line: line[:1] in ("-", "+"), lines[context:]))
    before, after = ([line[1:] for line in changed if line[0] == sign] for sign in "-+")
    number = int(re.split(r"\D", head, maxsplit=1)[0]) + context
    return number, _one_line(before), _one_line(after)


def _one_line(lines: Iterable[str]) -> str:
    return " ".join(" ".join(lines).split())
