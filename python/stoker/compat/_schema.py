# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""What ``nvidia.dali.backend.GetSchema`` tells of an operator."""
# ruff: noqa: N802 - the established names

from __future__ import annotations

from stoker._describe.registry import Port, operators, ports
from stoker.compat._report import names, report
from stoker.compat._schema_arguments import Arguments
from stoker.compat._types import TensorLayout
from stoker.ops._classes import class_name, old_class_names

_MOST_INPUTS = 999  # where one port takes as many as there are


def schema_name(operator: str) -> str:
    """The name that an operator has there: ``readers__File`` for ``readers.file``."""
    return class_name(operator).replace(".", "__")


class OpSchema(Arguments):
    """An operator's arguments and ports, with the established methods.

    ``name`` is the name by which it was asked for, which may be an old one.
    """

    def __init__(self, operator: str, name: str | None = None) -> None:
        super().__init__(operators()[operator])
        self._name = name or schema_name(operator)

    # Names.

    def Name(self) -> str:
        """The name by which ``GetSchema`` finds it."""
        return self._name

    def ModulePath(self) -> list[str]:
        """The modules below ``ops`` in which its class is."""
        return self._name.split("__")[:-1]

    def OperatorName(self) -> str:
        """The name of its class."""
        return self._name.split("__")[-1]

    def AliasFor(self) -> str:
        """For an old name today's name; else ""."""
        today = schema_name(self._op["name"])
        return "" if self._name == today else today

    def IsDeprecated(self) -> bool:
        """Whether this is an old name. Names in ``experimental`` that have no other are none."""
        return bool(self.AliasFor()) and self._op["name"] in names()["operators"]

    def DeprecatedInFavorOf(self) -> str:
        """The name that takes the place of an old one; else ""."""
        return self.AliasFor() if self.IsDeprecated() else ""

    def DeprecatedInVersion(self) -> str:
        """An empty text: no version is known."""
        return ""

    def DeprecationMessage(self) -> str:
        """What is to be told to those who use an old name; else ""."""
        today = self.DeprecatedInFavorOf().replace("__", ".")
        return f"ops.{today} is the current spelling" if today else ""

    # What it is.

    def Dox(self) -> str:
        """What the operator does."""
        return str(self._op["summary"])

    def GetSupportedBackends(self) -> list[str]:
        """The devices on which it runs."""
        return list(self._op["devices"])

    def IsStateful(self) -> bool:
        """Whether what it gives is another thing each time: it draws, reads or is fed."""
        return self._op["is_random"] or self._op["kind"] in ("input", "read")

    def HasRandomSeedArg(self) -> bool:
        """Whether it takes ``seed``."""
        return self._op["is_random"] or self._op["kind"] == "read"

    def HasRandomStateArg(self) -> bool:
        """Whether it draws for each sample."""
        return bool(self._op["is_random"])

    def AllowsSequences(self) -> bool:
        """Whether an input may have an axis F."""
        return any("F" in layout for port in self._op["inputs"] for layout in self._layouts(port))

    def SupportsVolumetric(self) -> bool:
        """Whether an input may have an axis D."""
        return any("D" in layout for port in self._op["inputs"] for layout in self._layouts(port))

    def HasOutputFn(self) -> bool:
        """Whether arguments tell how many outputs there are."""
        return any(port["when"] or port["for_each"] for port in self._op["outputs"])

    def _never(self) -> bool:
        """False: no operator is so here."""
        return False

    IsAbstract = IsInternal = IsNoPrune = IsDocPartiallyHidden = AppendKwargsSection = _never
    HasCallDox = IsSequenceOperator = _never

    def IsDocHidden(self) -> bool:
        """Whether it has no page of its own, as old names have none."""
        return self.IsDeprecated()

    # Inputs.

    def MinNumInput(self) -> int:
        """How many inputs it needs."""
        return sum(not i["is_optional"] for i in self._op["inputs"])

    def MaxNumInput(self) -> int:
        """How many inputs it takes; 999 where one port takes as many as there are."""
        repeats = any(i["repeats"] for i in self._op["inputs"])
        return _MOST_INPUTS if repeats else len(self._op["inputs"])

    def HasInputDox(self) -> bool:
        """True: all inputs are described."""
        return True

    def CanUseAutoInputDox(self) -> bool:
        """Whether no more is to be told of the inputs than that there are some."""
        return not self.HasInputDox()

    def GetInputName(self, index: int) -> str:
        """What an input is called."""
        return str(self._input(index)["name"])

    def GetInputDox(self, index: int) -> str:
        """What an input is."""
        return str(self._input(index)["help"])

    def GetInputType(self, index: int) -> str:
        """What is given as an input: a batch of any dtype or of some."""
        dtypes = self._input(index)["dtypes"]
        return f"TensorList of {dtypes}" if dtypes else "TensorList"

    def GetSupportedLayouts(self, index: int) -> list[TensorLayout]:
        """The layouts that an input may have; none where it may have any."""
        return [TensorLayout(layout) for layout in self._layouts(self._input(index))]

    def GetCallSignatureInputs(self) -> str:
        """The inputs as Python writes them in a signature."""
        return ", ".join(
            f"{i['name']} = None" if i["is_optional"] else f"{'*' * i['repeats']}{i['name']}"
            for i in self._op["inputs"]
        )

    def GetInputDevice(
        self, index: int, actual_device: str | None = None, operator_device: str | None = None
    ) -> str | None:
        """Where an input is to be: where the operator runs."""
        self._input(index)
        return operator_device or actual_device

    def _input(self, index: int) -> Port:
        if not 0 <= index < self.MaxNumInput():
            raise IndexError(f"{self.Name()} has no input {index}: it takes {self.MaxNumInput()}")
        return next(port for i, port in enumerate(ports(self._op)) if i == index)

    @staticmethod
    def _layouts(port: Port) -> list[str]:
        return [layout for layout in port["layouts"].split(", ") if layout]


def TryGetSchema(name: str, follow_aliases: bool = False) -> OpSchema | None:
    """The description of an operator; None if there is none of this name.

    Old names are told of too. With ``follow_aliases`` what is told is that of today's name.
    """
    if not isinstance(name, str):
        raise TypeError(f"the name of a schema is a text, got {name!r}")
    operator = next((n for n in operators() if schema_name(n) == name), None)
    if operator is not None:
        return OpSchema(operator)
    operator, _ = old_class_names().get(name.replace("__", "."), (None, None))
    if operator not in operators():
        return None
    return OpSchema(operator, None if follow_aliases else name)


def GetSchema(name: str, follow_aliases: bool = False) -> OpSchema:
    """The description of an operator. Raises ``KeyError`` if there is none of this name."""
    found = TryGetSchema(name, follow_aliases)
    if found is None:
        raise KeyError(report.miss(f"ops.{name.replace('__', '.')}"))
    return found
