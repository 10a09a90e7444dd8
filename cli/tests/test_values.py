"""Kinds of value: what a word means, and the sentence for one that means nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
import pytest

from cli.shell import start, values
from cli.shell.runs import compiled
from cli.shell.shared import RunOptions
from cli.shell.values import OptionError, Value
from firmware.build import boards
from tests.tables import table


def kind_of(words: tuple[Any, ...]) -> Value:
    """The kind of this name in `values`, or made by the function of this name."""
    kind = getattr(values, words[0])
    return kind if isinstance(kind, Value) else kind(*words[1:])


@table
def test_a_word_is_read(words: tuple[Any, ...], word: str, value: Any) -> None:
    kind = kind_of(words)
    assert kind.read(word) == (pytest.approx(value) if isinstance(value, float) else value)
    assert kind.convert(value, None, None) in (value, kind.convert(word, None, None))


def test_a_word_is_a_path_or_several() -> None:
    assert values.RUN.read("docs") == values.RUN.convert(Path("docs"), None, None) == Path("docs")
    assert values.ALLOCATORS.read("tlsf,seglist") == ["tlsf", "seglist"]


def test_a_parameter_has_units_too() -> None:
    board = boards.default()
    written: dict[str, str | int] = {"request_bytes": "1KiB", "fine_cycles": "1us", "depths": "2"}
    plain: dict[str, str | int] = {"request_bytes": 1024, "fine_cycles": 84, "depths": 2}
    plans = [compiled("latency_sweep", RunOptions(parameters=given), board) for given in (written, plain)]
    assert plans[0].image == plans[1].image


@table
def test_what_is_not_understood_is_named(kind: tuple[Any, ...], words: tuple[str, ...], said: str) -> None:
    option = click.Option(["-o", "--own"])
    for word in words:
        with pytest.raises(click.BadParameter) as refused:
            kind_of(kind).convert(word, option, None)
        assert said in refused.value.message


def test_a_file_to_write_is_refused_before_anything_is_measured(tmp_path: Path) -> None:
    assert (
        values.OUTPUT.convert(str(tmp_path / "new" / "page.html"), None, None)
        == tmp_path / "new" / "page.html"
    )
    for path in (tmp_path, Path(__file__, "page.html")):
        with pytest.raises(click.BadParameter, match="another file"):
            values.OUTPUT.convert(str(path), None, None)


@pytest.mark.parametrize(
    ("words", "named"),
    [
        ("masks FILE --junit FILE", "ELF and --junit"),
        ("masks no.elf --output FILE --baseline FILE --update", "--output and --baseline"),
        ("latency no.elf --irq TIM3 --bencher FILE --markdown FILE", "--markdown and --bencher"),
        ("bounds no.elf --loops FILE --output FILE", "--loops and --output"),
        ("heap record --log FILE --output FILE", "--output and --log"),
        ("heap fragmentation --trace FILE --output FILE", "--trace and --output"),
    ],
)
def test_no_file_that_a_command_writes_is_one_that_it_is_given(
    tmp_path: Path, words: str, named: str
) -> None:
    file = tmp_path / "file"
    file.write_text("what was there")
    (tmp_path / "link").symlink_to(file)
    second = words.rpartition("FILE")
    with pytest.raises(OptionError, match=f"^{named} both name "):
        start.run([*second[0].replace("FILE", str(file)).split(), str(tmp_path / "link"), *second[2].split()])
    assert file.read_text() == "what was there"


def test_a_run_that_is_not_there_is_told_with_one_that_is(tmp_path: Path) -> None:
    name = "20261122T200000Z-mem_frag-tlsf-virtual"
    (tmp_path / name).mkdir()
    assert values.run_folder(str(tmp_path / name)) == tmp_path / name
    with pytest.raises(OptionError, match=f"Did you mean {tmp_path / name}"):
        values.run_folder(str(tmp_path / name.replace("tlsf", "tslf")))
    for strange in ("", "x" * 5000, "a\0b", str(tmp_path / "nothing" / "there")):
        if strange:
            with pytest.raises(OptionError):
                values.run_folder(strange)
