# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""What a schema tells of an operator's arguments."""
# ruff: noqa: N802 - the established names

from __future__ import annotations

from typing import Any

from stoker._describe import old_spellings
from stoker._describe.registry import Argument, Operator
from stoker.compat._report import arguments_of, names
from stoker.compat._types import DALIDataType
from stoker.types import DType, ImageType, InterpType

_TYPES = {
    "DType": "DATA_TYPE",
    "ImageType": "IMAGE_TYPE",
    "InterpType": "INTERP_TYPE",
    "bool": "BOOL",
    "float": "FLOAT",
    "int": "INT32",
    "str": "STRING",
    "Sequence[DType]": "_DATA_TYPE_VEC",
    "Sequence[float]": "_FLOAT_VEC",
    "Sequence[int]": "_INT32_VEC",
    "Sequence[str]": "_STRING_VEC",
}
_ENUMERATIONS: dict[str, type[DType | ImageType | InterpType]] = {
    "DType": DType,
    "ImageType": ImageType,
    "InterpType": InterpType,
}
_OTHERS = {"bytes_per_sample_hint": [0], "preserve": False, "seed": -1}
_KINDS: dict[type, str] = {bool: "bool", float: "float", int: "int", list: "Sequence[int]"}


class Arguments:
    """The arguments of an operator, by the established methods.

    All but ``HasArgument`` raise ``RuntimeError`` for a name that the operator does not have.
    """

    def __init__(self, op: Operator) -> None:
        self._op = op
        described = [*op["arguments"], *op["extra"]]
        self._arguments: dict[str, Any] = {a["name"]: a for a in described}
        is_there = op["name"] in names()["operators"]
        self._there = {**(arguments_of(op["name"]) if is_there else {}), **_OTHERS}
        draws = ["seed"] if op["is_random"] or op["kind"] == "read" else []
        self._others = {*op["ignored"], *draws}  # that have no effect, or that Python takes
        self._old = old_spellings.ARGUMENTS.get(op["name"], {})

    def Name(self) -> str:
        """The operator's name."""
        return self._op["name"]

    def HasArgument(self, name: str) -> bool:
        """Whether it takes an argument, be it without effect."""
        return name in self._arguments or name in self._others or name in self._old

    def GetArgumentNames(self, include_hidden: bool = False) -> list[str]:
        """The arguments that it takes, in alphabetical order."""
        return sorted({*self._arguments, *self._others, *self._old})

    def IsArgumentOptional(self, name: str) -> bool:
        """Whether the argument may be left out."""
        return not self._of(name).get("required", False)

    def HasArgumentDefaultValue(self, name: str) -> bool:
        """Whether the argument has a default."""
        return self._default(name) is not None

    def GetArgumentDefaultValueString(self, name: str) -> str:
        """The default of an argument. Raises ``ValueError`` if it has none."""
        default = self._default(name)
        if default is None:
            raise ValueError(f"argument '{name}' of {self.Name()} has no default")
        if isinstance(default, list) and not any(isinstance(v, str) for v in default):
            return f"[{''.join(f'{_told(v)}, ' for v in default)}]" if default else "[]"
        enumeration = _ENUMERATIONS.get(self._kind(name))
        return _told(default if enumeration is None else _number(enumeration, default))

    def GetArgumentType(self, name: str) -> Any:
        """The type of an argument, as a member of ``types.DALIDataType``."""
        return getattr(DALIDataType, _TYPES.get(self._kind(name), "STRING"))

    def IsTensorArgument(self, name: str) -> bool:
        """Whether another node may compute the argument for each sample."""
        return bool(self._of(name).get("per_sample", False))

    def ArgSupportsPerFrameInput(self, name: str) -> bool:
        """Whether another node may compute the argument for each frame."""
        return bool(self._of(name).get("per_frame", False))

    def GetArgumentDox(self, name: str) -> str:
        """What the argument does."""
        return str(self._of(name).get("help", "Has no effect."))

    def IsDeprecatedArg(self, name: str) -> bool:
        """Whether this is an old argument."""
        self._of(name)
        return name in self._old

    def DeprecatedArgInfo(self, name: str) -> dict[str, Any]:
        """What takes the place of an old argument. Raises ``ValueError`` for any other."""
        if not self.IsDeprecatedArg(name):
            raise ValueError(f"argument '{name}' of {self.Name()} is not deprecated")
        today = self._old[name].today
        return {
            "deprecated_in_version": "",
            "msg": f"the current spelling is {today}" if today else "it has no effect",
            "removed": not today,
            "renamed_to": today if today in self._arguments else "",
        }

    def _kind(self, name: str) -> str:
        self._of(name)
        kind = self._arguments.get(name, {}).get("type")
        return str(kind or _KINDS.get(type(self._there.get(name)), "str"))

    def _default(self, name: str) -> Any:
        """The default here, or where that is None the one there, if it is known."""
        own = self._of(name).get("default")
        there = self._there.get(name)
        return there if own is None and there is not ... else own

    def _of(self, name: str) -> Argument | dict[str, Any]:
        if not self.HasArgument(name):
            raise RuntimeError(f"{self.Name()} has no argument '{name}'")
        found: dict[str, Any] = self._arguments.get(name, {})
        return found


def _number(enumeration: type[DType | ImageType | InterpType], text: str) -> int:
    """The number of a member, by its name or value."""
    return int(enumeration.__members__.get(text) or enumeration(text))


def _told(value: Any) -> str:
    """A value as it is told there: floats with six digits behind the point."""
    return f"{value:f}" if isinstance(value, float) else repr(value)
