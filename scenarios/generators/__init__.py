"""Every generator, by the name of its file; and those of a user's own files."""

from __future__ import annotations

import hashlib
import importlib
import inspect
import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import fields
from functools import cache
from pathlib import Path
from types import ModuleType

from base.files.errors import first_line
from base.tell import Tell
from scenarios.errors import ScenarioError
from scenarios.generator import Generator

_FOLDER = Path(__file__).parent
_NAME = re.compile(r"[a-z][a-z0-9_]*")
_LOADED: dict[tuple[Path, str], type[Generator]] = {}


def of_users_file(path: Path, tell: Tell) -> type[Generator]:
    """The generator in a user's file, which is run as a program, once for each content. `tell`
    hears that it is.

    Raises ScenarioError where the file cannot be read or run, or has not one generator, or one with
    a parameter that nothing limits.
    """
    try:
        content = path.read_bytes()
    except OSError as error:
        raise ScenarioError(f"{path} cannot be read ({error.strerror}); check the path.") from None
    path, digest = path.resolve(), hashlib.sha256(content).hexdigest()
    if (path, digest) in _LOADED:
        return _LOADED[path, digest]
    tell(f"The scenario's generator is the program {path}: it is loaded and run.")
    module = ModuleType(f"tailscope_generator_{digest}")
    module.__file__ = str(path)
    sys.modules[module.__name__] = module  # dataclasses look their module up
    try:
        exec(compile(content, path, "exec"), vars(module))  # what the user asked for
    except Exception as error:  # whatever a user's program raises
        raise ScenarioError(
            f"{path} cannot be loaded as a generator: {type(error).__name__}: {first_line(error)}; mend it."
        ) from None
    classes = _classes(module)
    if len(classes) != 1:
        raise ScenarioError(
            f"{path} has {len(classes)} generators and must have one: a dataclass that is derived from "
            "scenarios.generator.Generator and has steps()."
        )
    for parameter in fields(classes[0]):
        if "type" not in parameter.metadata:
            raise ScenarioError(
                f"{path} has a parameter without limits, {parameter.name}: declare it by whole(), choice() "
                "or file_name() of scenarios.parameters."
            )
    _LOADED[path, digest] = classes[0]
    return classes[0]


def _classes(module: ModuleType) -> list[type[Generator]]:
    """The generators that a module defines; what it borrows or leaves unfinished is none."""
    return [
        member
        for member in vars(module).values()
        if isinstance(member, type)
        and issubclass(member, Generator)
        and not inspect.isabstract(member)
        and member.__module__ == module.__name__
    ]


@cache
def _of_file(name: str) -> type[Generator] | None:
    """The generator in the file of this name; None where there is no such file, or none in it."""
    if not _NAME.fullmatch(name) or not (_FOLDER / f"{name}.py").exists():
        return None
    classes = _classes(importlib.import_module(f"{__name__}.{name}"))
    return classes[0] if len(classes) == 1 else None


class _Folder(Mapping[str, type[Generator]]):
    """The generators in this folder. A file is loaded once it is asked for."""

    def __getitem__(self, name: str) -> type[Generator]:
        if (generator := _of_file(name)) is None:
            raise KeyError(name)
        return generator

    def __iter__(self) -> Iterator[str]:
        return (path.stem for path in sorted(_FOLDER.glob("*.py")) if _of_file(path.stem))

    def __len__(self) -> int:
        return sum(1 for _ in self)


GENERATORS: Mapping[str, type[Generator]] = _Folder()
"""Those in this folder, each by the name of its file."""
