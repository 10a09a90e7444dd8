"""Hooks of MkDocs: which files of the repository the site has, each under its own path; and pages
made of what the code declares: commands, and the fields of stored documents.

A page may lie in any folder, and links between pages are those that work on a git host. The site
has the pages of the navigation and whatever they lead to: further pages, pictures, and files of
code and of results, which become pages too. A paragraph of a page that is a link alone, to FILE.csv
or to FILE.py#Model, leads to the data on a git host. The site has the table there.
"""

from __future__ import annotations

import ast
import csv
import inspect
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import is_dataclass
from importlib import import_module
from itertools import pairwise
from pathlib import Path, PurePosixPath
from posixpath import normpath
from textwrap import dedent
from typing import Any

import click
from markdown_it import MarkdownIt
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files, InclusionLevel
from mkdocs.structure.pages import Page
from pydantic import TypeAdapter
from pydantic.json_schema import GenerateJsonSchema
from pydantic_core import core_schema

from base.files import results
from base.files.documents import Table
from base.paths import ROOT
from cli.shell import start
from studies.reproduce import page as reproduced

INDEX = "README.md"
_LINK = re.compile(r"^\[[^\]\n]+\]\((?P<file>[^)\s#]+\.(?:csv|py))(?:#(?P<model>\w+))?\)$", re.MULTILINE)
_NUMBER = re.compile(r"[-−+]?\d[\d,]*(\.\d+)?( %)?")
_WHOLE = re.compile(r"-?\d{4,}")

_LIMITS = {"minimum": "from", "exclusiveMinimum": "above", "maximum": "to", "exclusiveMaximum": "below"}

Schema = dict[str, Any]


def with_tables(markdown: str, page: str) -> str:
    """The text of a page, by its path in the repository, with a table for each such link. That to a
    result stays as the table's title.
    """

    def table(link: re.Match[str]) -> str:
        path = normpath(PurePosixPath(page).parent / link["file"])
        if link["model"]:
            return of_model(path, link["model"])
        is_there = path.endswith(".csv") and (ROOT / path).is_file()
        return f"{link[0]}\n\n{of_csv(ROOT / path)}" if is_there else link[0]

    return _LINK.sub(table, markdown)


def of_csv(path: Path) -> str:
    """The file's rows. A column of numbers is aligned to the right, their thousands grouped."""
    with path.open(encoding="utf-8", newline="") as file:
        headings, *rows = csv.reader(file)
    columns = zip(*rows, strict=True)
    numeric = [all(_NUMBER.fullmatch(cell) for cell in column if cell) for column in columns]
    rows = [[f"{int(cell):,}" if _WHOLE.fullmatch(cell) else cell for cell in row] for row in rows]
    return table(headings, rows, ["---:" if right else "---" for right in numeric])


def of_model(path: str, model: str) -> str:
    """The fields of a class, from its JSON Schema. Those of a part follow once, behind a dot."""
    module = import_module(path.removesuffix(".py").replace("/", "."))
    schema = TypeAdapter(getattr(module, model)).json_schema(schema_generator=_Described)
    return table(("field", "value", "meaning"), list(_Fields(schema.get("$defs", {})).rows(schema)))


class _Described(GenerateJsonSchema):
    """The schema with the docstring of each field that has one as its description."""

    def model_schema(self, schema: core_schema.ModelSchema) -> Schema:
        return self._described(super().model_schema(schema), schema["cls"])

    def dataclass_schema(self, schema: core_schema.DataclassSchema) -> Schema:
        return self._described(super().dataclass_schema(schema), schema["cls"])

    @staticmethod
    def _described(schema: Schema, part: type) -> Schema:
        classes = [base for base in reversed(part.__mro__) if issubclass(base, Table) or is_dataclass(base)]
        for body in (ast.parse(dedent(inspect.getsource(base))).body[0] for base in classes):
            assert isinstance(body, ast.ClassDef)
            for field, words in pairwise(body.body):
                if isinstance(field, ast.AnnAssign) and isinstance(words, ast.Expr):
                    name = ast.unparse(field.target).rstrip("_")
                    meaning = ast.literal_eval(words.value)
                    schema["properties"].get(name, {}).setdefault("description", meaning)
        return schema


class _Fields:
    """The rows of a schema's fields, and where each part was first."""

    def __init__(self, parts: Schema) -> None:
        self._parts = parts
        self._places: dict[str, str] = {}

    def rows(self, schema: Schema, prefix: str = "") -> Iterator[tuple[str, str, str]]:
        for name, field in schema.get("properties", {}).items():
            marks, part = self._part(field)
            inner = self._parts.get(part, {})
            place = f"{prefix}{name}{marks}"
            first = self._places.setdefault(part, place) if part else place
            again = inner.get("properties") and first != place
            of_part = f"The same fields as `{first}`." if again else inner.get("description", "")
            meaning = f"{field.get('description', '')} {of_part}"
            yield f"`{place}`", self._value(field), " ".join(meaning.split())
            if first == place:
                yield from self.rows(inner, f"{place}.")

    def _part(self, field: Schema) -> tuple[str, str]:
        """`[]` for a list of parts, `{}` for parts by name; and the name of the part, if any."""
        for choice in (field, *field.get("anyOf", ())):
            if "$ref" in choice:
                return "", choice["$ref"].rpartition("/")[2]
            for key, mark in (("items", "[]"), ("additionalProperties", "{}")):
                if isinstance(choice.get(key), dict):
                    marks, part = self._part(choice[key])
                    return mark + marks, part
        return "", ""

    def _value(self, field: Schema) -> str:
        """What a field may be, in words."""
        if "$ref" in field:
            field = {**self._parts[field["$ref"].rpartition("/")[2]], "default": field.get("default")}
        if "anyOf" in field:
            words = " or ".join(dict.fromkeys(map(self._value, field["anyOf"])))
            words = words.replace("integer or number", "number")
        elif "const" in field or "enum" in field:
            words = " or ".join(f"`{choice}`" for choice in field.get("enum", [field.get("const")]))
        else:
            words = str(field.get("type", "any"))
        # A reader need not know that a count is 0 or more, nor how far one counts.
        limits = (
            f"{limit} {field[key]:,}"
            for key, limit in _LIMITS.items()
            if key in field and abs(field[key]) < 1 << 32 and (key, field[key]) != ("minimum", 0)
        )
        words = ", ".join([words, *limits])
        default = field.get("default")
        shown = isinstance(default, bool | int | float) or (isinstance(default, str) and default)
        return f"{words}; `{json.dumps(default)}` if absent" if shown else words


def table(headings: Sequence[str], rows: Iterable[Sequence[str]], bars: Sequence[str] = ()) -> str:
    """A table in Markdown, each row of it in a line."""
    lines = [headings, bars or ["---"] * len(headings)]
    escaped = ([" ".join(cell.split()).replace("|", "\\|") for cell in row] for row in rows)
    return "\n".join(f"| {' | '.join(line)} |" for line in [*lines, *escaped])


def of_commands(command: click.Command, program: str) -> dict[str, str]:
    """The text of each page by its path: an index for each group, and a page for each command.

    `program` is what a user types for `command`. Equal declarations give equal text.
    """
    contexts = list(_contexts(command, program))
    return {
        _file(ctx, "/".join(ctx.command_path.removeprefix(program).split())): _page(
            ctx, [other for other in contexts if other.parent is ctx]
        )
        for ctx in contexts
    }


def _contexts(
    command: click.Command, name: str, parent: click.Context | None = None
) -> Iterator[click.Context]:
    """That of a command which a user types as `name`, for its help alone; and of a group those of
    the commands that its help lists, by name.
    """
    names: Any = command.context_settings.get("help_option_names")  # the command remembers these
    ctx = click.Context(
        command, info_name=name, parent=parent, resilient_parsing=True, help_option_names=names
    )
    yield ctx
    if isinstance(command, click.Group):
        for word in command.list_commands(ctx):
            below = command.get_command(ctx, word)
            if below is not None and not below.hidden:
                yield from _contexts(below, word, ctx)


def _file(ctx: click.Context, name: str) -> str:
    return f"{name}/{INDEX}".lstrip("/") if isinstance(ctx.command, click.Group) else f"{name}.md"


def _page(ctx: click.Context, below: Sequence[click.Context]) -> str:
    command = ctx.command
    usage = " ".join([ctx.command_path, *command.collect_usage_pieces(ctx)])
    parts = [f"# {ctx.command_path}", *_prose(command.help), f"    {usage}"]
    if below:
        names = [(other, str(other.info_name)) for other in below]
        rows = [(f"[{n}]({_file(c, n)})", c.command.get_short_help_str(1000)) for c, n in names]
        parts += [table(("command", "meaning"), rows)]
    for title, kind in (("Words", click.Argument), ("Options", click.Option)):
        if rows := [(f"`{name}`", text) for name, text in _records(ctx, kind)]:
            parts += [f"## {title}", table((title.lower()[:-1], "meaning"), rows)]
    return "\n\n".join([*parts, *_prose(command.epilog)]) + "\n"


def _records(ctx: click.Context, kind: type[click.Parameter] = click.Parameter) -> Iterator[tuple[str, str]]:
    """What help says of a command's words or options."""
    for parameter in ctx.command.get_params(ctx):
        record = parameter.get_help_record(ctx)
        if isinstance(parameter, kind) and record is not None:
            yield record


def _prose(text: str | None) -> list[str]:
    """Its paragraphs."""
    return [" ".join(paragraph.split()) for paragraph in (text or "").split("\n\n") if paragraph.strip()]


def manual(command: click.Command, program: str) -> str:
    """The manual page of the installed program, from what the commands declare (man(7))."""
    lines = [
        *(f".TH {program.upper()} 1", ".SH NAME", f"{program} \\- {command.get_short_help_str(1000)}"),
        *(".SH SYNOPSIS", f".B {program}", "COMMAND [OPTIONS] [WORDS]", ".SH COMMANDS"),
    ]
    for ctx in _contexts(command, program):
        if not isinstance(ctx.command, click.Group):
            usage = " ".join([ctx.command_path, *ctx.command.collect_usage_pieces(ctx)])
            lines += [f".SS {_escaped(usage)}", *map(_escaped, _prose(ctx.command.help))]
            for name, text in _records(ctx):
                lines += [".TP", f".B {_escaped(name)}", _escaped(text)]
    return "\n".join([*lines, ""]).replace(f"{ROOT}/", "").replace("./lab", program)


def _escaped(text: str) -> str:
    """Text of man(7): none of its own escapes, and no line that begins as its requests do."""
    return "\\&" + " ".join(text.split()).replace("\\", "\\e").replace("-", "\\-")


# Which files the site has.


COMMANDS = "docs/reference/commands/README.md"
QUESTIONS = "docs/README.md"
"""It leads to all others by the words of its readers, and would be what the search finds first."""
_PARSER = MarkdownIt("commonmark").enable("table")
_ADDRESS = re.compile(r"[a-z]+:|//|#")
_AS_THEY_ARE = {".css", ".js", ".md", ".png", ".svg"}
_LANGUAGES = {".c": "c", ".h": "c", ".py": "python", ".toml": "toml", ".yml": "yaml"}


class Source(File):
    """A file of code or of results, shown as a page under its own name."""

    def is_documentation_page(self) -> bool:
        return True


def on_post_template(output: str, template_name: str, config: MkDocsConfig) -> str:  # noqa: ARG001
    """No page for addresses that are not there: its links would be true at none of them."""
    return "" if template_name == "404.html" else output


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """The site's files: see above. A link to what is not there stays, so that MkDocs refuses it."""
    waiting = list(_named(config.nav or []))
    paths = {name: _site_file(name, config) for name in (*config.extra_css, *config.extra["polyfills"])}
    while waiting:
        name = waiting.pop()
        if name not in paths and (ROOT / name).is_file():
            paths[name] = _site_file(name, config)
            waiting += _linked(name) if name.endswith(".md") else []
    of_the_theme = (file for file in files if file.src_dir != config.docs_dir)
    # A page for each command, of which no file is kept. The navigation names the first, if any.
    with_commands = COMMANDS in _named(config.nav or [])
    pages = of_commands(start.lab(), start.PROGRAM) if with_commands else {}
    generated = (
        File.generated(
            config,
            str(PurePosixPath(COMMANDS).parent / path),
            content=text,
            inclusion=InclusionLevel.NOT_IN_NAV,
        )
        for path, text in pages.items()
    )
    return Files([*paths.values(), *generated, *of_the_theme])


def _site_file(name: str, config: MkDocsConfig) -> File:
    there = (name, str(ROOT), config.site_dir, config.use_directory_urls)
    if PurePosixPath(name).suffix in _AS_THEY_ARE:
        in_nav = InclusionLevel.INCLUDED if name in _named(config.nav or []) else InclusionLevel.NOT_IN_NAV
        return File(*there, dest_uri="index.html" if name == "README.md" else None, inclusion=in_nav)
    source, path = Source(*there, dest_uri=f"{name}.html", inclusion=InclusionLevel.NOT_IN_NAV), ROOT / name
    if path.suffix == ".csv":
        source.content_string = f"# {path.name}\n\n{of_csv(path)}\n"
    elif path.parent == results.FOLDER / reproduced.FOLDER:
        source.content_string = reproduced.markdown(path)
    else:
        code = f"~~~~{_LANGUAGES.get(path.suffix, 'text')}\n{path.read_text(encoding='utf-8')}\n~~~~"
        source.content_string = f"# {path.name}\n\n`{name}`\n\n{code}\n"
    return source


def _named(nav: Any) -> Iterator[str]:
    """The files that a navigation names."""
    if isinstance(nav, str):
        yield nav
    else:
        for entry in nav.values() if isinstance(nav, dict) else nav:
            yield from _named(entry)


def _linked(page: str) -> Iterable[str]:
    """What the links and pictures of a page lead to, as paths of the repository."""
    text = (ROOT / page).read_text(encoding="utf-8")
    for block in _PARSER.parse(text):
        for token in block.children or []:
            target = str(token.attrGet("href") or token.attrGet("src") or "")
            if target and not _ADDRESS.match(target):
                yield normpath(PurePosixPath(page).parent / target.partition("#")[0])


def on_page_markdown(markdown: str, page: Page, **_: object) -> str:
    """The text with its tables. The search leaves out code, figures, and the list of questions."""
    name = page.file.src_uri
    if isinstance(page.file, Source) or name == QUESTIONS:
        page.meta["search"] = {"exclude": True}
    return with_tables(markdown, name)
