# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""The words of a trial's text: arrays, odd objects and sources. Everything follows from numbers."""

from __future__ import annotations

import array as machine_array  # noqa: F401
import decimal  # noqa: F401
import enum
import fractions  # noqa: F401
import functools
import io
import itertools
import weakref
from collections.abc import Callable, Iterator
from pathlib import Path  # noqa: F401
from typing import Any

import numpy as np
from PIL import Image

from stoker import errors, fn, ops, types  # noqa: F401

watched: list[weakref.ref[Any]] = []  # must be gone once a trial is over


def watch(thing: Any) -> Any:
    watched.append(weakref.ref(thing))
    return thing


# Arrays.


def array(dtype: str, shape: tuple[int, ...], seed: int) -> Any:
    """Numbers that every dtype holds."""
    count = int(np.prod(shape, dtype=object))
    numbers = np.random.default_rng(seed).integers(0, 120, count)
    return watch(numbers.astype(dtype).reshape(shape).copy())


def jpeg(height: int, width: int, seed: int) -> Any:
    file = io.BytesIO()
    Image.fromarray(array("uint8", (height, width, 3), seed)).save(file, "JPEG")
    return np.frombuffer(file.getvalue(), np.uint8)


def read_only(a: Any) -> Any:
    a.flags.writeable = False
    return a


def swapped(a: Any) -> Any:
    """The same numbers in the other byte order."""
    return a.astype(a.dtype.newbyteorder())


def overlapping(a: Any) -> Any:
    return np.lib.stride_tricks.as_strided(a, (3, *a.shape[1:]), (0, *a.strides[1:]))


def nested(depth: int) -> Any:
    return functools.reduce(lambda inside, _: [inside], range(depth), 1)


class Sub(np.ndarray):  # type: ignore[type-arg]
    """A subclass of arrays."""


class OnlyDLPack:
    def __init__(self, a: Any) -> None:
        self._a = a

    def __dlpack__(self, **options: Any) -> Any:
        return self._a.__dlpack__(**options)

    def __dlpack_device__(self) -> Any:
        return self._a.__dlpack_device__()


class OnlyInterface:
    def __init__(self, a: Any) -> None:
        self._a = a
        self.__array_interface__ = a.__array_interface__


class OddArray:
    """Its conversion raises or gives something else."""

    def __init__(self, what: Any) -> None:
        self._what = what

    def __array__(self, *_: Any, **__: Any) -> Any:
        if isinstance(self._what, BaseException):
            raise self._what
        return self._what


# Errors.


class SilentError(Exception):
    def __str__(self) -> str:
        raise ValueError("no text")


class OddError(BaseException):
    """Not an Exception."""


class UnknownError(Exception):
    """Cannot be made from its arguments."""

    def __init__(self, one: Any, two: Any) -> None:
        super().__init__("three")


# Objects in the place of arguments.


class Odd:
    """Every question raises."""

    def _raise(self, *_: Any) -> Any:
        raise ValueError("odd")

    __repr__ = __str__ = __index__ = __float__ = __bool__ = __eq__ = __len__ = _raise
    __iter__ = __hash__ = __fspath__ = __lt__ = __format__ = __int__ = _raise


class Unasked:
    """Has no attribute, and says so in its own way."""

    def __getattribute__(self, name: str) -> Any:
        raise ValueError("odd")


class OddBool:
    def __bool__(self) -> bool:
        raise ValueError("odd")


class OddList(list):  # type: ignore[type-arg]
    def __iter__(self) -> Any:
        raise ValueError("odd")


class OddPath:
    def __init__(self, path: Any) -> None:
        self._path = path

    def __fspath__(self) -> Any:
        return self._path


class OddText(str):
    def __str__(self) -> str:
        raise ValueError("odd")


class OddTolist:
    def tolist(self) -> Any:
        return self


class Text(str):
    """A subclass of str."""


class Kind(enum.Enum):
    NUMBER = 3
    TEXT = "HWC"
    LIST = (1, 2)


class Number(enum.IntEnum):
    ZERO = 0
    ONE = 1
    THREE = 3


class Index:
    def __init__(self, number: Any) -> None:
        self._number = number

    def __index__(self) -> Any:
        return self._number


class Float:
    def __init__(self, number: Any) -> None:
        self._number = number

    def __float__(self) -> Any:
        return self._number


class Lazy:
    """Can be iterated over and nothing else."""

    def __init__(self, *values: Any) -> None:
        self._values = values

    def __iter__(self) -> Any:
        return iter(self._values)


# Sources.

Data = Callable[[], list[Any]]  # what a source gives, made anew at each call


class Fail:
    """In the place of what a source gives: it raises this."""

    def __init__(self, failure: BaseException) -> None:
        self.failure = failure


def play(given: Any) -> Any:
    if isinstance(given, Fail):
        raise given.failure
    return given


def source(kind: str, data: Data) -> Any:
    """A source of one of SOURCES."""
    made = SOURCES[kind](data)
    if not isinstance(made, (list, tuple)):
        watch(made)
    return made


def _at(data: Data, which: Any) -> Any:
    """``which`` is an iteration, a SampleInfo or a BatchInfo."""
    everything = data()
    i = which if isinstance(which, int) else getattr(which, "idx_in_epoch", which.iteration)
    if i >= len(everything):
        raise StopIteration
    return play(everything[i])


def _by_index(data: Data) -> Any:
    return lambda i: _at(data, i)


def _of_nothing(data: Data) -> Any:
    count = itertools.count()
    return lambda: _at(data, next(count))


def _generator(data: Data) -> Any:
    def generate() -> Iterator[Any]:
        for given in data():
            yield play(given)

    return generate


class _Iterable:
    def __init__(self, data: Data) -> None:
        self._data = data

    def __iter__(self) -> Any:
        return _Iterator(self._data)


class _Iterator:
    def __init__(self, data: Data) -> None:
        self._left = data()

    def __iter__(self) -> Any:
        return self

    def __next__(self) -> Any:
        if not self._left:
            raise StopIteration
        return play(self._left.pop(0))


class _Object:
    def __init__(self, data: Data) -> None:
        self._data = data

    def __call__(self, i: int) -> Any:
        return _at(self._data, i)

    def method(self, i: int) -> Any:
        return _at(self._data, i)


class _Stateful(_Iterator):
    def __init__(self, data: Data) -> None:
        super().__init__(data)
        self._data = data

    def state(self) -> Any:
        return {"left": len(self._left)}

    def restore(self, state: Any) -> None:
        self._left = self._data()
        del self._left[: len(self._left) - state["left"]]


class OddCall:
    """Nobody can tell how to call it."""

    __signature__ = "odd"

    def __call__(self, *_: Any) -> Any:
        return [1]


def _odd(**members: Any) -> Callable[[Data], Any]:
    return lambda data: type("OddSource", (), members)()


def _raise(*_: Any) -> Any:
    raise ValueError("odd")


SOURCES: dict[str, Callable[[Data], Any]] = {
    "index": _by_index,
    "nothing": _of_nothing,
    "generator": _generator,
    "iterable": _Iterable,
    "iterator": _Iterator,
    "running generator": lambda data: _generator(data)(),
    "object": _Object,
    "stateful": _Stateful,
    "list": lambda data: [d for d in data() if not isinstance(d, Fail)],
    "partial": lambda data: functools.partial(_at, data),
    "default": lambda data: lambda i=0, k=2: _at(data, i),
    "any": lambda data: lambda *all_of_it: _at(data, 0),
}
ODD_SOURCES: dict[str, Callable[[Data], Any]] = {
    "two": lambda data: lambda i, k: _at(data, i),
    "keyword": lambda data: lambda i, *, k: _at(data, i),
    "builtin": lambda data: [1].copy,
    "call odd": lambda data: OddCall(),
    "iter raises": _odd(__iter__=_raise),
    "iter gives none": _odd(__iter__=lambda self: None),
    "call raises": _odd(__call__=_raise),
    "getattr raises": _odd(__getattr__=_raise, __call__=lambda self, i: [1]),
    "state raises": lambda data: type("S", (_Stateful,), {"state": _raise})(data),
    "state odd": lambda data: type("S", (_Stateful,), {"state": lambda self: Odd()})(data),
    "restore raises": lambda data: type("S", (_Stateful,), {"restore": _raise})(data),
}
SOURCES |= ODD_SOURCES
