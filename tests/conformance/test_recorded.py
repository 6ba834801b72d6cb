# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""What is recorded of every operator: the draws of random ones, and what the engine uses of each.

`python tests/golden/update.py` records what is new.
"""

from __future__ import annotations

import json
from typing import Any

from golden_draws import GOLDEN

from stoker._describe.registry import operators

UPDATE = "run .venv/bin/python tests/golden/update.py, and commit what it adds"


def recorded(name: str) -> Any:
    return json.loads((GOLDEN / name).read_text())


def test_every_random_operator_has_golden_draws() -> None:
    known = {entry["op"] for entry in recorded("draws.json")}
    new = {name for name, op in operators().items() if op["is_random"]} - known
    assert not new, f"no golden draws of {', '.join(sorted(new))}: {UPDATE}"


def test_no_operator_has_lost_a_facet() -> None:
    """As where a demand or a GPU half got another name, or another form."""
    known = recorded("facets.json")
    lost = [
        f"{name} has lost its facet {facet!r}"
        for name, facets in known.items()
        for facet in facets
        if facet not in operators().get(name, {"facets": facets})["facets"]
    ]
    assert not lost, "; ".join(lost) + "; if that is meant, take it out of tests/golden/facets.json"
    new = [name for name, op in operators().items() if known.get(name) != sorted(op["facets"])]
    assert not new, f"the facets of {', '.join(new)} are not recorded: {UPDATE}"
