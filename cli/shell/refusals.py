"""What Click refuses, in one sentence that says what to do."""

from __future__ import annotations

from collections.abc import Iterable

import click

from base.files.errors import nearest


def sentence(error: click.ClickException) -> str:
    """What was wrong with the words of a command line. Values say it themselves, and only Click's
    own sentences are put in ours.
    """
    ctx = getattr(error, "ctx", None)
    path = ctx.command_path if ctx else "./lab"
    if isinstance(error, click.NoSuchOption):
        near = _near(error.option_name, ctx.command.params if ctx else ())
        question = f" Did you mean {near}?" if near else f" {path} --help lists them."
        return f"{path} has no option {error.option_name[:80]}.{question}"
    if isinstance(error, click.MissingParameter) and error.param is not None:
        return f"{path} needs {_named(error.param)}: {_help(error.param)}."
    if isinstance(error, click.BadOptionUsage) and ctx is not None:
        return _wrong_use(error, ctx)
    return error.message


def _near(given: str, params: Iterable[click.Parameter]) -> str:
    """The long option that is near; the dashes count for nothing."""
    names = {
        name.lstrip("-"): name for parameter in params for name in parameter.opts if name.startswith("--")
    }
    close = nearest(given.lstrip("-"), names, 1) if len(given.lstrip("-")) > 1 else []
    return names[close[0]] if close else ""


def _wrong_use(error: click.BadOptionUsage, ctx: click.Context) -> str:
    option = next(
        (parameter for parameter in ctx.command.params if error.option_name in parameter.opts), None
    )
    if isinstance(option, click.Option) and not option.is_flag:
        return f"{error.option_name} needs a value: {_help(option)}."
    return f"{error.option_name} takes no value: leave out what stands behind it."


def _named(param: click.Parameter) -> str:
    return param.opts[0] if isinstance(param, click.Option) else str(param.name).upper()


def _help(param: click.Parameter) -> str:
    return str(getattr(param, "help", None) or "./lab --help says which").rstrip(".")
