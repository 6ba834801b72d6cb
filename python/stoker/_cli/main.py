# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Feeds training data: looks at it, measures it, and runs what uses it.

Exit status: 0 if all is well, 1 if something was found or failed, 2 for a wrong command line or
what cannot be read, 130 after Ctrl-C.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import Any

from stoker import __version__, index, run
from stoker._cli import bench, check, completion, info, optimise, show
from stoker._command import status_of

# Modules with HELP, add_arguments(parser) and execute(given), which returns the exit status.
_VERBS: dict[str, Any] = {
    "check": check,
    "bench": bench,
    "show": show,
    "optimise": optimise,
    "info": info,
    "run": run,
    "index": index,
    "completion": completion,
}


def make_parser() -> argparse.ArgumentParser:
    """The parser of the whole command line."""
    parser = argparse.ArgumentParser(
        prog="stoker",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog="stoker VERB --help says more of each verb.",
    )
    parser.add_argument("--version", action="version", version=f"stoker {__version__}")
    verbs = parser.add_subparsers(dest="verb", metavar="VERB", required=True)
    for name, verb in _VERBS.items():
        added = verbs.add_parser(name, help=verb.HELP, description=verb.__doc__)
        verb.add_arguments(added)
    verbs.choices["completion"].set_defaults(whole=parser)
    return parser


def main(arguments: Sequence[str] | None = None) -> Any:
    """Does what the command line asks for; returns the exit status as ``sys.exit`` takes it."""
    verb, *words = list(sys.argv[1:] if arguments is None else arguments) or [""]
    parser = make_parser()
    of_verb = dict(completion.verbs(parser)).get(verb)
    if of_verb is None:
        parser.parse_args([verb, *words] if verb else [])
        parser.error("the verb comes first")
    # Options may stand between other words, but behind a script they are the script's.
    parse = of_verb.parse_args if verb == "run" else of_verb.parse_intermixed_args
    return status_of(of_verb.prog, _VERBS[verb].execute, parse(words))
