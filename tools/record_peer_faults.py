#!/usr/bin/env python3
# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Records what the established library makes of tests/compat/peer_faults.py.

`record_peer_faults.py`: run it with a Python that has nvidia-dali (bench/compare/peers/dali.txt)
and NumPy. What it finds goes to tests/golden/peer_faults.json, which
tests/compat/test_peer_faults.py reads.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

TESTS = Path(__file__).resolve().parent.parent / "tests"
GOLDEN = TESTS / "golden" / "peer_faults.json"
sys.path.insert(0, str(TESTS / "compat"))

import peer_faults as peer  # noqa: E402


def main() -> None:
    import nvidia.dali as library  # type: ignore[import-not-found]
    import nvidia.dali.fn
    import nvidia.dali.ops
    import nvidia.dali.types  # noqa: F401

    lines = []
    for text in [*peer.DEFINITIONS, *peer.PROGRAMS]:
        found = json.dumps(peer.outcome(library, text))
        lines.append(f" {json.dumps(text)}: {found}")
    GOLDEN.write_text("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    main()
