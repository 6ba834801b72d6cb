# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""The operators as classes: ``ops.Resize``, ``ops.readers.File``, ``ops.random.CoinFlip`` …

    resize = ops.Resize(resize_x=224, resize_y=224)
    images, masks = resize([images, masks])

The classes are not listed here. Each is made from the engine's table of operators when it is first
used. ``stoker.fn`` has the same operators as functions. ``ops.Compose`` makes one of several.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stoker._describe.namespaces import Namespace
from stoker._describe.registry import operators
from stoker.ops._classes import (
    OperatorObject,
    class_name,
    class_names,
    make_class,
    make_old_class,
    old_class_names,
)
from stoker.ops._compose import Compose

__all__ = ["Compose", "OperatorObject"]


class _Classes:
    """The ``Maker`` of this namespace."""

    def names(self) -> Mapping[str, Any]:
        return class_names()

    def old_names(self) -> Mapping[str, str]:
        return {old: class_name(operator) for old, (operator, _) in old_class_names().items()}

    def make(self, name: str) -> Any:
        return make_class(operators()[class_names()[name]])

    def make_old(self, name: str) -> Any:
        operator, device = old_class_names()[name]
        return make_old_class(operators()[operator], device)


_namespace = Namespace("ops", _Classes())


def __getattr__(name: str) -> Any:
    return _namespace.find(__name__, name)


def __dir__() -> list[str]:
    return _namespace.names_in(__name__)
