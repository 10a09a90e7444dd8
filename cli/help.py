"""What `./lab`, `./lab --help`, `./lab COMMAND --help` and `./lab --version` print."""

from __future__ import annotations

import re
import subprocess
import textwrap
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence

from base.paths import ROOT
from cli.commands import Command, Option, commands

_WIDTH = 100
_REVISION_WITHIN_S = 5.0
_OTHERS = "More"
_EXAMPLE = re.compile(r": `\./lab [^`]*`[^`]*\.$")

GROUPS: Mapping[str, Sequence[str]] = {
    "Run and measure": ("demo", "scenario", "campaign", "observe", "decode", "redecode", "record"),
    "Read what came out": (
        *("app", "dashboard", "explain", "extremes", "histograms", "pulseview", "twin"),
        *("compare", "gate"),
    ),
    "Choose an allocator": (
        *("list", "footprint", "fragmentation", "worst", "adversary", "reproduce", "contract"),
    ),
    "Your own firmware, as it is": ("masks", "latency"),
    "Set up": ("doctor", "wiring", "build", "clean", "completion"),
    "Work on the bench itself": (
        *("test", "bench", "perturbation", "faults", "soak", "mutants", "differential", "site"),
    ),
}
"""By what a user wants to do. A command that no group names is shown behind them."""


def overview() -> str:
    """All commands, in groups."""
    found = commands()
    grouped = {title: [name for name in names if name in found] for title, names in GROUPS.items()}
    rest = [name for name in found if not any(name in names for names in grouped.values())]
    width = max(map(len, found)) + 2
    lines = ["Tailscope measures worst-case latency: how long an allocator keeps interrupts waiting.", ""]
    lines += ["Usage: ./lab COMMAND [WORDS] [--options]"]
    for title, names in [*grouped.items(), (_OTHERS, rest)]:
        if names:
            lines += ["", title, *(_entry(f"  {name}", _short(found[name]), width + 2) for name in names)]
    lines += ["", "./lab COMMAND --help says what one of them takes; ./lab --version which bench this is."]
    lines += ['To have commands, options and names completed by Tab: eval "$(./lab completion bash)".']
    return "\n".join(lines)


def _short(command: Command) -> str:
    """What a command does, without the example of how it is typed."""
    return _EXAMPLE.sub(".", command.summary)


def of(command: Command) -> str:
    """One command: usage, what it does, its words, its options with their defaults."""
    lines = [f"Usage: ./lab {command.name}{_usage(command)}", "", command.summary]
    for title, options in (("Words", command.words), ("Options", command.options)):
        if options:
            labels = [_label(option, is_word=title == "Words") for option in options]
            width = min(max(map(len, labels)), 28) + 2
            entries = zip(labels, map(_described, options), strict=True)
            lines += ["", title, *(_entry(label, words, width) for label, words in entries)]
    return "\n".join(lines)


def version() -> str:
    """`Tailscope 0.1.0 (git 1a2b3c4)`; the revision only in a checkout of git."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    revision = _revision()
    return f"Tailscope {project['version']}" + (f" (git {revision})" if revision else "")


def _revision() -> str:
    """Of the checkout, with -dirty where files differ from it; empty where there is none."""
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


def _usage(command: Command) -> str:
    return "".join(_usage_words(command)) + (" [--options]" if command.options else "")


def _usage_words(command: Command) -> Iterator[str]:
    for word in command.words:
        shown = word.name.upper() + ("…" if word.repeated else "")
        yield f" {shown}" if word.name in command.required else f" [{shown}]"


def _label(option: Option, is_word: bool) -> str:
    if is_word:
        return f"  {option.name.upper()}"
    return f"  {option.flag}" + (f"={_placeholder(option)}" if option.takes_value else "")


def _placeholder(option: Option) -> str:
    return "NAME=VALUE" if option.help.startswith("NAME=VALUE") else option.name.strip("_").upper()


def _described(option: Option) -> str:
    default = f" (default: {option.default})" if option.default and len(option.default) < 40 else ""
    return option.help + default


def _entry(label: str, words: str, width: int) -> str:
    """A label, and beside it the words, in lines of at most _WIDTH columns."""
    beside = textwrap.wrap(words, _WIDTH - width, break_on_hyphens=False) or [""]
    if len(label) > width - 2:
        beside = ["", *beside]
    rest = [" " * width + line for line in beside[1:]]
    return "\n".join([f"{label:{width}}{beside[0]}".rstrip(), *rest])


def answer(words: Sequence[str]) -> str | None:
    """What to print for words that ask for help or the version; None if they ask for work."""
    asked = list(_before_dashes(words))
    if not asked or asked[0] in ("--list", "-l") or asked == ["help"]:
        return overview()
    if asked[0] in ("--version", "-V"):
        return version()
    if "--help" not in asked and asked[0] not in ("-h", "help") and asked[1:] != ["-h"]:
        return None
    named = next((word for word in asked if not word.startswith("-") and word != "help"), None)
    found = commands()
    if named is None:
        return overview()
    return of(found[named]) if named in found else None


def _before_dashes(words: Iterable[str]) -> Iterator[str]:
    for word in words:
        if word == "--":
            return
        yield word
