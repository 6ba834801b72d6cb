# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Runs a script of the established library, NVIDIA DALI, on Stoker.

The script stays as it is: ``nvidia.dali`` and all below it are Stoker's, also in processes that the
script starts. At the end, standard error tells what it asked for that is not there and what was
accepted without effect; --report writes that to FILE as JSON instead. With --check the script is
only read: standard output lists all names and arguments that are not there, with their lines, and
the exit status is 1 if there are any.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Sequence
from contextlib import nullcontext
from types import ModuleType
from typing import Any, TextIO

from stoker import compat
from stoker._command import status_of, tell
from stoker._messages import at_line
from stoker.compat._finder import SITE

HELP = "runs a script written for NVIDIA DALI on Stoker"


class _Module(argparse.Action):
    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> None:
        parser.error(
            "-m is not taken: give the file of the module, or call stoker.compat.install() in it "
            "before it imports nvidia.dali"
        )


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--report", metavar="FILE", help="where the report goes, as JSON")
    parser.add_argument("--check", action="store_true", help="read the script, do not run it")
    parser.add_argument("-m", action=_Module, help=argparse.SUPPRESS)
    parser.add_argument("script", metavar="SCRIPT")
    rest = parser.add_argument(
        "arguments", metavar="ARGUMENT", nargs=argparse.REMAINDER, help="of the script"
    )
    rest.required = False  # else messages would say that it is


def execute(given: argparse.Namespace) -> Any:
    """Runs the script; returns its exit status as ``sys.exit`` takes it. Raises ``OSError``."""
    with open(given.script, "rb") as file:
        source = file.read()
    with open(given.report, "w", encoding="utf-8") if given.report else nullcontext() as report:
        compat.install()
        if given.check:
            return _check(source, given.script, report)
        paths = os.environ.get("PYTHONPATH")
        os.environ["PYTHONPATH"] = os.pathsep.join([SITE, *([paths] if paths else [])])
        if "--check" in given.arguments:
            note = f"the script gets --check; to check it instead: --check {given.script}"
            print(f"stoker.run: {note}", file=sys.stderr)
        try:
            return _run(source, given.script, given.arguments)
        finally:
            _tell(given.script, report)


def main(arguments: Sequence[str] | None = None, prog: str = "python -m stoker.run") -> Any:
    """Runs the script; returns the exit status as ``sys.exit`` takes it."""
    parser = argparse.ArgumentParser(prog=prog, description=__doc__)
    add_arguments(parser)
    return status_of("stoker.run", execute, parser.parse_args(arguments))


def _check(source: bytes, script: str, report: TextIO | None) -> int:
    """Lists what the script asks for in vain."""
    from stoker.compat._check import Check, text_of

    try:
        findings = Check(source, script).findings
    except (SyntaxError, ValueError) as e:  # a zero byte is either, by the version of Python
        tell(e, script)
        return 2
    print(text_of(findings, script), end="")
    if report is not None:
        missing = [{"what": f.what, "status": f.status, "lines": f.lines} for f in findings]
        _write(report, {"script": script, "missing": missing})
    return 1 if findings else 0


def _run(source: bytes, script: str, arguments: Sequence[str]) -> Any:
    """Runs the script as ``python script arguments`` would."""
    sys.argv = [script, *arguments]
    sys.path[0] = os.path.dirname(os.path.abspath(script))
    module = ModuleType("__main__")
    module.__dict__.update(__file__=script, __builtins__=__builtins__, __cached__=None)
    sys.modules["__main__"] = module
    try:
        with at_line(None):  # messages name the script's own lines
            exec(compile(source, script, "exec", dont_inherit=True), module.__dict__)
    except SystemExit as e:
        return e.code
    except BaseException as e:
        return tell(e, script)
    return 0


def _tell(script: str, report: TextIO | None) -> None:
    if report is None:
        print(compat.report.text(), end="", file=sys.stderr)
    else:
        _write(report, {"script": script, **compat.report.as_dict()})


def _write(file: TextIO, found: dict[str, Any]) -> None:
    json.dump(found, file, indent=1)
    file.write("\n")


if __name__ == "__main__":
    sys.exit(main())
