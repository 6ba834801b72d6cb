# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Operators as classes: an object holds the arguments, and each call adds the operator."""

from __future__ import annotations

from functools import cache
from operator import attrgetter
from typing import Any, ClassVar, NoReturn

from stoker._describe import old_spellings
from stoker._describe.python_arguments import FIRSTS
from stoker._describe.registry import Operator, operators
from stoker._graph.functions import Result
from stoker._messages import Place, did_you_mean, user_line
from stoker.errors import GraphError, GraphTypeError

# Words that names of classes spell with more than one capital.
_WORDS = {
    "bbox": "BBox",
    "coco": "COCO",
    "dl": "DL",
    "mfcc": "MFCC",
    "mxnet": "MXNet",
    "rms": "RMS",
    "roi": "ROI",
    "ssd": "SSD",
    "tfrecord": "TFRecord",
}
# Arguments that may be given both to the object and to a call.
_REPEATABLE = {"name"}


def class_name(operator: str) -> str:
    """The class's name, e.g. ``readers.File`` for ``readers.file``: the last part in CamelCase."""
    folder, dot, last = operator.rpartition(".")
    return folder + dot + "".join(_WORDS.get(w, w.capitalize()) for w in last.split("_"))


@cache
def class_names() -> dict[str, str]:
    """The operator of each class, by the class's dotted name."""
    return {class_name(name): name for name in operators()}


@cache
def old_class_names() -> dict[str, tuple[str, str | None]]:
    """The operator and the default device of each old class, by its old name."""
    names: dict[str, tuple[str, str | None]] = {
        class_name(old): (new, None) for old, new in old_spellings.FUNCTIONS.items()
    }
    return {**names, **old_spellings.CLASSES}


class OperatorObject:
    """An operator and the arguments that all its calls share.

    Arguments, also required ones, may be given to the object or to the call, but not to both,
    except ``name``. Each call adds an operator of its own, so two calls draw differently unless
    ``seed`` is given. A call with lists of inputs adds one operator for each element, all with the
    same arguments and draws, and returns lists.

    Raises ``GraphError`` for an argument that the operator does not have or that is given twice.
    """

    _operator: ClassVar[Operator]
    _function: ClassVar[Any]  # the operator's function in stoker.fn

    def __init__(self, *first: Any, **arguments: Any) -> None:
        firsts = self._firsts()
        if len(first) > len(firsts):
            takes = ", ".join(firsts) or "none; inputs are given to the call"
            self._refuse(
                f"takes {len(firsts)} arguments by position ({takes}), got {len(first)}",
                GraphTypeError,
            )
        by_position = dict(zip(firsts, first, strict=False))
        for name in by_position.keys() & arguments.keys():
            self._refuse(f"argument '{name}' is given twice", GraphTypeError)
        given = {**by_position, **arguments}
        self._arguments = {k: v for k, v in given.items() if v is not None}
        known = self._known()
        for name in self._arguments:
            if name not in known:
                self._refuse(f"no argument '{name}'.{did_you_mean(name, known)}")

    def __call__(self, *inputs: Any, **arguments: Any) -> Result:
        for name in arguments.keys() & self._arguments.keys() - _REPEATABLE:
            if arguments[name] is not None:
                self._refuse(f"argument '{name}' was given already when the object was made")
        given = {k: v for k, v in arguments.items() if v is not None}
        result: Result = self._function(*inputs, **{**self._arguments, **given})
        return result

    @property
    def device(self) -> str:
        """The argument ``device``; ``"cpu"`` if none was given."""
        return str(self._arguments.get("device", "cpu"))

    def __repr__(self) -> str:
        given = ", ".join(f"{k}={v!r}" for k, v in self._arguments.items())
        return f"{type(self).__name__}({given})"

    def _refuse(self, problem: str, kind: type[GraphError] = GraphError) -> NoReturn:
        Place(self._operator["name"], None, user_line()).refuse(problem, kind)

    @classmethod
    def _firsts(cls) -> list[str]:
        return list(FIRSTS.get(cls._operator["name"], ()))

    @classmethod
    def _known(cls) -> list[str]:
        from stoker._describe.signatures import parameters

        keywords = [p.name for p in parameters(cls._operator) if not p.is_positional]
        return [*keywords, *old_spellings.ARGUMENTS.get(cls._operator["name"], {})]


def make_class(op: Operator) -> type[OperatorObject]:
    """Makes the class ``ops.<Name>`` of an operator, with its signature and docstring."""
    from stoker import fn
    from stoker._describe import signatures  # imports inspect, which is slow

    folder, _, name = class_name(op["name"]).rpartition(".")
    inside = {
        "_operator": op,
        "_function": staticmethod(attrgetter(op["name"])(fn)),
        "__doc__": signatures.docstring(op),
    }
    made = type(name, (OperatorObject,), inside)
    made.__module__ = "stoker.ops" + (f".{folder}" if folder else "")
    made.__signature__ = signatures.class_signature(op)  # type: ignore[attr-defined]
    return made


def make_old_class(op: Operator, device: str | None) -> type[OperatorObject]:
    """Makes an old class of an operator, which may have another default device."""
    if device is None:
        return make_class(op)

    def begin(self: OperatorObject, **arguments: Any) -> None:
        OperatorObject.__init__(self, **{"device": device, **arguments})

    made = make_class(op)
    made.__init__ = begin  # type: ignore[method-assign]
    return made
