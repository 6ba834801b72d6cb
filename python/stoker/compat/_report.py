# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Records what a script asked of DALI and did not get."""

from __future__ import annotations

import functools
import json
from pathlib import Path
from typing import Any

PLANNED = "planned"
NOT_PLANNED = "not planned"
UNKNOWN = "unknown"

_WORDS = {
    PLANNED: "is not in Stoker yet (planned)",
    NOT_PLANNED: "is not in Stoker, and not planned",
    UNKNOWN: "is not in Stoker, which does not know this name",
}


def in_words(status: str) -> str:
    """What a status says of a name."""
    return _WORDS[status]


@functools.cache
def names() -> Any:
    """The names of DALI, from names.json."""
    return json.loads((Path(__file__).parent / "names.json").read_text(encoding="utf-8"))


def arguments_of(operator: str) -> dict[str, Any]:
    """The arguments of an operator of DALI with their defaults.

    The default is ``...`` where the argument must be given, and None where it has none.
    """
    found: dict[str, Any] = {}
    for text in names()["operators"][operator]["arguments"].split():
        name, has_default, default = text.partition("=")
        if has_default:
            found[name] = json.loads(default)
        elif name.endswith("?"):
            found[name.removesuffix("?")] = None
        else:
            found[name] = ...
    return found


def status_of(dotted: str) -> str:
    """Whether a name below ``nvidia.dali``, e.g. ``fn.noise.shot``, is planned or known at all."""
    from stoker.ops._classes import class_name

    table = names()
    if any(f"{dotted}.".startswith(f"{n}.") for n in table["not planned"]):
        return NOT_PLANNED
    package, _, rest = dotted.partition(".")
    operators = table["operators"]
    listed = {"fn": operators, "ops": [class_name(n) for n in operators]}.get(package, [])
    if any(f"{n}.".startswith(f"{rest}.") for n in listed):
        return PLANNED
    module, _, name = dotted.rpartition(".")
    is_known = dotted in table["modules"] or name in table["names"].get(module, [])
    return PLANNED if is_known else UNKNOWN


class Report:
    """What a script asked for in vain, each thing once, in the order of asking."""

    def __init__(self) -> None:
        self.missing: dict[str, str] = {}
        self.without_effect: dict[str, None] = {}

    def miss(self, dotted: str) -> str:
        """Notes a missing name below ``nvidia.dali``. Returns the message for its error."""
        status = self.missing[f"nvidia.dali.{dotted}"] = status_of(dotted)
        return f"nvidia.dali.{dotted} {_WORDS[status]}"

    def ignore(self, what: str) -> None:
        """Notes something that was accepted without effect."""
        self.without_effect[what] = None

    def as_dict(self) -> dict[str, Any]:
        """``missing``: {what: planned, not planned or unknown}; ``without_effect``: [text]."""
        return {"missing": dict(self.missing), "without_effect": list(self.without_effect)}

    def text(self) -> str:
        """The report in words; "" if there is nothing to report."""
        lines = [f"  {name} {_WORDS[status]}" for name, status in self.missing.items()]
        if lines:
            lines.insert(0, "asked for and not there:")
        if self.without_effect:
            lines += ["accepted without effect:", *(f"  {what}" for what in self.without_effect)]
        return "".join(f"stoker.run: {line}\n" for line in lines)


report = Report()
