# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""The operators: ``fn.resize``, ``fn.readers.file``, ``fn.random.uniform`` …

Every function is made, when first asked for, from what the engine says of its operators; nothing
is listed here.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

from stoker import _legacy
from stoker._names import did_you_mean
from stoker._operator import make_function
from stoker._registry import operators


class _Folder(ModuleType):
    """A submodule such as ``fn.readers``."""

    def __init__(self, dotted: str) -> None:
        super().__init__(f"{__name__}.{dotted}", f"The operators ``fn.{dotted}.*``.")
        self.__path__: list[str] = []

    def __getattr__(self, name: str) -> Any:
        return _find(self, name)

    def __dir__(self) -> list[str]:
        return _names_in(self)


def _prefix(module: ModuleType) -> str:
    return (module.__name__ + ".").removeprefix(__name__ + ".")


def _names_in(module: ModuleType) -> list[str]:
    prefix = _prefix(module)
    return sorted({n[len(prefix) :].partition(".")[0] for n in operators() if n.startswith(prefix)})


def _find(module: ModuleType, name: str) -> Any:
    wanted = _prefix(module) + name
    if wanted in operators():
        function = _made(wanted)
        setattr(module, name, function)
        return function
    new_name = _legacy.FUNCTIONS.get(wanted, "")
    if new_name in operators():
        _legacy.warn(f"fn.{wanted}", f"fn.{new_name}")
        return _made(new_name)
    raise AttributeError(_missing(wanted, name), name=name, obj=module)


def _made(name: str) -> Any:
    op = operators()[name]
    if op["kind"] == "input":
        from stoker._sources import external_source

        return external_source.make_function(op)
    return make_function(op)


def _missing(wanted: str, name: str) -> str:
    if name.startswith("__"):
        return f"no attribute '{name}'"
    if wanted in _legacy.FUNCTIONS:
        today = _legacy.FUNCTIONS[wanted]
        return f"there is no operator 'fn.{today}', as 'fn.{wanted}' is called now"
    elsewhere = [n for n in operators() if n.rpartition(".")[2] == name]
    hint = f" Did you mean '{elsewhere[0]}'?" if elsewhere else did_you_mean(wanted, operators())
    return f"there is no operator 'fn.{wanted}'.{hint}"


def _make_folders() -> None:
    old_names = [old for old, new in _legacy.FUNCTIONS.items() if new in operators()]
    for name in [*operators(), *old_names]:
        parts = name.split(".")[:-1]
        parent: ModuleType = sys.modules[__name__]
        for depth, part in enumerate(parts, start=1):
            dotted = ".".join(parts[:depth])
            folder = sys.modules.get(f"{__name__}.{dotted}")
            if folder is None:
                folder = sys.modules[f"{__name__}.{dotted}"] = _Folder(dotted)
                setattr(parent, part, folder)
            parent = folder


def __getattr__(name: str) -> Any:
    return _find(sys.modules[__name__], name)


def __dir__() -> list[str]:
    return _names_in(sys.modules[__name__])


_make_folders()
