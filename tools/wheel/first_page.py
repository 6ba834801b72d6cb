# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Runs the programs of a guide page and compares what they print with the page.

first_page.py PAGE, in a folder that holds `pictures`. It needs nothing but an installed Stoker.
"""

from __future__ import annotations

import contextlib
import io
import re
import sys
from pathlib import Path


def main() -> None:
    page = Path(sys.argv[1]).read_text(encoding="utf-8")
    blocks = re.findall(r"^```(python|text)\n(.*?)^```", page, re.M | re.S)
    names: dict[str, object] = {"__name__": "__main__"}
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        for kind, block in blocks:
            if kind == "python":
                exec(compile(block, sys.argv[1], "exec", dont_inherit=True), names)
    expected = "".join(block for kind, block in blocks if kind == "text")
    if printed.getvalue() != expected:
        sys.exit(f"{sys.argv[1]}: expected\n{expected}\ngot\n{printed.getvalue()}")
    print(f"{sys.argv[1]}: as on the page")


if __name__ == "__main__":
    main()
