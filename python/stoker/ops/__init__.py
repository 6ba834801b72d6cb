# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""The operators as classes: ``ops.Resize``, ``ops.readers.File``, ``ops.random.CoinFlip`` …

    resize = ops.Resize(resize_x=224, resize_y=224)
    images, masks = resize([images, masks])

Every class is made, when first asked for, from what the engine says of its operators; nothing is
listed here. ``stoker.fn`` has the same operators as functions.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

from stoker import _legacy
from stoker._classes import (
    OperatorObject,
    class_name,
    class_names,
    make_class,
    make_old_class,
    old_class_names,
)
from stoker._names import did_you_mean
from stoker._registry import operators

__all__ = ["OperatorObject"]


class _Folder(ModuleType):
    """A submodule such as ``ops.readers``."""

    def __init__(self, dotted: str) -> None:
        super().__init__(f"{__name__}.{dotted}", f"The operators ``ops.{dotted}.*``.")
        self.__path__: list[str] = []

    def __getattr__(self, name: str) -> Any:
        return _find(self, name)

    def __dir__(self) -> list[str]:
        return _names_in(self)


def _prefix(module: ModuleType) -> str:
    return (module.__name__ + ".").removeprefix(__name__ + ".")


def _names_in(module: ModuleType) -> list[str]:
    prefix = _prefix(module)
    inside = (n[len(prefix) :] for n in class_names() if n.startswith(prefix))
    return sorted({n.partition(".")[0] for n in inside})


def _find(module: ModuleType, name: str) -> Any:
    wanted = _prefix(module) + name
    if wanted in class_names():
        made = make_class(operators()[class_names()[wanted]])
        setattr(module, name, made)
        return made
    operator, device = old_class_names().get(wanted, ("", None))
    if operator in operators():
        _legacy.warn(f"ops.{wanted}", f"ops.{class_name(operator)}")
        return make_old_class(operators()[operator], device)
    raise AttributeError(_missing(wanted, name, operator), name=name, obj=module)


def _missing(wanted: str, name: str, operator: str) -> str:
    if name.startswith("__"):
        return f"no attribute '{name}'"
    if operator:
        return f"there is no operator '{operator}', as 'ops.{wanted}' is called now"
    elsewhere = [n for n in class_names() if n.rpartition(".")[2] == name]
    hint = f" Did you mean '{elsewhere[0]}'?" if elsewhere else did_you_mean(wanted, class_names())
    return f"there is no operator 'ops.{wanted}'.{hint}"


def _make_folders() -> None:
    old_names = [old for old, (new, _) in old_class_names().items() if new in operators()]
    for name in [*class_names(), *old_names]:
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
