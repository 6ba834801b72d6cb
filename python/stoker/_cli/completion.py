# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Prints a script that completes the verbs and options of ``stoker`` in a shell.

For bash: eval "$(stoker completion bash)" in ~/.bashrc. For zsh: the same in ~/.zshrc, behind
compinit. For fish: stoker completion fish > ~/.config/fish/completions/stoker.fish
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator

HELP = "prints a script for completion: bash, zsh or fish"
SHELLS = ("bash", "zsh", "fish")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("shell", choices=SHELLS)


def execute(given: argparse.Namespace) -> int:
    print(script(given.whole, given.shell), end="")
    return 0


def script(parser: argparse.ArgumentParser, shell: str) -> str:
    """The script, made of the parser's own verbs and options."""
    options = {verb: _options(of_verb) for verb, of_verb in verbs(parser)}
    return _fish(options) if shell == "fish" else _bash(options, is_zsh=shell == "zsh")


def verbs(parser: argparse.ArgumentParser) -> Iterator[tuple[str, argparse.ArgumentParser]]:
    """Each verb with its own parser."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            yield from action.choices.items()


def _options(parser: argparse.ArgumentParser) -> list[str]:
    """The long options, and the words that a positional argument may be."""
    words = []
    for action in parser._actions:
        words += [option for option in action.option_strings if option.startswith("--")]
        if not action.option_strings and action.choices:
            words += [str(choice) for choice in action.choices]
    return words


def _bash(options: dict[str, list[str]], is_zsh: bool) -> str:
    cases = "".join(f"    {verb}) words='{' '.join(of)}' ;;\n" for verb, of in options.items())
    begin = "autoload -U +X bashcompinit && bashcompinit\n" if is_zsh else ""
    return (
        f"{begin}_stoker() {{\n"
        '  local word="${COMP_WORDS[COMP_CWORD]}" words found\n'
        '  case "${COMP_WORDS[1]}" in\n'
        f"{cases}"
        "  esac\n"
        f"  [ \"$COMP_CWORD\" -gt 1 ] || words='{' '.join(options)}'\n"
        "  COMPREPLY=()\n"
        '  while IFS= read -r found; do COMPREPLY+=("$found"); done < <(\n'
        '    compgen -W "$words" -- "$word"\n'
        '    [ "$COMP_CWORD" -eq 1 ] || [[ "$word" == -* ]] || compgen -f -- "$word"\n'
        "  )\n"
        "}\n"
        "complete -o filenames -F _stoker stoker\n"
    )


def _fish(options: dict[str, list[str]]) -> str:
    verbs = " ".join(options)
    lines = [f"complete -c stoker -f -n __fish_use_subcommand -a '{verbs}'"]
    for verb, words in options.items():
        condition = f"-n '__fish_seen_subcommand_from {verb}'"
        lines += [
            f"complete -c stoker {condition} -l {word[2:]}"
            if word.startswith("--")
            else f"complete -c stoker {condition} -a {word}"
            for word in words
        ]
        lines.append(f"complete -c stoker {condition} -F")
    return "\n".join(lines) + "\n"
