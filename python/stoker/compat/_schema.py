# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""What ``nvidia.dali.backend.GetSchema`` tells of an operator."""
# ruff: noqa: N802 - the established names

from __future__ import annotations

from typing import Any

from stoker._describe.registry import operators
from stoker.compat._report import report
from stoker.ops._classes import class_name


def schema_name(operator: str) -> str:
    """The name that an operator has there: ``readers__File`` for ``readers.file``."""
    return class_name(operator).replace(".", "__")


class OpSchema:
    """An operator's arguments and ports, with the established methods."""

    def __init__(self, operator: str) -> None:
        self._op = operators()[operator]
        described = [*self._op["arguments"], *self._op["extra"]]
        self._arguments: dict[str, Any] = {a["name"]: a for a in described}

    def Name(self) -> str:
        """The name by which ``GetSchema`` finds it."""
        return schema_name(self._op["name"])

    def Dox(self) -> str:
        """What the operator does."""
        return str(self._op["summary"])

    def MinNumInput(self) -> int:
        """How many inputs it needs."""
        return sum(not i["is_optional"] for i in self._op["inputs"])

    def MaxNumInput(self) -> int:
        """How many inputs it takes; 64 where one port takes as many as there are."""
        repeats = any(i["repeats"] for i in self._op["inputs"])
        return 64 if repeats else len(self._op["inputs"])

    def HasArgument(self, name: str) -> bool:
        """Whether it takes an argument, be it without effect."""
        return name in self._arguments or name in self._op["ignored"]

    def GetArgumentNames(self) -> list[str]:
        """The arguments that it takes, in alphabetical order."""
        return sorted({*self._arguments, *self._op["ignored"]})

    def IsArgumentOptional(self, name: str) -> bool:
        """Whether the argument may be left out."""
        return not self._of(name).get("required", False)

    def HasArgumentDefault(self, name: str) -> bool:
        """Whether the argument has a default."""
        return self._of(name).get("default") is not None

    def IsTensorArgument(self, name: str) -> bool:
        """Whether another node may compute the argument for each sample."""
        return bool(self._of(name).get("per_sample", False))

    def GetArgumentDox(self, name: str) -> str:
        """What the argument does."""
        return str(self._of(name).get("help", "Has no effect."))

    def IsStateful(self) -> bool:
        """False: random draws follow from the sample, so no operator has a state of its own."""
        return False

    def IsDeprecated(self) -> bool:
        """False: old spellings are functions, and no operators of their own."""
        return False

    def _of(self, name: str) -> dict[str, Any]:
        if not self.HasArgument(name):
            raise RuntimeError(f"{self.Name()} has no argument '{name}'")
        found: dict[str, Any] = self._arguments.get(name, {})
        return found


def TryGetSchema(name: str) -> OpSchema | None:
    """The description of an operator; None if there is none of this name."""
    found = next((n for n in operators() if schema_name(n) == name), None)
    return None if found is None else OpSchema(found)


def GetSchema(name: str) -> OpSchema:
    """The description of an operator. Raises ``RuntimeError`` if there is none of this name."""
    found = TryGetSchema(name)
    if found is None:
        raise RuntimeError(report.miss(f"ops.{name.replace('__', '.')}"))
    return found
