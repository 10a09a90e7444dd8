"""Every generator, by the name of its file; and those of a user's own files."""

from __future__ import annotations

import hashlib
import importlib
import inspect
import re
import sys
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from types import ModuleType

from base.files.errors import first_line
from base.tell import Tell
from scenarios.errors import ScenarioError
from scenarios.generator import Generator

_FOLDER = Path(__file__).parent
_NAME = re.compile(r"[a-z][a-z0-9_]*")


class _Found(Mapping[str, type[Generator]]):
    """The generators in this folder. A file is loaded once it is asked for."""

    def __getitem__(self, name: str) -> type[Generator]:
        cls = _of_file(name) if _NAME.fullmatch(name) else None
        if cls is None:
            raise KeyError(name)
        return cls

    def __iter__(self) -> Iterator[str]:
        return iter(name for name in _names() if _of_file(name))

    def __len__(self) -> int:
        return sum(1 for _ in self)


GENERATORS: Mapping[str, type[Generator]] = _Found()


def of_users_file(path: Path, tell: Tell) -> type[Generator]:
    """The generator in a user's file, which is run as a program. `tell` hears that it is.

    Raises ScenarioError where the file cannot be read or run, or has not one generator.
    """
    try:
        content = path.read_bytes()
    except OSError as error:
        raise ScenarioError(f"{path} cannot be read ({error.strerror}); check the path.") from None
    return _loaded(path.resolve(), content, tell)


_LOADED: dict[tuple[Path, str], type[Generator]] = {}


def _loaded(path: Path, content: bytes, tell: Tell) -> type[Generator]:
    """The same, once for each content."""
    digest = hashlib.sha256(content).hexdigest()
    if (path, digest) not in _LOADED:
        tell(f"The scenario's generator is the program {path}: it is loaded and run.")
        _LOADED[path, digest] = _run(path, f"tailscope_generator_{digest}", content)
    return _LOADED[path, digest]


def _run(path: Path, name: str, content: bytes) -> type[Generator]:
    module = ModuleType(name)
    module.__file__ = str(path)
    sys.modules[name] = module  # dataclasses look their module up
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
    return classes[0]


def _names() -> list[str]:
    return sorted(path.stem for path in _FOLDER.glob("*.py") if _NAME.fullmatch(path.stem))


@cache
def _of_file(name: str) -> type[Generator] | None:
    """The generator in the file of this name; None where there is no such file, or none in it."""
    if not (_FOLDER / f"{name}.py").exists():
        return None
    classes = _classes(importlib.import_module(f"{__name__}.{name}"))
    return classes[0] if len(classes) == 1 else None


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
