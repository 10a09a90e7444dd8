"""Every generator, by the name of its file; and those of a user's own files."""

from __future__ import annotations

import hashlib
import importlib
import inspect
import sys
from pathlib import Path
from types import ModuleType

from base.files.errors import first_line
from base.tell import Tell
from scenarios.errors import ScenarioError
from scenarios.generator import Generator

_LOADED: dict[tuple[Path, str], type[Generator]] = {}


def of_users_file(path: Path, tell: Tell) -> type[Generator]:
    """The generator in a user's file, which is run as a program, once for each content. `tell`
    hears that it is.

    Raises ScenarioError where the file cannot be read or run, or has not one generator.
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


GENERATORS = {
    path.stem: generator
    for path in sorted(Path(__file__).parent.glob("[!_]*.py"))
    for generator in _classes(importlib.import_module(f"{__name__}.{path.stem}"))
}
"""Those in this folder, each by the name of its file."""
