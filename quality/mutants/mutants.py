"""Would the tests notice? Small changes to code that judges, each tried on a copy of the checkout.

cosmic-ray makes the changes. A draw among all of them is tried; those that no test noticed are
told, unless harmless.toml says why nobody could.
"""

from __future__ import annotations

import ast
import difflib
import itertools
import random
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import chdir
from dataclasses import asdict, dataclass
from pathlib import Path
from queue import SimpleQueue
from typing import Any, Literal

from cosmic_ray import modules
from cosmic_ray.commands import init
from cosmic_ray.config import ConfigDict, load_config
from cosmic_ray.mutating import mutate_code
from cosmic_ray.plugins import get_operator
from cosmic_ray.work_db import WorkDB, use_db

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
class Mutant:
    """A file with one change; `before` and `after` are the changed lines, with single spaces."""

    file: str
    operator: str
    line: int
    before: str
    after: str
    code: str


@dataclass(frozen=True)
class Outcome:
    """A mutant and its fate."""

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
    MutantError for a file that the configuration does not name, and where the tests fail without a
    mutant.
    """
    config = load_config(str(configuration))
    every = files(config, root)
    for file in named:
        if file not in every:
            raise MutantError(f"{file} is not mutated here: name files such as {every[0]}.")
    chosen = drawn(root, named or every, n, seed)
    entries = read_toml(HARMLESS, Document, MutantError).mutant
    command = _own_first(config.test_command, named)
    with tempfile.TemporaryDirectory(prefix="tailscope-mutants-") as folder:
        copies: SimpleQueue[Path] = SimpleQueue()
        for job in range(jobs):
            copies.put(_copy(root, Path(folder, str(job))))
        within_s = PATIENCE * _seconds_without(command, config.timeout, copies)
        outcomes = []
        with ThreadPoolExecutor(jobs) as pool:
            for mutant, killed in zip(
                chosen,
                pool.map(lambda mutant: _is_killed(mutant, command, within_s, copies), chosen),
                strict=True,
            ):
                change = (mutant.file, mutant.before, mutant.after)
                why = next((e.why for e in entries if (e.file, e.before, e.after) == change), None)
                fate: Fate = "killed" if killed else "harmless" if why else "survived"
                place = (mutant.file, mutant.operator, mutant.line, mutant.before, mutant.after)
                outcomes.append(Outcome(*place, fate, None if killed else why))
                tell(len(outcomes))
    return Report(seed, tuple(outcomes))


def files(config: ConfigDict, root: Path = ROOT) -> list[str]:
    """The files, within `root`, that the configuration names."""
    with chdir(root):
        paths = modules.find_modules([Path(path) for path in config["module-path"]])
        kept = modules.filter_paths(paths, config.get("excluded-modules", ()))
    return sorted(map(str, kept))


def drawn(root: Path, files: Iterable[str], n: int, seed: int) -> list[Mutant]:
    """`n` of all mutants of the files, drawn without preference; all where there are fewer.

    A mutant that is the same program as another, or as the code, is none.
    """
    with chdir(root), use_db(":memory:", WorkDB.Mode.create) as database:
        init([Path(file) for file in files], database, {})
        every = sorted(
            (str(mutation.module_path), mutation.operator_name, mutation.occurrence)
            for item in database.work_items
            for mutation in item.mutations
        )
        random.Random(seed).shuffle(every)
        return list(itertools.islice(_differing(every), n))


def _differing(mutations: Iterable[tuple[str, str, int]]) -> Iterator[Mutant]:
    seen: set[str] = set()
    for file, operator, occurrence in mutations:
        code = Path(file).read_text(encoding="utf-8")
        changed = mutate_code(code, get_operator(operator)(), occurrence)
        seen.add(_program(code))
        if changed is not None and (program := _program(changed)) not in seen:
            seen.add(program)
            yield Mutant(file, operator.rpartition("/")[2], *_change(code, changed), changed)


def _change(code: str, changed: str) -> tuple[int, str, str]:
    """The first line that changed, from 1, and its text before and after."""
    old, new = code.splitlines(), changed.splitlines()
    steps = difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
    _, first, last, begin, end = next(step for step in steps if step[0] != "equal")
    return first + 1, _one_line(old[first:last]), _one_line(new[begin:end])


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


def _own_first(command: str, named: Sequence[str]) -> list[str]:
    """The tests of the named files' own rooms come first: they are the likeliest to notice."""
    words = shlex.split(command)
    first = words.index("-q") + 1
    rooms = sorted(words[first:], key=lambda room: not any(file.startswith(f"{room}/") for file in named))
    return [sys.executable, *words[1:first], *rooms]


def _copy(root: Path, folder: Path) -> Path:
    """The sources of a checkout, without what is made of them (firmware/build is a source)."""
    return shutil.copytree(
        root,
        folder,
        ignore=lambda of, names: _MADE(of, names) | (_MADE_AT_THE_TOP if Path(of) == root else set()),
    )


def _seconds_without(command: Sequence[str], within_s: float, copies: SimpleQueue[Path]) -> float:
    copy, began_s = copies.get(), time.monotonic()
    done = children.run(command, within_s=within_s, folder=copy)
    copies.put(copy)
    if done.returncode:
        said = "; ".join(line for line in done.stdout.splitlines() if line.startswith(("FAILED", "ERROR")))
        raise MutantError(f"The tests fail without any mutant ({said}); mend them first.")
    return time.monotonic() - began_s


def _is_killed(mutant: Mutant, command: Sequence[str], within_s: float, copies: SimpleQueue[Path]) -> bool:
    """Whether the tests fail on a copy with the mutant, or take too long."""
    copy = copies.get()
    file = copy / mutant.file
    before = file.read_bytes()
    file.write_text(mutant.code, encoding="utf-8")
    try:
        return children.run(command, within_s=within_s, folder=copy).returncode != 0
    except subprocess.TimeoutExpired:
        return True
    finally:
        file.write_bytes(before)
        copies.put(copy)


def _one_line(lines: Iterable[str]) -> str:
    return " ".join(" ".join(lines).split())
