# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Converts the arrays that users feed into batches that the engine takes."""

from __future__ import annotations

from typing import Any

from stoker import _core
from stoker._messages import told
from stoker.errors import GraphError


def to_fed(data: Any, most: int, layout: str | None = None) -> _core.Fed:
    """Converts a batch, which is a list of samples or one array whose first axis is the batch.

    A sample is an array of NumPy or PyTorch (on the CPU), anything with the buffer protocol, DLPack
    or ``__array__``, a number or a nested list. Arrays are not copied. Raises ``GraphError`` for
    anything else, and for more than ``most`` samples.

    A layout that is not given is that of the data, where these have one.
    """
    data, own = _unwrapped(data)
    layout = layout or own.removeprefix("N")  # which is the batch, in a tensor of all samples
    if isinstance(data, _core.Batch):
        layout = layout or data.layout
        data = [data[i] for i in range(len(data))]
    if isinstance(data, (list, tuple)):
        unwrapped = [_unwrapped(x) for x in data]
        samples = [_array(x, f"sample {i}") for i, (x, _) in enumerate(unwrapped)]
        return _core.Fed(samples, layout or next((own for _, own in unwrapped), ""), most)
    return _core.Fed(_array(data, "the batch"), layout or "", most)


def _unwrapped(value: Any) -> tuple[Any, str]:
    """The data of a tensor or list as ``stoker.compat`` makes them, and the layout if it has one.

    Any other value is the data itself.
    """
    if hasattr(type(value), "__stoker_fed__"):
        value, layout = value.__stoker_fed__()
        return value, layout
    return value, value.layout if isinstance(value, _core.Tensor) else ""


def _array(value: Any, what: str) -> Any:
    try:
        return as_array(value)
    except Exception as e:  # the value's own methods may raise anything
        kind = type(value).__name__
        raise GraphError(f"{what} that was fed is of type {kind}: {told(e)}") from e


def as_array(value: Any) -> Any:
    """An array that the engine takes. Raises whatever the value does, and TypeError."""
    if isinstance(value, (bytes, bytearray, memoryview)) or type(value).__name__ == "PyCapsule":
        return value
    dtype = getattr(value, "dtype", None)
    if getattr(dtype, "kind", "f") not in "biuf":
        raise TypeError(f"it holds {dtype}; expected bool, integers or floats")
    if hasattr(value, "__dlpack__"):
        return _native(value)
    if _has_buffer(value):
        return value
    if isinstance(value, str):
        raise TypeError(
            "it is no array; numpy.fromfile(name, numpy.uint8) has the bytes of a file, "
            "numpy.frombuffer(text.encode(), numpy.uint8) those of a text"
        )
    if value is None:
        raise TypeError("it is no array; is a `return` missing?")
    if isinstance(value, (dict, set)):
        raise TypeError("it is no array")
    import numpy

    array = numpy.asarray(value)
    if array.dtype.kind in "biuf":
        return array
    del array  # the collector cannot see into it, and the error's frames would keep it
    raise TypeError("it is no array of numbers")


def _native(value: Any) -> Any:
    """Converts a NumPy array of another byte order to the machine's."""
    dtype = getattr(value, "dtype", None)
    if dtype is not None and getattr(dtype, "isnative", True) is False:
        return value.astype(dtype.newbyteorder("="))
    return value


def _has_buffer(value: Any) -> bool:
    try:
        memoryview(value).release()
    except TypeError:
        return False
    return True
