"""The mutants of a file: copies with one small change, such as > for >= or 1 for 0.

cosmic-ray's operators make them. A mutant that is the same program is none: what changes only
annotations, docstrings, the flags of a dataclass, or the guard `strict` of zip.
"""

from __future__ import annotations

import ast
import difflib
import random
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from cosmic_ray.ast import ast_nodes, get_ast
from cosmic_ray.mutating import mutate_code
from cosmic_ray.plugins import get_operator, operator_names

_GUARDS = frozenset({"strict", "frozen", "slots", "kw_only", "order"})
_SPACE = re.compile(r"\s+")


@dataclass(frozen=True)
class Mutant:
    """One changed copy of `file`, a path within the repository.

    `line` is where the change begins, from 1. `before` and `after` are the changed lines with
    single spaces. `code` is the whole file as changed.
    """

    file: str
    operator: str
    line: int
    before: str
    after: str
    code: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.before}  →  {self.after}"


@dataclass(frozen=True)
class _Place:
    """The `occurrence`-th place of `file` that the operator of this name can change."""

    file: str
    operator: str
    occurrence: int


def drawn(root: Path, files: Sequence[str], n: int, seed: int) -> list[Mutant]:
    """`n` of all mutants of the files, drawn without preference; all of
    them where there are fewer.
    """
    code = {file: (root / file).read_text(encoding="utf-8") for file in files}
    places = [place for file in files for place in _places(file, code[file])]
    random.Random(seed).shuffle(places)
    return list(islice(_mutants(places, code), n))


def _places(file: str, code: str) -> Iterator[_Place]:
    nodes = list(ast_nodes(get_ast(code)))
    for name in operator_names():
        operator: Any = get_operator(name)
        if operator.arguments():
            continue  # it needs words of a user's own
        count = sum(len(list(operator().mutation_positions(node))) for node in nodes)
        yield from (_Place(file, name, occurrence) for occurrence in range(count))


def _mutants(places: Sequence[_Place], code: Mapping[str, str]) -> Iterator[Mutant]:
    """The mutants of these places; a program that was there already is left out."""
    seen = {_program(text) for text in code.values()}
    for place in places:
        changed = mutate_code(code[place.file], get_operator(place.operator)(), place.occurrence)
        if changed is not None and (program := _program(changed)) not in seen:
            seen.add(program)
            yield _mutant(place, code[place.file], changed)


def _mutant(place: _Place, code: str, changed: str) -> Mutant:
    old, new = code.splitlines(), changed.splitlines()
    steps = difflib.SequenceMatcher(None, old, new, False).get_opcodes()
    begin, end, new_begin, new_end = next(step[1:] for step in steps if step[0] != "equal")
    return Mutant(
        file=place.file,
        operator=place.operator.rpartition("/")[2],
        line=begin + 1,
        before=_one_line(old[begin:end]),
        after=_one_line(new[new_begin:new_end]),
        code=changed,
    )


def _one_line(lines: Sequence[str]) -> str:
    return _SPACE.sub(" ", " ".join(lines)).strip()


def _program(code: str) -> str:
    """What the code does, whatever it says of itself; the text itself where it is no Python."""
    try:
        return ast.dump(_Bare().visit(ast.parse(code)))
    except SyntaxError:
        return code


class _Bare(ast.NodeTransformer):
    """Takes away what changes nothing while nothing is wrong."""

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        """A function without what it says that it returns, and without its docstring."""
        node.returns = None
        return self._without_docstring(node)

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        """A class without its docstring."""
        return self._without_docstring(node)

    def visit_Module(self, node: ast.Module) -> ast.AST:
        """A module without its docstring."""
        return self._without_docstring(node)

    def visit_arg(self, node: ast.arg) -> ast.AST:
        """A parameter without its type."""
        node.annotation = None
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        """A variable without its type."""
        node.annotation = ast.Constant(None)
        return self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        """A call without guards against mistakes."""
        node.keywords = [word for word in node.keywords if word.arg not in _GUARDS]
        return self.generic_visit(node)

    def _without_docstring(self, node: ast.FunctionDef | ast.ClassDef | ast.Module) -> ast.AST:
        first = node.body[0] if node.body else None
        if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
            node.body = [ast.Pass(), *node.body[1:]]
        return self.generic_visit(node)
