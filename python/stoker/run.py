# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Runs a script of the established library, NVIDIA DALI, on Stoker.

The script stays as it is: ``nvidia.dali`` and all below it are Stoker's, also in processes that the
script starts. At the end, standard error tells what it asked for that is not there and what was
accepted without effect; --report writes that to FILE as JSON instead.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Sequence
from types import ModuleType, TracebackType
from typing import Any

from stoker import compat
from stoker.compat._finder import SITE


def main(arguments: Sequence[str] | None = None) -> Any:
    """Runs the script; returns the exit status as ``sys.exit`` takes it."""
    parser = argparse.ArgumentParser(prog="python -m stoker.run", description=__doc__)
    parser.add_argument("--report", metavar="FILE", help="where the report goes, as JSON")
    parser.add_argument("script", metavar="SCRIPT")
    parser.add_argument(
        "arguments", metavar="ARGUMENT", nargs=argparse.REMAINDER, help="of the script"
    )
    given = parser.parse_args(arguments)
    compat.install()
    paths = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = os.pathsep.join([SITE, *([paths] if paths else [])])
    try:
        return _run(given.script, given.arguments)
    finally:
        _tell(given.script, given.report)


def _run(script: str, arguments: Sequence[str]) -> Any:
    """Runs the script as ``python script arguments`` would."""
    try:
        with open(script, "rb") as file:
            source = file.read()
    except OSError as e:
        print(f"stoker.run: cannot open {script!r}: {e.strerror}", file=sys.stderr)
        return 2
    sys.argv = [script, *arguments]
    sys.path[0] = os.path.dirname(os.path.abspath(script))
    module = ModuleType("__main__")
    module.__dict__.update(__file__=script, __builtins__=__builtins__, __cached__=None)
    sys.modules["__main__"] = module
    try:
        exec(compile(source, script, "exec", dont_inherit=True), module.__dict__)
    except SystemExit as e:
        return e.code
    except BaseException as e:
        e.__traceback__ = _own_frames(e.__traceback__)
        sys.excepthook(type(e), e, e.__traceback__)
        return 130 if isinstance(e, KeyboardInterrupt) else 1
    return 0


def _own_frames(traceback: TracebackType | None) -> TracebackType | None:
    """The traceback without this module's own frame, so that it begins in the script."""
    return traceback.tb_next if traceback is not None else None


def _tell(script: str, path: str | None) -> None:
    if path is None:
        print(compat.report.text(), end="", file=sys.stderr)
        return
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"script": script, **compat.report.as_dict()}, file, indent=1)
        file.write("\n")


if __name__ == "__main__":
    sys.exit(main())
