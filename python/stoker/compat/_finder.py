# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""The import hook, which makes ``nvidia.dali`` and the modules below it show Stoker's objects."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

from stoker.compat._modules import IMPORTED_WITH, contents, with_schema_name
from stoker.compat._report import report

_ROOT = "nvidia.dali"
SITE = str(Path(__file__).parent / "site")


class Mirror(ModuleType):
    """A module of DALI. Looks names up in ``names`` first, then in ``target``, Stoker's module.

    The entry ``on_demand`` of ``names`` holds names whose values are found out when they are asked
    for, by functions.
    """

    def __init__(self, name: str, names: dict[str, Any], target: object) -> None:
        super().__init__(name, f"{name}, as Stoker has it.")
        self.__path__: list[str] = []
        own = dict(names)
        self.__dict__["_on_demand"] = own.pop("on_demand", {})
        self.__dict__.update(own)
        self.__dict__["_target"] = target

    def __getattr__(self, name: str) -> Any:
        if name == "__all__":
            return [n for n in dir(self) if not n.startswith("_")]
        if name in self.__dict__["_on_demand"]:
            return self.__dict__["_on_demand"][name]()
        if name.startswith("__"):
            raise AttributeError(f"module '{self.__name__}' has no attribute '{name}'")
        dotted = _below(f"{self.__name__}.{name}")
        if contents(dotted) is not None:
            return importlib.import_module(f"{_ROOT}.{dotted}")
        try:
            found = getattr(self.__dict__["_target"], name)
        except AttributeError:
            raise AttributeError(report.miss(dotted), name=name, obj=self) from None
        if dotted.startswith("fn.") and isinstance(found, FunctionType):
            return with_schema_name(found, dotted)
        return found

    def __dir__(self) -> list[str]:
        own = [n for n in self.__dict__ if not n.startswith("_")]
        target = self.__dict__["_target"]
        return sorted({*own, *([] if target is None else dir(target))})


class _Finder(MetaPathFinder, Loader):
    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname != _ROOT and not fullname.startswith(_ROOT + "."):
            return None
        dotted = _below(fullname)
        if contents(dotted) is None:
            raise ModuleNotFoundError(report.miss(dotted), name=fullname)
        return ModuleSpec(fullname, self, origin="stoker.compat", is_package=True)

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        found = contents(_below(spec.name))
        assert found is not None
        return Mirror(spec.name, *found)

    def exec_module(self, module: ModuleType) -> None:
        for dotted in IMPORTED_WITH.get(_below(module.__name__), ()):
            importlib.import_module(f"{_ROOT}.{dotted}")


_finder = _Finder()


def _below(fullname: str) -> str:
    return fullname.removeprefix(_ROOT).removeprefix(".")


def is_installed() -> bool:
    """Whether ``nvidia.dali`` is Stoker's in this process."""
    return _finder in sys.meta_path


def install() -> None:
    """Makes ``nvidia.dali`` Stoker's from now on. Further calls do nothing.

    Raises ``RuntimeError`` if the real library was imported before.
    """
    if is_installed():
        return
    there = sys.modules.get(_ROOT)
    if there is not None and not str(there.__file__).startswith(SITE):
        raise RuntimeError(
            f"stoker.compat.install() must come before 'import {_ROOT}', which has been imported "
            f"from {there.__file__}"
        )
    sys.meta_path.insert(0, _finder)
    if SITE not in sys.path:
        sys.path.insert(1, SITE)


def find(dotted: str) -> Any:
    """What a name below ``nvidia.dali`` stands for; None if it is not there."""
    try:
        if contents(dotted) is not None:
            return module(dotted)
        owner, _, name = dotted.rpartition(".")
        return getattr(find(owner), name, None)
    except AttributeError:
        return None


def module(dotted: str) -> ModuleType:
    """The module with this name below ``nvidia.dali``, or ``nvidia.dali`` itself for ""."""
    name = f"{_ROOT}.{dotted}" if dotted else _ROOT
    there = sys.modules.get(name)
    if isinstance(there, Mirror):
        return there
    spec = _finder.find_spec(name)
    assert spec is not None
    made = _finder.create_module(spec)
    made.__spec__, made.__loader__ = spec, _finder
    return made
