"""What Tab completes, by Click: the script for each shell, and the answers that it asks for.

Click's own scripts call the word that a user typed. In a checkout ours call its Python, which
answers sooner than `lab` would, and installs nothing.
"""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path

import click
from click.shell_completion import BashComplete, CompletionItem, FishComplete, ShellComplete, ZshComplete

from base.paths import INSTALLED, ROOT

_ASKED = "_TAILSCOPE_COMPLETE"

# A candidate that ends in = goes on: no space follows it.
_BASH = """\
# Completes %(names)s. ~/.bashrc is the place to have it in every shell.
_tailscope_lab() {
    local IFS=$'\\n' response completion type value
    response=$(%(go)sCOMP_WORDS="${COMP_WORDS[*]}" COMP_CWORD=$COMP_CWORD \\
        %(asked)s=bash %(call)s 2>/dev/null)
    COMPREPLY=()
    for completion in $response; do
        IFS=',' read -r type value <<<"$completion"
        case $type in
            dir) compopt -o dirnames 2>/dev/null ;;
            file) compopt -o default 2>/dev/null ;;
            plain) COMPREPLY+=("$value") ;;
        esac
    done
    [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == *= ]] && compopt -o nospace
    return 0
}
complete -o nosort -F _tailscope_lab %(names)s
"""
_ZSH = """\
# Completes %(names)s. ~/.zshrc is the place to have it in every shell.
(( $+functions[compdef] )) || { autoload -Uz compinit && compinit -u }
_tailscope_lab() {
    local -a response plain told open
    local type key descr
    response=("${(@f)$(%(go)sCOMP_WORDS="${words[*]}" COMP_CWORD=$((CURRENT-1)) \\
        %(asked)s=zsh %(call)s 2>/dev/null)}")
    for type key descr in ${response}; do
        case $type in
            dir) _path_files -/ ;;
            file) _path_files -f ;;
            plain)
                if [[ $key == *= ]]; then open+=("$key")
                elif [[ $descr == _ ]]; then plain+=("$key")
                else told+=("$key:$descr")
                fi ;;
        esac
    done
    (( $#told )) && _describe -V unsorted told -U
    (( $#plain )) && compadd -U -V unsorted -a plain
    (( $#open )) && compadd -U -S '' -V unsorted -a open
}
compdef _tailscope_lab %(names)s
"""
_FISH = """\
# Completes %(names)s. ~/.config/fish/config.fish is the place to have it in every shell.
function _tailscope_lab
    set -l words (commandline -cp)
    set -l word (commandline -ct)
    set -l response (%(fish_go)senv COMP_WORDS="$words" COMP_CWORD="$word" \\
        %(asked)s=fish %(call)s 2>/dev/null)
    for completion in $response
        set -l metadata (string split -m 1 "," -- $completion)
        switch $metadata[1]
            case dir
                __fish_complete_directories $word
            case file
                __fish_complete_path $word
            case plain
                echo $metadata[2]
        end
    end
end
complete --no-files --command %(fish_name)s --arguments "(_tailscope_lab)"
complete --no-files --command %(fish_path)s --arguments "(_tailscope_lab)"
"""


class _Bash(BashComplete):
    source_template = _BASH

    def get_completion_args(self) -> tuple[list[str], str]:
        """bash has made three words of --option=value."""
        words, incomplete = super().get_completion_args()
        if incomplete == "=":
            return words, ""
        return [word for word in words if word != "="], incomplete

    def source(self) -> str:
        """Without Click's look at which bash this is."""
        return ShellComplete.source(self)


class _Zsh(ZshComplete):
    source_template = _ZSH


class _Fish(FishComplete):
    source_template = _FISH


_CLASSES: dict[str, type[ShellComplete]] = {"bash": _Bash, "zsh": _Zsh, "fish": _Fish}
SHELLS = tuple(_CLASSES)


def script(shell: str, root: Path = ROOT, python: str = sys.executable) -> str:
    """What `eval` takes in that shell, one of SHELLS."""
    if INSTALLED:
        return of_package(shell)
    go = f"cd {shlex.quote(str(root))}"
    return _filled(
        shell,
        go=f"{go} 2>/dev/null && ",
        fish_go=f"{go}; and ",
        call=f"{shlex.quote(python)} -m cli",
        names="lab ./lab",
        fish_name="lab",
        fish_path=shlex.quote(str(root / "lab")),
    )


def of_package(shell: str) -> str:
    """The same for the installed program, wherever it lies."""
    name = "tailscope"
    return _filled(shell, go="", fish_go="", call=name, names=name, fish_name=name, fish_path=name)


def _filled(shell: str, **words: str) -> str:
    return (_CLASSES[shell].source_template % {**words, "asked": _ASKED}).rstrip()


def is_asked_for() -> bool:
    """Whether a shell's script asks what the words could become."""
    return os.environ.get(_ASKED) in _CLASSES


def answer(root: click.Command) -> None:
    """Prints the candidates as the shell's script takes them."""
    shell = _CLASSES[os.environ[_ASKED]]
    print(shell(root, {}, "lab", _ASKED).complete())


def candidates(root: click.Command, words: Sequence[str], incomplete: str) -> list[CompletionItem[str]]:
    """What the word `incomplete` behind `words` could become."""
    return ShellComplete(root, {}, "lab", _ASKED).get_completions([*words], incomplete)
