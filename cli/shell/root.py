"""`./lab` itself: what its help says, and its version."""

from __future__ import annotations

import subprocess

import click

import cli
from base.paths import INSTALLED, REVISION, ROOT
from cli.shell.folder import CommandFolder
from cli.shell.project import project

_HELP = "Tailscope measures worst-case latency: how long an allocator keeps interrupts waiting."
_EPILOG = """\
./lab COMMAND --help says what one of them takes.

Tab completes commands, options and names: eval "$(./lab completion bash)".
"""
_REVISION_WITHIN_S = 5.0


def root() -> CommandFolder:
    """All commands."""
    made = CommandFolder(cli.__name__, help=_HELP, epilog=_EPILOG)
    made.params.append(
        click.Option(
            ["-V", "--version"],
            is_flag=True,
            is_eager=True,
            expose_value=False,
            hidden=True,
            callback=_version,
        )
    )
    return made


def _version(ctx: click.Context, _option: click.Parameter, wanted: bool) -> None:
    if wanted and not ctx.resilient_parsing:
        click.echo(version())
        ctx.exit()


def version() -> str:
    """`Tailscope 0.1.0 (git 1a2b3c4)`; the revision only in a checkout of git."""
    git = revision()
    return f"Tailscope {project()['version']}" + (f" (git {git})" if git else "")


def revision() -> str:
    """Of the checkout, with -dirty where files differ from it; empty where there is none. An
    installed package has that of the checkout that it was made in.
    """
    if INSTALLED:
        return REVISION
    if not (ROOT / ".git").exists():
        return ""
    try:
        done = subprocess.run(
            ["git", "describe", "--always", "--dirty", "--abbrev=12", "--exclude=*"],
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=False,
            timeout=_REVISION_WITHIN_S,
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""
