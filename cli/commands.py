"""The commands, as tasks.py declares them: read from its source, so that nothing is imported.

Help, completion and suggestions need no more than this, and neither invoke nor a package of the
bench: they answer at once, and before anything is installed. A test holds what is read here to what
invoke makes of the same file.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from base.paths import ROOT

TASKS = ROOT / "tasks.py"


@dataclass(frozen=True)
class Option:
    """An option of a command, or one of its words.

    `flag` is as a user types it: `--art`, `--no-search`. `takes_value` is false of one that is on
    or off. `default` is what a text or a number has if it is not given; empty where that is
    nothing.
    """

    name: str
    flag: str
    help: str
    takes_value: bool
    repeated: bool
    default: str


@dataclass(frozen=True)
class Command:
    """A command: what it does, its words in order, its options in the order of tasks.py.

    `required` are the names of the words that must be given.
    """

    name: str
    summary: str
    words: tuple[Option, ...]
    options: tuple[Option, ...]
    required: frozenset[str]

    @property
    def flags(self) -> tuple[str, ...]:
        """All options as they are typed; a word can be given as an option, too."""
        return tuple(option.flag for option in (*self.options, *self.words))


@cache
def commands(tasks: Path = TASKS) -> Mapping[str, Command]:
    """All commands by name, in the order of the file."""
    tree = ast.parse(tasks.read_text(encoding="utf-8"))
    constants = _constants(tree)
    found = [
        _command(node, _of_decorator(decorator, constants), constants)
        for node in tree.body
        if isinstance(node, ast.FunctionDef)
        for decorator in node.decorator_list
        if ast.unparse(decorator).partition("(")[0] == "task"
    ]
    return {command.name: command for command in found}


def _constants(tree: ast.Module) -> dict[str, object]:
    """What the file calls by a name of its own, such as a text that several options share."""
    found: dict[str, object] = {}
    for node in tree.body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            found[node.targets[0].id] = _value(node.value, found)
    return found


def _of_decorator(decorator: ast.expr, constants: Mapping[str, object]) -> dict[str, object]:
    keywords = decorator.keywords if isinstance(decorator, ast.Call) else []
    return {str(keyword.arg): _value(keyword.value, constants) for keyword in keywords}


def _value(node: ast.expr | None, constants: Mapping[str, object]) -> object:
    """The value of a literal, a constant, or a text or table of these.

    None of anything else, such as a path that is made from others.
    """
    if isinstance(node, ast.Name):
        return constants.get(node.id)
    if isinstance(node, ast.Dict):
        pairs = zip(node.keys, node.values, strict=True)
        return {_value(key, constants): _value(value, constants) for key, value in pairs}
    if isinstance(node, ast.FormattedValue):
        return _value(node.value, constants)
    if isinstance(node, ast.JoinedStr):
        return "".join(str(_value(part, constants)) for part in node.values)
    try:
        return ast.literal_eval(node) if node is not None else None
    except ValueError:
        return None


def _command(node: ast.FunctionDef, told: Mapping[str, object], constants: Mapping[str, object]) -> Command:
    arguments = [argument.arg for argument in node.args.args][1:]
    defaults = dict(
        zip(
            reversed(arguments),
            (_value(one, constants) for one in reversed(node.args.defaults)),
            strict=False,
        )
    )
    with_default = set(defaults)
    described = told.get("help") or {}
    positional, iterable = told.get("positional"), told.get("iterable") or []
    assert isinstance(described, dict) and isinstance(iterable, list)
    if not isinstance(positional, list):  # as invoke has it: what has no default
        positional = [name for name in arguments if name not in with_default and name not in iterable]
    made = {name: _option(name, defaults.get(name), described, name in iterable) for name in arguments}
    return Command(
        name=str(told.get("name") or node.name),
        summary=(ast.get_docstring(node) or "").partition("\n")[0],
        words=tuple(made[name] for name in arguments if name in positional),
        options=tuple(made[name] for name in arguments if name not in positional),
        required=frozenset(name for name in positional if name not in with_default and name not in iterable),
    )


def _option(name: str, default: object, described: Mapping[object, object], repeated: bool) -> Option:
    dashed = name.strip("_").replace("_", "-")
    words = next((described[key] for key in (name, dashed) if key in described), "")
    return Option(
        name=name,
        flag=f"--no-{dashed}" if default is True else f"--{dashed}",
        help=str(words),
        takes_value=not isinstance(default, bool),
        repeated=repeated,
        default="" if default is None or isinstance(default, bool) else str(default),
    )
