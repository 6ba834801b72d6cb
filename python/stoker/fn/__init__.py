# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""The operators: ``fn.resize``, ``fn.readers.file``, ``fn.random.uniform`` …

The functions are not listed here. Each is made from the engine's table of operators when it is
first used.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stoker._describe import old_spellings
from stoker._describe.namespaces import Namespace
from stoker._describe.registry import operators
from stoker._graph.functions import make_function


class _Functions:
    """The ``Maker`` of this namespace."""

    def names(self) -> Mapping[str, Any]:
        return operators()

    def old_names(self) -> Mapping[str, str]:
        return old_spellings.FUNCTIONS

    def make(self, name: str) -> Any:
        op = operators()[name]
        if op["kind"] == "input":
            from stoker._sources import external_source

            return external_source.make_function(op)
        if op["kind"] == "user_code":
            from stoker._functions import nodes

            return nodes.make_function(op)
        if name == "readers.tfrecord":
            from stoker.fn import _tfrecord

            return _tfrecord.make_function(op)
        return make_function(op)

    def make_old(self, name: str) -> Any:
        return self.make(old_spellings.FUNCTIONS[name])


_namespace = Namespace("fn", _Functions())


def __getattr__(name: str) -> Any:
    return _namespace.find(__name__, name)


def __dir__() -> list[str]:
    return _namespace.names_in(__name__)
