# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""A base class for each kind of iterator, with the constructor that the table gives it.

``from ...constructors import TorchLooping`` makes the class of that kind. ``tools/make_stubs.py``
writes the stub of this module.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from stoker import Pipeline
from stoker.frameworks._arguments.table import KINDS, init_text, with_arguments
from stoker.frameworks._epochs import LastBatchPolicy

Class = TypeVar("Class", bound=type)


class Constructed:
    """A class whose constructor gives its arguments to ``_take`` by name."""

    _kind = ""  # in the table

    if TYPE_CHECKING:

        def _take(self, given: dict[str, Any]) -> None: ...


def documented(made: Class) -> Class:
    """A decorator that puts the arguments into the docstring of a class."""
    made.__doc__ = with_arguments(made.__doc__ or "", made._kind)  # type: ignore[attr-defined]
    return made


def __getattr__(kind: str) -> type:
    """The base class of a kind. It is made when it is imported, as not all frameworks are there."""
    if kind not in KINDS:
        raise AttributeError(f"there is no kind of iterator '{kind}'")
    made: type = type(kind, (Constructed,), {"_kind": kind, "__init__": _make_init(kind)})
    globals()[kind] = made
    return made


def _make_init(kind: str) -> Any:
    """``__init__`` with the kind's signature, compiled as ``Pipeline.__init__`` is."""
    text = init_text(kind, "self._take({k: v for k, v in locals().items() if k != 'self'})")
    names: dict[str, Any] = {
        "__name__": __name__,
        "Any": Any,
        "LastBatchPolicy": LastBatchPolicy,
        "Pipeline": Pipeline,
        "Sequence": Sequence,
        "jax": sys.modules.get("jax"),
    }
    exec(compile(text, __file__, "exec"), names)
    names["__init__"].__qualname__ = f"{KINDS[kind].name}.__init__"
    return names["__init__"]
