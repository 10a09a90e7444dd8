"""`./lab completion bash` and `./lab completion zsh`: what Tab completes, for a shell to evaluate.

The shell's function asks `python -m cli.completion`, which reads the sources of names and
imports nothing. So a new allocator, run or option is completed at once.
"""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from base.files.errors import TailscopeError, no_such
from base.paths import ROOT
from cli import known
from cli.benchmarks import BENCHMARKS
from cli.commands import Command, commands

SHELLS = ("bash", "zsh")

# Both say words of the line up to the cursor, and take a candidate a line. A candidate that ends in
# = or / goes on: no space follows it.
_BASH = """\
# Completes ./lab and lab. ~/.bashrc is the place to have it in every shell.
_tailscope_lab() {{
    local line=${{COMP_LINE:0:COMP_POINT}} word=${{COMP_WORDS[COMP_CWORD]}} whole candidates
    whole=${{line##*[[:space:]]}}
    mapfile -t candidates < <(cd {root} 2>/dev/null && TAILSCOPE_FROM="$OLDPWD" {python} -m \\
        console.completion "$line" 2>/dev/null)
    # Readline divides words at = and :, so that much of a candidate stands in the line already.
    local there=${{whole%"$word"}} candidate
    [ "$word" = "=" ] && there=$whole
    COMPREPLY=()
    for candidate in "${{candidates[@]}}"; do
        candidate=${{candidate#"$there"}}
        [[ -n $candidate ]] && COMPREPLY+=("$candidate")
    done
    [[ ${{#COMPREPLY[@]}} -eq 1 && ${{COMPREPLY[0]}} == *[=/] ]] && compopt -o nospace
    return 0
}}
complete -o default -F _tailscope_lab lab ./lab
"""
_ZSH = """\
# Completes ./lab and lab. ~/.zshrc is the place to have it in every shell.
(( $+functions[compdef] )) || {{ autoload -Uz compinit && compinit -u }}
_tailscope_lab() {{
    local -a candidates open closed
    local candidate
    candidates=("${{(@f)$(cd {root} 2>/dev/null && TAILSCOPE_FROM="$OLDPWD" {python} -m \\
        console.completion "${{(j: :)words[1,CURRENT-1]}} $PREFIX" 2>/dev/null)}}")
    for candidate in $candidates; do
        case $candidate in *[=/]) open+=("$candidate") ;; ?*) closed+=("$candidate") ;; esac
    done
    (( $#open )) && compadd -S '' -- $open
    (( $#closed )) && compadd -- $closed
    (( $#open + $#closed )) || _files
}}
compdef _tailscope_lab lab ./lab
"""


def script(shell: str, root: Path = ROOT, python: str = sys.executable) -> str:
    """What `eval` takes in that shell. Raises TailscopeError for another."""
    if shell not in SHELLS:
        raise TailscopeError(no_such("completion for the shell", shell, SHELLS))
    words = {"root": shlex.quote(str(root)), "python": shlex.quote(python)}
    return (_BASH if shell == "bash" else _ZSH).format(**words).rstrip()


def candidates(line: str, runs: Path) -> list[str]:
    """What the last word of a command line could become; nothing where a shell knows better.

    The line ends where the cursor is. `runs` is the folder of run folders, as a user would type it.
    """
    words = line.split()
    current = "" if line[-1:].isspace() or not words else words.pop()
    found = commands()
    before = next((place for place, word in enumerate(words) if Path(word).name == "lab"), 0)
    given = words[before + 1 :]
    if "--" in given:
        return []
    if not given:
        return _beginning(current, [*found, "--help", "--version"])
    command = found.get(given[0])
    if command is None:
        return []
    if current.startswith("--") and "=" in current:
        flag, _, value = current.partition("=")
        return [f"{flag}={one}" for one in _values(command, flag, value, given, runs)]
    if given[-1].startswith("--") and _takes_value(command, given[-1]):
        return _values(command, given[-1], current, given, runs)
    if current.startswith("-"):
        return _beginning(current, [*_flags(command), "--help"])
    return _words(command, current, runs)


def _beginning(start: str, names: Iterable[str]) -> list[str]:
    return [name for name in names if name.startswith(start)]


def _flags(command: Command) -> list[str]:
    options = (*command.options, *command.words)
    return [f"{option.flag}=" if option.takes_value else option.flag for option in options]


def _takes_value(command: Command, flag: str) -> bool:
    options = (*command.options, *command.words)
    return any(option.flag == flag and option.takes_value for option in options)


def _words(command: Command, start: str, runs: Path) -> list[str]:
    """The command's own words: scenarios, runs, and words that tasks.py names."""
    kinds = {word.name for word in command.words}
    if kinds & {"run", "a", "b"}:
        return _beginning(start, (f"{runs}/{name}" for name in known.runs(ROOT / "runs")))
    names = {"name": known.scenarios(), "room": _rooms(), **_WORDS.get(command.name, {})}
    return _beginning(start, (name for kind in kinds for name in names.get(kind, ())))


def _rooms() -> list[str]:
    return sorted(path.name for path in ROOT.iterdir() if (path / "__init__.py").exists())


_WORDS: Mapping[str, Mapping[str, Sequence[str]]] = {
    "bench": {"what": BENCHMARKS},
    "wiring": {"what": ("plan", "check")},
    "completion": {"shell": SHELLS},
}
_CHOICES: Mapping[str, Sequence[str]] = {
    "--art": ("on", "off", "on,off"),
    "--locking": ("basepri", "primask", "scheduler"),
    "--records": ("uart", "rtt"),
    "--capture": ("sigrok", "direct"),
    "--stimulus": ("none", "periodic", "sweep", "random", "burst"),
    "--edges": ("both", "rising", "falling"),
    "--what": ("allocate", "free", "fragmentation"),
    "--mode": ("sweep", "random"),
    "--quantity": ("allocate", "free", "interrupt", "task"),
    "--summary": ("json",),
}
_LISTS = ("--allocator", "--locking", "--what")
"""Options that take several values with commas."""


def _values(command: Command, flag: str, start: str, given: Sequence[str], runs: Path) -> list[str]:
    scenario = next((word for word in given[1:] if word in known.scenarios()), "")
    sources: Mapping[str, Callable[[], Iterable[str]]] = {
        "--allocator": lambda: ["all", *known.allocators()],
        "--board": known.boards,
        "--scenario": known.scenarios,
        "--run": lambda: (f"{runs}/{name}" for name in known.runs(ROOT / "runs")),
        "--runs": lambda: (f"{runs}/{name}" for name in known.runs(ROOT / "runs")),
        "--parameter": lambda: (f"{name}=" for name in known.parameters(scenario)),
        "--knob": lambda: (f"{name}=" for name in known.knobs(known.allocators())),
    }
    if not _takes_value(command, flag):
        return []
    names = sources.get(flag, lambda: _CHOICES.get(flag, ()))()
    if flag == "--runs" and command.name != "fragmentation":  # elsewhere a number
        names = ()
    head = start.rpartition(",")[0] + "," if flag in _LISTS and "," in start else ""
    return _beginning(start, (f"{head}{name}" for name in names))


def _main() -> None:
    here = Path(os.environ.get("TAILSCOPE_FROM") or ROOT)
    folder = ROOT / "runs"
    runs = folder.relative_to(here) if folder.is_relative_to(here) else folder
    print("\n".join(candidates(sys.argv[1] if len(sys.argv) > 1 else "", runs)))


if __name__ == "__main__":
    _main()
