# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""How the operators that call functions of the user's do it: with which arrays, and how often."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from stoker._core import settle
from stoker._graph.user_function import CallError, Columns, Form, Run, columns_of
from stoker._sources.arrays import as_array

Made = Callable[[Any], Any]  # makes one sample of another


def form_of(op: str, function: Any, given: Mapping[str, Any]) -> Form:
    """How to call a function. ``given`` are the arguments of the operator, and three more.

    With ``takes_nothing`` it has no inputs; with ``copies_inputs`` it may write into its arrays;
    with ``is_sink`` nobody reads what it returns.
    Imports the framework. Raises ``ImportError`` if it is not there.
    """
    return _FORMS[op](function, given)


def _python(function: Any, given: Mapping[str, Any]) -> Form:
    before = _copy if given["copies_inputs"] else None
    return Form(_calls(function, given, before), False, as_array)


def _copy(array: Any) -> Any:
    return array.copy()


def _dl_tensor(function: Any, given: Mapping[str, Any]) -> Form:
    return Form(_calls(function, given, before=lambda t: t.__dlpack__()), True, as_array)


def _torch(function: Any, given: Mapping[str, Any]) -> Form:
    import torch

    def array(value: Any) -> Any:
        return value.detach().cpu() if isinstance(value, torch.Tensor) else as_array(value)

    return Form(_calls(function, given, before=torch.from_dlpack), True, array)


def _calls(function: Any, given: Mapping[str, Any], before: Made | None = None) -> Run:
    count = given["num_outputs"]
    if given["takes_nothing"]:
        function, before = _without_inputs(function), None
    if given["is_sink"]:
        function = _sink(function, given["batch_processing"])
    run = _by_batch(function, count) if given["batch_processing"] else _by_sample(function, count)
    if before is None:
        return run

    def prepared(*inputs: list[Any]) -> Columns:
        return run(*[[before(sample) for sample in column] for column in inputs])

    return prepared


def _without_inputs(function: Any) -> Any:
    return lambda *_: function()


def _sink(function: Any, by_batch: bool) -> Any:
    """Calls the function, and returns a number for each sample."""
    import numpy

    none = numpy.uint8(0)

    def call(*inputs: Any) -> Any:
        function(*inputs)
        return [none] * len(inputs[0]) if by_batch else none

    return call


def _by_batch(function: Any, count: int) -> Run:
    def run(*inputs: list[Any]) -> Columns:
        return tuple(
            column if type(column) is list else list(column)
            for column in columns_of(function(*inputs), count)
        )

    return run


def _by_sample(function: Any, count: int) -> Run:
    def one(*inputs: list[Any]) -> Columns:
        made: list[Any] = []
        add = made.append
        try:
            for sample in zip(*inputs, strict=True):
                add(function(*sample))
                settle(made)
        except Exception as e:
            raise CallError(f"sample {len(made)}: ") from e
        for i, value in enumerate(made):
            if type(value) is tuple and len(value) == 1:
                made[i] = value[0]
        return (made,)

    def several(*inputs: list[Any]) -> Columns:
        made: Columns = tuple([] for _ in range(count))
        try:
            for sample in zip(*inputs, strict=True):
                for column, value in zip(made, columns_of(function(*sample), count), strict=True):
                    column.append(value)
                    value = None  # the list alone holds it
                    settle(column)
        except Exception as e:
            raise CallError(f"sample {len(made[-1])}: ") from e
        return made

    return one if count == 1 else several


def _jax(function: Any, given: Mapping[str, Any]) -> Form:
    import jax
    import numpy

    count, sharding = given["num_outputs"], given["sharding"]
    place = jax.devices("cpu")[0] if sharding is None else sharding

    def run(*inputs: list[Any]) -> Columns:
        size = len(inputs[0])
        batches = [
            jax.device_put(_stacked(numpy, i, column), place) for i, column in enumerate(inputs)
        ]
        outputs = [numpy.asarray(x) for x in columns_of(function(*batches), count)]
        for k, output in enumerate(outputs):
            if output.ndim == 0 or len(output) != size:
                raise ValueError(
                    f"output {k} expects the batch of {size} samples as its first axis, "
                    f"got the shape {output.shape}"
                )
        return tuple([output[i] for i in range(size)] for output in outputs)

    return Form(run, False, as_array)


def _stacked(numpy: Any, i: int, column: Sequence[Any]) -> Any:
    shapes = {sample.shape for sample in column}
    if len(shapes) > 1:
        raise ValueError(
            f"input {i} expects samples of one shape, as they become one array; got "
            f"{' and '.join(map(str, sorted(shapes)[:2]))}"
        )
    return numpy.stack(column)


def _numba(function: Any, given: Mapping[str, Any]) -> Form:
    import numba
    import numpy

    run_fn = _compiled(numba, function)
    setup_fn = None if given["setup_fn"] is None else _compiled(numba, given["setup_fn"])
    dtypes, axes = given["out_types"], given["outs_ndim"]

    def run(*inputs: list[Any]) -> Columns:
        size = len(inputs[0])
        shapes = _shapes(numpy, setup_fn, inputs, axes)
        outputs = tuple(
            [numpy.empty(tuple(map(int, of[i])), dtype) for i in range(size)]
            for of, dtype in zip(shapes, dtypes, strict=True)
        )
        if given["batch_processing"]:
            run_fn(*[numba.typed.List(column) for column in (*outputs, *inputs)])
            return outputs
        for i, arrays in enumerate(zip(*outputs, *inputs, strict=True)):
            try:
                run_fn(*arrays)
            except Exception as e:
                raise CallError(f"sample {i}: ") from e
        return outputs

    return Form(run, False, as_array)


def _compiled(numba: Any, function: Any) -> Any:
    """The function, compiled so that it runs without Python's lock."""
    if isinstance(function, numba.core.dispatcher.Dispatcher):
        return function
    return numba.njit(nogil=True)(function)


def _shapes(numpy: Any, setup_fn: Any, inputs: Sequence[Any], axes: Sequence[int]) -> list[Any]:
    """For each output a row with the extents of each sample."""
    size = len(inputs[0])
    given = [
        numpy.array([x.shape for x in column], numpy.int64).reshape(size, -1) for column in inputs
    ]
    if setup_fn is None:
        return given[: len(axes)]
    shapes = [numpy.full((size, n), -1, numpy.int64) for n in axes]
    setup_fn(tuple(shapes), tuple(given))
    for k, of in enumerate(shapes):
        if (of < 0).any():
            raise ValueError(f"setup_fn left an extent of output {k} unset, or below 0")
    return shapes


_FORMS: dict[str, Callable[[Any, Mapping[str, Any]], Form]] = {
    "dl_tensor_python_function": _dl_tensor,
    "jax_function": _jax,
    "numba_function": _numba,
    "python_function": _python,
    "torch_python_function": _torch,
}
