# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
"""Describes a pipeline's outputs as TensorFlow specs, and checks declarations against them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import tensorflow as tf

from stoker import Pipeline
from stoker._pipeline.internals import internals
from stoker.errors import GraphError


def specs_of(pipe: Pipeline, rows: int | None) -> list[tf.TensorSpec]:
    """The type and shape of each output's tensor. ``rows`` is the first extent; None means any."""
    pipe.build()
    specs = []
    for i, types in enumerate(internals(pipe).definition.output_types()):
        dtypes, ranks = {dtype for dtype, _, _ in types}, {len(shape) for *_, shape in types}
        if len(dtypes) > 1 or len(ranks) > 1:
            raise GraphError(
                f"output {i}: a dataset of TensorFlow has one dtype and number of axes, and sides "
                f"of a conditional give this output {' or '.join(sorted(dtypes))} with "
                f"{' or '.join(map(str, sorted(ranks)))} axes; fn.cast or fn.reshape behind the "
                "conditional gives both sides one"
            )
        dtype, _, shape = types[0]
        if any(other != shape for *_, other in types):
            shape = [-1] * len(shape)
        extents = [rows, *(None if extent < 0 else extent for extent in shape)]
        specs.append(tf.TensorSpec(extents, tf.as_dtype(dtype)))
    return specs


def declared(specs: Sequence[tf.TensorSpec], dtypes: Any, shapes: Any) -> list[tf.TensorSpec]:
    """The specs, completed by what the user declares.

    ``dtypes`` and ``shapes`` are one value or a list with one for each output; None declares
    nothing. Raises ``GraphError`` if they do not fit what the pipeline gives.
    """
    result = []
    pairs = zip(
        specs,
        _each(dtypes, len(specs), "output_dtypes"),
        _each(shapes, len(specs), "output_shapes"),
        strict=True,
    )
    for i, (spec, dtype, shape) in enumerate(pairs):
        if dtype is not None and tf.as_dtype(dtype) != spec.dtype:
            raise GraphError(
                f"output {i}: output_dtypes says {tf.as_dtype(dtype).name}, "
                f"the pipeline gives {spec.dtype.name}"
            )
        wanted = tf.TensorShape(shape)
        if not spec.shape.is_compatible_with(wanted):
            raise GraphError(
                f"output {i}: output_shapes says {wanted}, the pipeline gives {spec.shape} "
                "(the batch is the first axis)"
            )
        result.append(tf.TensorSpec(spec.shape.merge_with(wanted), spec.dtype))
    return result


def _each(given: Any, count: int, name: str) -> list[Any]:
    if given is None:
        return [None] * count
    if isinstance(given, Mapping):
        raise GraphError(f"{name} expects a tuple with one entry for each output, got {given!r}")
    entries = [given] if _is_one(given, name) else list(given)
    if len(entries) != count:
        raise GraphError(f"{name} has {len(entries)} entries, the pipeline {count} outputs")
    return entries


def _is_one(given: Any, name: str) -> bool:
    """Whether ``given`` is for a single output. A shape is itself a sequence, of numbers."""
    if not isinstance(given, (list, tuple)):
        return True
    is_shape = all(extent is None or isinstance(extent, int) for extent in given)
    return name == "output_shapes" and is_shape
