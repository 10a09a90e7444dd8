"""A run folder of a stranger, changed by chance: no command breaks, writes elsewhere or obeys it.

TAILSCOPE_MUTATIONS is how many changes are tried; the commands of each are chosen by chance, too.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import random
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import click
import polars as pl
import pytest

from base.files.errors import CANNOT_SAY, TailscopeError
from capture.tests.synthetic import SyntheticRun, small_plan
from capture.tests.test_redecode import store
from cli.shell import start
from tests.run_folders import seal

MUTATIONS = int(os.environ.get("TAILSCOPE_MUTATIONS", "40"))
COMMANDS_OF_EACH = 3
SEED = 20_260_203

HIDDEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]")
STRANGE: tuple[Any, ...] = (
    *(float("nan"), float("inf"), 1e308, -1, 0, 1.5, 2**53, 2**62, 2**63, 2**64, 10**30, -(2**62)),
    *("\x1b[31mred\x1b]0;t\x07", "\x9b2J", "[red]m[/nope]", "\u202eabc", "a\nb", "\0", "", "x" * 1_000_000),
    *("9" * 4_000, "-1", "1e9", "../../etc/passwd", "<script>alert(1)</script>", None, True, [], {}, [1]),
)
GONE = object()

Chosen = random.Random


@pytest.fixture(scope="module")
def run_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run with all its files, and an explanation."""
    folder = store(SyntheticRun(small_plan(depth=9)), tmp_path_factory.mktemp("kept")).folder
    assert said("explain", folder)[0] == 0
    return folder


def said(*words: str | Path) -> tuple[int, str]:
    """The exit status of `./lab` with these words, and all that it printed."""
    output = io.StringIO()
    with contextlib.redirect_stdout(output), contextlib.redirect_stderr(output):
        try:
            status = start.run([*map(str, words)])
        except click.ClickException as error:
            status = CANNOT_SAY
            print(start.sentence(error))
        except TailscopeError as error:
            status = CANNOT_SAY
            print(error)
    return status, output.getvalue()


def commands(run: Path, good: Path, output: Path) -> list[list[str | Path]]:
    """What reads a run folder."""
    return [
        ["compare", run, good, "--output", output / "compare.html"],
        ["compare", good, run, "--json"],
        ["gate", "--limit", "allocate=1us", run, "--markdown", output / "a.md", "--junit", output / "a.xml"],
        ["gate", "--baseline", output / "new.toml", "--update", run],
        ["extremes", run],
        ["histograms", run, "--output", output / "histograms"],
        ["dashboard", run, good, "--output", output / "dashboard.html"],
        ["dashboard", run, "--output", output / "one.html", "--without-ticks"],
        ["explain", run, "--quantity", "interrupt"],
        ["pulseview", run, "--worst"],
        ["redecode", run],
        ["twin", run],
    ]


def values(run: Path, chosen: Chosen) -> str:
    """Another value somewhere in one of the JSON files."""
    file = chosen.choice([run / "run.json", run / "run.json", *run.glob("explain/*.json")])
    document = json.loads(file.read_text(encoding="utf-8"))
    place = document
    while True:
        key = chosen.choice(list(place) if isinstance(place, dict) else range(len(place)))
        if not (place[key] and isinstance(place[key], dict | list)) or chosen.random() < 0.2:
            break
        place = place[key]
    new = chosen.choice((*STRANGE, GONE))
    if new is GONE:
        del place[key]
    else:
        place[key] = new
    file.write_text(json.dumps(document), encoding="utf-8")
    return f"{file.name}: {key} = {str(new)[:40]!r}"


_OF_TYPE: dict[Any, tuple[Any, ...]] = {
    pl.Float64: (float("nan"), float("inf"), -1.0, 1e300, 0.0, 2.0**62),
    pl.Int64: (-1, 2**62, -(2**62), 0, 2**36, 10**9),
    pl.UInt32: (0, 1, 2**31, 2**32 - 1),
    pl.Boolean: (True, False),
    pl.String: ("\x1b[31m", "x" * 300, "[red]", "<b>", "", "A", "none"),
}


def cells(run: Path, chosen: Chosen) -> str:
    """Other values in a column of one of the tables, or another column."""
    file = run / chosen.choice(["operations.parquet", "interrupts.parquet", "plan.parquet"])
    table = pl.read_parquet(file)
    name = chosen.choice(table.columns)
    value = chosen.choice((*_OF_TYPE[table.schema[name]], None))
    new = pl.lit(value, dtype=table.schema[name])
    rows = pl.int_range(pl.len()) == chosen.randrange(table.height)
    kinds: dict[str, Callable[[], pl.DataFrame]] = {
        "one": lambda: table.with_columns(pl.when(rows).then(new).otherwise(pl.col(name)).alias(name)),
        "all": lambda: table.with_columns(new.alias(name)),
        "type": lambda: table.with_columns(pl.col(name).cast(pl.String)),
        "gone": lambda: table.drop(name),
        "twice": lambda: pl.concat([table, table]),
        "none": table.clear,
        "reverse": table.reverse,
    }
    kind = chosen.choice(list(kinds))
    kinds[kind]().write_parquet(file)
    return f"{file.name}: {kind} of {name} = {value!r}"


def content(run: Path, chosen: Chosen) -> str:
    """Other bytes in a file."""
    file = chosen.choice(sorted(path for path in run.rglob("*") if path.is_file()))
    before = bytearray(file.read_bytes())
    kind = chosen.choice(["short", "empty", "longer", "bits"])
    if kind == "bits":
        for _ in range(chosen.choice([1, 8, 64])):
            before[chosen.randrange(len(before))] ^= 1 << chosen.randrange(8)
    short, longer = bytes(before[: chosen.randrange(len(before))]), bytes(before + b"\0" * 99)
    file.write_bytes({"short": short, "empty": b"", "longer": longer}.get(kind, bytes(before)))
    return f"{file.name}: {kind}"


def members(run: Path, chosen: Chosen) -> str:
    """A file that is not there, or leads elsewhere."""
    file = chosen.choice(sorted(run.rglob("*")))
    if file.is_dir():
        shutil.rmtree(file)
    else:
        file.unlink()
    if chosen.random() < 0.6:
        file.symlink_to(run.parent.parent / "outside" / chosen.choice([file.name, ".", "secret"]))
    return f"{file.name}: {'a link' if file.is_symlink() else 'gone'}"


def mutated(run_folder: Path, place: Path, chosen: Chosen) -> Iterator[tuple[Path, str]]:
    """Copies of the run, each changed, and in which way."""
    kinds = (values, values, values, cells, cells, content, members)
    for _ in range(MUTATIONS):
        run = place / "runs" / run_folder.name
        shutil.rmtree(run, ignore_errors=True)
        shutil.copytree(run_folder, run)
        change = chosen.choice(kinds)(run, chosen)
        # The reader of a file is as guarded as the check that it is the run's own.
        if chosen.random() < 0.7:
            with contextlib.suppress(Exception):
                seal(run)
        yield run, change


def test_no_change_of_a_run_folder_breaks_a_command(run_folder: Path, tmp_path: Path) -> None:
    outside, output = tmp_path / "outside", tmp_path / "output"
    for folder in (outside, output):
        folder.mkdir()
    (outside / "secret").write_text("a secret\n", encoding="utf-8")
    chosen = random.Random(SEED)
    tried, refused = 0, 0
    for run, change in mutated(run_folder, tmp_path, chosen):
        for words in chosen.sample(commands(run, run_folder, output), COMMANDS_OF_EACH):
            situation = f"{words[0]}: {change}"
            try:
                status, printed = said(*words)
            except Exception as error:
                pytest.fail(f"{situation}: {type(error).__name__}: {str(error)[:300]}")
            tried += 1
            refused += status == CANNOT_SAY
            assert status in (0, 1, 2), situation
            assert not HIDDEN.search(printed), situation
            assert "a secret" not in printed, situation
            assert status != CANNOT_SAY or printed.strip(), situation
            assert len(printed) < 100_000, situation
            assert [(path.name, path.read_text(encoding="utf-8")) for path in outside.iterdir()] == [
                ("secret", "a secret\n")
            ], situation
    assert tried == MUTATIONS * COMMANDS_OF_EACH
    assert tried / 10 < refused < tried, "changes that nothing notices, or nothing that is left to read"


def test_no_board_that_a_run_folder_names_is_opened(run_folder: Path, tmp_path: Path) -> None:
    run, named = tmp_path / run_folder.name, tmp_path / "evil"
    shutil.copytree(run_folder, run)
    named.mkdir()
    (named / "board.toml").write_text("opened = true\n", encoding="utf-8")
    document = json.loads((run / "run.json").read_text(encoding="utf-8"))
    document["asked"]["board"] = str(named)
    document["tools"]["virtual_nucleo"] = "0.1.0"
    (run / "run.json").write_text(json.dumps(document), encoding="utf-8")
    for command in ("explain", "twin", "redecode"):
        status, printed = said(command, run)
        assert status == 2 and "which nobody named here" in printed, (command, printed)


def test_no_file_that_a_run_folder_names_is_compiled_or_read(run_folder: Path, tmp_path: Path) -> None:
    run, named = tmp_path / run_folder.name, tmp_path / "evil.c"
    shutil.copytree(run_folder, run)
    named.write_text("#error compiled\n", encoding="utf-8")
    document = json.loads((run / "run.json").read_text(encoding="utf-8"))
    document["allocator"] = document["asked"]["allocator"] = "evil"
    document["tools"]["virtual_nucleo"] = "0.1.0"
    document["asked"]["outside"] = {
        "file": str(named),
        "format": "allocator.h",
        "sha256": "ab" * 32,
        "promises": [],
        "knobs": {},
        "searches": True,
    }
    (run / "run.json").write_text(json.dumps(document), encoding="utf-8")
    os.utime(named, ns=(1, 1))
    for command in ("explain", "twin"):
        status, printed = said(command, run)
        assert (status, printed) == (
            2,
            "The run is of evil, an allocator from outside that was never built here as it was then (sha256 "
            "abababababab): name its C file, --allocator FILE.\n",
        )
    status, printed = said("explain", run, "--allocator", named)
    assert status == 2 and "compiled" in printed
